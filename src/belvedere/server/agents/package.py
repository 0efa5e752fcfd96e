"""The agent as one file.

It contains the agent's packages and `websockets`, all of it plain Python, so that any Python 3.11
runs it. Building it twice gives the same bytes.
"""

import hashlib
import io
import zipfile
from functools import cache
from importlib import metadata
from importlib.resources import files
from importlib.resources.abc import Traversable

import belvedere

PACKAGES = ("agent", "base")
FILES = ("__init__.py", "protocol.py")
LIBRARY = "websockets"
# Parts of the library that an agent never loads.
UNUSED = frozenset({"legacy", "sync", "trio", "cli.py", "__main__.py"})
MAIN = b"""\
import sys

if sys.version_info < (3, 11):
    sys.exit("The agent needs Python 3.11 or newer.")
from belvedere.agent.main import main

sys.exit(main())
"""


@cache
def archive() -> bytes:
    """`belvedere-agent.pyz`; built once."""
    buffer = io.BytesIO(b"#!/usr/bin/env python3\n")
    buffer.seek(0, io.SEEK_END)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED, compresslevel=9) as archive_file:
        for name, content in sorted(_contents().items()):
            # ZipInfo has a fixed time: the same content gives the same file.
            archive_file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _contents() -> dict[str, bytes]:
    package, library = files(belvedere.__name__), files(LIBRARY)
    contents = {"__main__.py": MAIN}
    contents |= {f"belvedere/{name}": package.joinpath(name).read_bytes() for name in FILES}
    for subpackage in PACKAGES:
        contents |= _sources(package.joinpath(subpackage), f"belvedere/{subpackage}")
    contents |= _sources(library, LIBRARY)
    return contents | {f"{LIBRARY}/LICENSE": _licence()}


def _sources(folder: Traversable, prefix: str) -> dict[str, bytes]:
    sources: dict[str, bytes] = {}
    for entry in folder.iterdir():
        if entry.name in UNUSED:
            continue
        if entry.is_dir():
            sources |= _sources(entry, f"{prefix}/{entry.name}")
        elif entry.name.endswith(".py"):
            sources[f"{prefix}/{entry.name}"] = entry.read_bytes()
    return sources


def _licence() -> bytes:
    """The licence must be distributed with the library."""
    package_files = metadata.files(LIBRARY) or []
    return next(
        file for file in package_files if file.name.upper().startswith("LICENSE")
    ).read_binary()


@cache
def digest() -> str:
    return hashlib.sha256(archive()).hexdigest()
