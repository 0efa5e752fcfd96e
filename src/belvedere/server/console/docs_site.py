"""The built documentation. Names are read at the start, a file when it is first requested: most
servers never show most of the pages, so they take no memory.

As in `assets`, a request is looked up among the names, so no path of a request reaches the disk.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from belvedere.server.console.assets import AssetFile, names_in, read_file

FOLDER = Path(__file__).parent / "docs"
INDEX = "index.html"
MISSING = "404.html"
_RELATIVE = re.compile(rb'((?:href|src|data-index|data-root)=")(?!#|[a-z]+:)')


@dataclass(slots=True)
class DocsSite:
    folder: Path
    names: frozenset[str]
    files: dict[str, AssetFile] = field(default_factory=dict)

    @property
    def is_built(self) -> bool:
        return INDEX in self.names

    def file(self, name: str) -> AssetFile | None:
        if name not in self.names:
            return None
        if name not in self.files:
            self.files[name] = read_file(self.folder, name)
        return self.files[name]

    def address_of(self, name: str) -> str | None:
        """Where a name without its suffix leads, relative to it: `howto`, `howto/back-up`."""
        last = name.rpartition("/")[2]
        if not last:
            return None
        if f"{name}/{INDEX}" in self.names:
            return f"{last}/"
        return f"{last}.html" if f"{name}.html" in self.names else None

    def missing(self, depth: int) -> bytes:
        """The page for an address that does not exist, with links for this depth."""
        file = self.file(MISSING)
        assert file is not None, f"{self.folder} lacks {MISSING}"
        return _RELATIVE.sub(rb"\1" + b"../" * depth, file.copies[-1].data)


@cache
def load(folder: Path) -> DocsSite:
    return DocsSite(folder, names_in(folder))
