"""The built console, read once at the start: other files are not served.

A request is looked up by name among the files of the build, so no path of a request is ever used
on the disk.
"""

import gzip
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

STATIC = Path(__file__).parent / "static"
INDEX = "index.html"
# Names under this contain the digest of their content, which therefore never changes.
HASHED = "assets/"
# The base address of the page's links, as the build writes it.
BASE = '<base href="/ui/" />'
# The compressed copies of a file, the smallest first.
COMPRESSED = {"br": ".br", "gzip": ".gz"}
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class Copy:
    """The bytes of a file in one encoding; empty: not compressed."""

    encoding: str
    data: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class AssetFile:
    name: str
    media_type: str
    # The smallest first, the uncompressed one last.
    copies: tuple[Copy, ...]

    @property
    def is_hashed(self) -> bool:
        return self.name.startswith(HASHED)


@dataclass(frozen=True, slots=True)
class ConsoleAssets:
    """The files by name, and the page in two parts, between which its base is inserted."""

    files: dict[str, AssetFile]
    page: tuple[str, str] | None

    def index(self, depth: int, links: str = "") -> bytes | None:
        """The page for an address of this depth below `/ui/`, with more elements in its head; None:
        the console is not built."""
        if self.page is None:
            return None
        # Relative, so that it is right under any prefix of a proxy.
        before, after = self.page
        return f'{before}<base href="{"../" * depth or "./"}" />{links}{after}'.encode()


@cache
def load(folder: Path) -> ConsoleAssets:
    files = {file.name: file for file in _files(folder)}
    index = files.pop(INDEX, None)
    if index is None:
        return ConsoleAssets({}, None)
    before, base, after = index.copies[-1].data.decode().partition(BASE)
    assert base, f"{folder / INDEX} lacks {BASE}"
    return ConsoleAssets(files, (before, after))


def _files(folder: Path) -> Iterator[AssetFile]:
    for name in sorted(names_in(folder)):
        yield read_file(folder, name)


def names_in(folder: Path) -> frozenset[str]:
    paths = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    # Hidden files are notes of the build.
    return frozenset(_plain(name) for name in paths if not name.startswith("."))


def read_file(folder: Path, name: str) -> AssetFile:
    kind = TYPES.get(Path(name).suffix, "application/octet-stream")
    return AssetFile(name, kind, tuple(_copies(folder / name)))


def _plain(name: str) -> str:
    """The name of a file without the suffix of its compression."""
    return next((name.removesuffix(end) for end in COMPRESSED.values() if name.endswith(end)), name)


def _copies(path: Path) -> Iterator[Copy]:
    compressed = {encoding: path.with_name(path.name + end) for encoding, end in COMPRESSED.items()}
    # The build deletes the uncompressed file where it writes compressed ones.
    data = path.read_bytes() if path.exists() else gzip.decompress(compressed["gzip"].read_bytes())
    for encoding, copy in compressed.items():
        if copy.exists():
            yield Copy(encoding, copy.read_bytes(), etag_of(data, encoding))
    yield Copy("", data, etag_of(data))


def etag_of(data: bytes, encoding: str = "") -> str:
    """A compressed copy has another tag, because its bytes differ."""
    return f'"{hashlib.sha256(data).hexdigest()[:20]}{encoding and "-"}{encoding}"'
