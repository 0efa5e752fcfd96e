"""The agent in one file, and the script that installs it: a second host is one pasted line.

The file holds the agent's own rooms and `websockets`, all of it plain Python, so that any Python
3.11 runs it as it is. It is the same, byte for byte, however often it is made.
"""

import hashlib
import io
import re
import zipfile
from functools import cache
from importlib import metadata
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import Template

import belvedere
from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Invalid
from belvedere.rest.route import Reply
from belvedere.server.api.health import own

ROOMS = ("agent", "base")
FILES = ("__init__.py", "protocol.py")
LIBRARY = "websockets"
# Parts of the library that an agent never loads.
UNUSED = frozenset({"legacy", "trio", "cli.py", "__main__.py"})
MAIN = b"""\
import sys

if sys.version_info < (3, 11):
    sys.exit("The agent needs Python 3.11 or newer.")
from belvedere.agent.main import main

sys.exit(main())
"""
_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")


@cache
def archive() -> bytes:
    """`belvedere-agent.pyz`; made once."""
    written = io.BytesIO(b"#!/usr/bin/env python3\n")
    written.seek(0, io.SEEK_END)
    with zipfile.ZipFile(written, "a", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for name, content in sorted(_contents().items()):
            # A fixed time: the same content is the same file.
            made.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return written.getvalue()


def _contents() -> dict[str, bytes]:
    package, library = files(belvedere.__name__), files(LIBRARY)
    found = {"__main__.py": MAIN}
    found |= {f"belvedere/{name}": package.joinpath(name).read_bytes() for name in FILES}
    for room in ROOMS:
        found |= _sources(package.joinpath(room), f"belvedere/{room}")
    found |= _sources(library, LIBRARY)
    return found | {f"{LIBRARY}/LICENSE": _licence()}


def _sources(folder: Traversable, prefix: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for entry in folder.iterdir():
        if entry.name in UNUSED:
            continue
        if entry.is_dir():
            found |= _sources(entry, f"{prefix}/{entry.name}")
        elif entry.name.endswith(".py"):
            found[f"{prefix}/{entry.name}"] = entry.read_bytes()
    return found


def _licence() -> bytes:
    """Whoever passes the library on passes on its terms."""
    kept = metadata.files(LIBRARY) or []
    return next(one for one in kept if one.name.upper().startswith("LICENSE")).read_binary()


@cache
def digest() -> str:
    return hashlib.sha256(archive()).hexdigest()


async def agent(request: Request[None]) -> Reply:
    headers = {
        "content-disposition": "attachment; filename=belvedere-agent.pyz",
        "etag": f'"{digest()}"',
    }
    return Reply(archive(), headers=headers, media_type="application/zip")


async def script(request: Request[None]) -> Reply:
    text = files("belvedere.server").joinpath("install.sh").read_text()
    filled = Template(text).substitute(server=_server(request), digest=digest())
    return Reply(filled, media_type="text/x-shellscript; charset=utf-8")


def _server(request: AnyRequest) -> str:
    """Where the new host reaches us: as we were told, or as we were just reached."""
    if request.services.settings.url:
        return str(request.services.settings.base_url)
    host = request.starlette.headers.get("host", "")
    if not _HOST.fullmatch(host):
        raise Invalid("The Host header is no address.", code="invalid_host")
    return f"{request.starlette.url.scheme}://{host}"


ROUTES = (
    own(
        "/-/install.sh",
        script,
        "Makes a machine a host; run it there.",
        bytes,
        "text/x-shellscript",
    ),
    own("/-/belvedere-agent.pyz", agent, "The agent in one file.", bytes, "application/zip"),
)
