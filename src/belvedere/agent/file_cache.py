"""Scripts and file arguments by their SHA-256, verified when they arrive and before each use."""

import contextlib
import os
import time
from dataclasses import dataclass, field
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, BinaryIO

from belvedere.agent.workdir import removal

LIMIT = 512 * 1024 * 1024
# A file that was requested within this time may be about to start: it is never removed.
IN_USE_S = 60.0


@dataclass(slots=True)
class Download:
    """A file that is being downloaded."""

    file: BinaryIO
    # The type of hash objects has no public name.
    digest: Any = field(default_factory=sha256)


class FileCache:
    def __init__(self, root: str, limit: int = LIMIT) -> None:
        self._folder = root
        self._root = Path(root)
        self._limit = limit
        # Oldest use first.
        self._sizes: dict[str, int] = {}
        self._used_at: dict[str, float] = {}
        # A file with the change time and size of its last check was not changed.
        self._checked: dict[tuple[str, str], tuple[int, int]] = {}
        self._downloads: dict[str, Download] = {}
        # Why the last piece could not be stored.
        self.fault: OSError | None = None
        self._scan()

    def _scan(self) -> None:
        entries = []
        for entry in os.scandir(self._root):
            blob = Path(entry.path) / "blob"
            if entry.is_dir() and blob.is_file():
                entries.append((blob.stat().st_atime, entry.name, blob.stat().st_size))
            elif entry.is_file():
                os.unlink(entry.path)
        self._sizes = {name: size for _, name, size in sorted(entries)}

    def path(self, digest: str, filename: str) -> str | None:
        """The path of this content under this name, or None if it must be downloaded."""
        if digest not in self._sizes:
            return None
        path = f"{self._folder}/{digest}/{filename}"
        if not self._is_unchanged(digest, filename, path) and not self._check(digest, filename):
            return None
        self._sizes[digest] = self._sizes.pop(digest)
        self._used_at[digest] = time.monotonic()
        return path

    def _is_unchanged(self, digest: str, filename: str, path: str) -> bool:
        known_status = self._checked.get((digest, filename))
        if known_status is None:
            return False
        try:
            now = os.stat(path)
        except OSError:
            return False
        return known_status == (now.st_ctime_ns, now.st_size)

    def _check(self, digest: str, filename: str) -> bool:
        """A script can write to its own file; a changed file is downloaded again."""
        path = self._root / digest / filename
        try:
            if not path.exists():
                os.link(self._root / digest / "blob", path)
            with open(path, "rb") as file:
                is_good = file_digest(file, "sha256").hexdigest() == digest
                now = os.stat(file.fileno())
        except OSError:
            is_good = False
        if not is_good:
            self._remove(digest)
            return False
        self._checked[digest, filename] = (now.st_ctime_ns, now.st_size)
        return True

    def keep(self, data: bytes) -> str:
        """Store content that did not come from the server; its digest. OSError without space."""
        digest = sha256(data).hexdigest()
        if self.path(digest, "blob") is None and not self.is_downloading(digest):
            self.expect(digest)
            self.feed(digest, data, last=True)
        return digest

    def is_downloading(self, digest: str) -> bool:
        return digest in self._downloads

    def expect(self, digest: str) -> None:
        """Start a download; OSError without space."""
        self._downloads[digest] = Download(open(self._root / f"{digest}.part", "wb"))  # noqa: SIM115

    def feed(self, digest: str, data: bytes, *, last: bool) -> bool | None:
        """Add one piece. True: the file is complete; False: its digest is wrong; None: go on."""
        download = self._downloads.get(digest)
        if download is None:
            return None
        download.digest.update(data)
        self.fault = None
        try:
            download.file.write(data)
            if not last:
                return None
            if download.digest.hexdigest() == digest:
                self._store(digest, download)
                return True
        except OSError as fault:
            self.fault = fault
        self.abandon(digest)
        return False

    def _store(self, digest: str, download: Download) -> None:
        os.fchmod(download.file.fileno(), 0o755)
        download.file.close()
        part = self._root / f"{digest}.part"
        size = part.stat().st_size
        self._make_room(size)
        (self._root / digest).mkdir(mode=0o755, exist_ok=True)
        part.rename(self._root / digest / "blob")
        del self._downloads[digest]
        self._sizes[digest] = size

    def _make_room(self, size: int) -> None:
        spare = time.monotonic() - IN_USE_S
        total = sum(self._sizes.values()) + size
        for digest in list(self._sizes):
            if total <= self._limit:
                return
            if self._used_at.get(digest, 0.0) <= spare:
                total -= self._sizes[digest]
                self._remove(digest)

    def _remove(self, digest: str) -> None:
        self._sizes.pop(digest, None)
        self._used_at.pop(digest, None)
        self._checked = {
            key: known_status for key, known_status in self._checked.items() if key[0] != digest
        }
        with contextlib.suppress(OSError):
            removal.remove(f"{self._folder}/{digest}")

    def abandon(self, digest: str) -> None:
        """Abandon a download: refused, or the connection is lost."""
        download = self._downloads.pop(digest, None)
        if download is not None:
            with contextlib.suppress(OSError):
                download.file.close()
            with contextlib.suppress(OSError):
                os.unlink(self._root / f"{digest}.part")

    def abandon_all(self) -> None:
        for digest in list(self._downloads):
            self.abandon(digest)
