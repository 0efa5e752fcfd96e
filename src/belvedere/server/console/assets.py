"""The built console, read once at the start: what is not on the shelf is not served.

A request is looked up by name among the files that the build left, so no path of a request ever
reaches the disk.
"""

import gzip
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
# The packed copies that the build makes of a file, the smaller first.
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
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    # Hidden ones are the build's own notes.
    names = {_plain(name) for name in found if not name.startswith(".")}
    for name in sorted(names):
        kind = TYPES.get(Path(name).suffix, "application/octet-stream")
        yield File(name, kind, tuple(_copies(folder / name)))


def _plain(name: str) -> str:
    """The name of a file without that of its packing."""
    return next((name.removesuffix(end) for end in PACKED.values() if name.endswith(end)), name)


def _copies(path: Path) -> Iterator[Copy]:
    packed = {encoding: path.with_name(path.name + end) for encoding, end in PACKED.items()}
    # The build leaves the plain text out of what it packs: it would only be the same once more.
    data = path.read_bytes() if path.exists() else gzip.decompress(packed["gzip"].read_bytes())
    for encoding, copy in packed.items():
        if copy.exists():
            yield Copy(encoding, copy.read_bytes(), etag_of(data, encoding))
    yield Copy("", data, etag_of(data))


def etag_of(data: bytes, encoding: str = "") -> str:
    """A packed copy has a tag of its own, because its bytes are others."""
    return f'"{hashlib.sha256(data).hexdigest()[:20]}{encoding and "-"}{encoding}"'
