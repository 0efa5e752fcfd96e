"""The built console, read once at the start: what is not on the shelf is not served.

A request is looked up by name among the files that the build left, so no path of a request ever
reaches the disk.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

STATIC = Path(__file__).parent / "static"
INDEX = "index.html"
# Names under this carry the digest of their content: what they hold never changes.
HASHED = "assets/"
# Where the page says from which address its links count; the build leaves it as it is.
BASE = '<base href="/ui/" />'
# The packed copies that the build leaves beside a file, the smaller first.
PACKED = {"br": ".br", "gzip": ".gz"}
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class Copy:
    """The bytes of a file in one encoding; empty: as they are."""

    encoding: str
    data: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class File:
    name: str
    media_type: str
    # The smallest first, the plain one last.
    copies: tuple[Copy, ...]

    @property
    def is_hashed(self) -> bool:
        return self.name.startswith(HASHED)


@dataclass(frozen=True, slots=True)
class Shelf:
    """The files by name, and the page in two halves, between which its base belongs."""

    files: dict[str, File]
    page: tuple[str, str] | None

    def index(self, depth: int) -> bytes | None:
        """The page for an address so many slashes below the console's own; None: not built."""
        if self.page is None:
            return None
        # Relative, so that it holds under any prefix that a proxy puts before our paths.
        before, after = self.page
        return f'{before}<base href="{"../" * depth or "./"}" />{after}'.encode()


@cache
def load(folder: Path) -> Shelf:
    files = {file.name: file for file in _files(folder)}
    index = files.pop(INDEX, None)
    if index is None:
        return Shelf({}, None)
    before, found, after = index.copies[-1].data.decode().partition(BASE)
    assert found, f"{folder / INDEX} lacks {BASE}"
    return Shelf(files, (before, after))


def _files(folder: Path) -> Iterator[File]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        # Hidden ones are the build's own notes.
        is_note = any(part.startswith(".") for part in name.split("/"))
        if path.is_file() and path.suffix not in PACKED.values() and not is_note:
            kind = TYPES.get(path.suffix, "application/octet-stream")
            yield File(name, kind, tuple(_copies(path)))


def _copies(path: Path) -> Iterator[Copy]:
    data = path.read_bytes()
    for encoding, suffix in PACKED.items():
        packed = path.with_name(path.name + suffix)
        if packed.exists():
            yield Copy(encoding, packed.read_bytes(), etag_of(data, encoding))
    yield Copy("", data, etag_of(data))


def etag_of(data: bytes, encoding: str = "") -> str:
    """A packed copy has a tag of its own, because its bytes are others."""
    return f'"{hashlib.sha256(data).hexdigest()[:20]}{encoding and "-"}{encoding}"'
