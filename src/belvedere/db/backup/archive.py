"""A backup file: a ZIP archive with the parts of a database and, at its end, a manifest.

The manifest has the SHA-256 of every part, and the seal that of the manifest, so that a truncated
or changed file is detected before anything is restored. With the installation's key the seal is
also signed: then even a changed file with recomputed hashes is rejected.
"""

import hashlib
import hmac
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Lock
from typing import IO

import msgspec

from belvedere.base.errors import Invalid
from belvedere.db.backup.read_ahead import read_ahead

FORMAT = 1
MANIFEST, SEAL = "manifest.json", "seal.json"
# The limit for these two; they are read into memory.
MAX_MANIFEST = 16 * 1024 * 1024
BLOCK = 1024 * 1024
# Level 1 is several times as fast as the usual level and almost as small.
LEVEL = 1

# What reading a damaged archive raises.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, struct.error, ValueError)
# Other methods have errors of their own, and `BackupWriter` does not use them.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

# Name of the part, bytes that are done, and all bytes.
Report = Callable[[str, int, int], None]
# Signs a SHA-256 with the key of the installation.
Sign = Callable[[str], str]


def no_report(name: str, done: int, total: int) -> None:
    """For a caller who counts the bytes."""


class BackupPart(msgspec.Struct):
    name: str
    size: int
    sha256: str


class Manifest(msgspec.Struct):
    format: int
    # The version of the product.
    version: str
    engine: str
    created_at: str
    epoch: int
    # Empty if no server has used the database yet.
    key_check: str
    migrations: list[str]
    # Rows of every table.
    tables: dict[str, int]
    # PostgreSQL only: the columns of every table in the order of its part, and the sequences.
    columns: dict[str, list[str]] = {}
    sequences: dict[str, int] = {}
    parts: list[BackupPart] = []
    # Where the key of the installation was; empty if there was none, or an older version wrote it.
    key: str = ""

    @property
    def origin(self) -> tuple[str, str, str]:
        """Engine, version of the product, and time."""
        return self.engine, self.version, self.created_at


class Seal(msgspec.Struct):
    # The hash of the manifest, and therefore of everything.
    sha256: str
    signature: str = ""


class _Header(msgspec.Struct):
    """What every format of the manifest has."""

    format: int
    version: str


class BackupWriter:
    """Writes the parts one after the other, then the manifest."""

    def __init__(self, file: IO[bytes]) -> None:
        self._archive = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL)
        self.parts: list[BackupPart] = []

    @contextmanager
    def part(self, name: str) -> Iterator[Callable[[bytes], None]]:
        """Yields a function that appends bytes to this part."""
        digest, size = hashlib.sha256(), 0
        # The size is not known yet, and may be more than the 4 GB of the old format.
        with self._archive.open(name, "w", force_zip64=True) as stream:

            def append(data: bytes) -> None:
                nonlocal size
                stream.write(data)
                digest.update(data)
                size += len(data)

            yield append
        self.parts.append(BackupPart(name, size, digest.hexdigest()))

    def discard(self) -> None:
        """After an error: the archive must not write its end to a file that is closed."""
        self._archive.fp = None

    def finish(self, manifest: Manifest, sign: Sign | None) -> Seal:
        manifest.parts = self.parts
        text = msgspec.json.format(msgspec.json.encode(manifest))
        seal = Seal(hashlib.sha256(text).hexdigest())
        if sign is not None:
            seal.signature = sign(seal.sha256)
        self._archive.writestr(MANIFEST, text)
        self._archive.writestr(SEAL, msgspec.json.encode(seal))
        self._archive.close()
        return seal


class BackupReader:
    """A backup file whose manifest is unchanged. The parts are checked by `verify`."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path = path
        self._archive = archive
        # Several threads read parts; an archive counts its open files.
        self._lock = Lock()
        self.seal, text = self._read_seal()
        if hashlib.sha256(text).hexdigest() != self.seal.sha256:
            raise Invalid(f"The manifest of {path} was changed: its SHA-256 differs.")
        self.manifest = self._decode(text)

    def _read_seal(self) -> tuple[Seal, bytes]:
        try:
            sizes = [self._info(name).file_size for name in (MANIFEST, SEAL)]
            if max(sizes) > MAX_MANIFEST:
                raise zipfile.BadZipFile("The manifest is too large")
            seal = msgspec.json.decode(self._archive.read(SEAL), type=Seal)
            return seal, self._archive.read(MANIFEST)
        except (KeyError, msgspec.DecodeError, *DAMAGED) as fault:
            raise _incomplete(self.path) from fault

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = self._archive.getinfo(name)
        if info.compress_type not in METHODS:
            raise zipfile.BadZipFile(f"unknown compression {info.compress_type}")
        return info

    def _decode(self, text: bytes) -> Manifest:
        try:
            header = msgspec.json.decode(text, type=_Header)
            if header.format > FORMAT:
                raise newer_version(self.path, header.version)
            return msgspec.json.decode(text, type=Manifest)
        except msgspec.DecodeError as fault:
            raise Invalid(f"The manifest of {self.path} cannot be read: {fault}.") from fault

    def check_signature(self, sign: Sign, *, is_required: bool) -> None:
        """With the key of the installation. Somebody who changes the file can also remove the
        signature."""
        if not self.seal.signature:
            if is_required:
                raise Invalid(
                    f"{self.path} has no signature: it was written without the key, or it was"
                    " changed. If you know that nobody has changed it, add --unsigned."
                )
            return
        if not hmac.compare_digest(self.seal.signature, sign(self.seal.sha256)):
            raise Invalid(f"{self.path} was changed after it was written: its signature differs.")

    def verify(self, report: Report) -> None:
        """Read every part and compare its size and SHA-256 with the manifest."""
        done, total = 0, sum(part.size for part in self.manifest.parts)
        for part in self.manifest.parts:
            for block in self.blocks(part):
                done += len(block)
                report("verify", done, total)

    def blocks(self, part: BackupPart, report: Report = no_report) -> Iterator[bytes]:
        """The content of a part; raises at its end if it is not what was written."""
        digest, size = hashlib.sha256(), 0
        try:
            with closing(self._read(part)) as blocks:
                for block in blocks:
                    digest.update(block)
                    size += len(block)
                    if size > part.size:
                        break
                    report(part.name, size, part.size)
                    yield block
        except (KeyError, *DAMAGED) as fault:
            raise Invalid(f"The part {part.name} of {self.path} is damaged: {fault}.") from fault
        if size != part.size or digest.hexdigest() != part.sha256:
            raise Invalid(f"The part {part.name} of {self.path} was changed: its SHA-256 differs.")

    def _read(self, part: BackupPart) -> Generator[bytes, None, None]:
        with self._open(part) as stream:
            blocks = iter(partial(stream.read, BLOCK), b"")
            # A small part is one block.
            yield from read_ahead(blocks) if part.size > BLOCK else blocks

    @contextmanager
    def _open(self, part: BackupPart) -> Iterator[IO[bytes]]:
        with self._lock:
            stream = self._archive.open(self._info(part.name))
        try:
            yield stream
        finally:
            with self._lock:
                stream.close()


@contextmanager
def open_backup(path: Path) -> Iterator[BackupReader]:
    if path.exists() and not path.is_file():
        # Opening a FIFO would wait for a writer.
        raise _incomplete(path)
    try:
        archive = zipfile.ZipFile(path)
    except DAMAGED as fault:
        raise _incomplete(path) from fault
    with archive:
        yield BackupReader(path, archive)


def _incomplete(path: Path) -> Invalid:
    return Invalid(f"{path} is not a complete backup: it is truncated, or another file.")


def newer_version(path: Path, version: str) -> Invalid:
    return Invalid(
        f"{path} was written by version {version} of Belvedere, which is newer than this one."
        " Restore it with that version or a newer one."
    )


def sync_folder(folder: Path) -> None:
    """Make a rename or a new name durable."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
