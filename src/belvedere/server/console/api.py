"""`/ui/`: the console's page and its files. Addresses below it are the console's own affair."""

import re
from typing import Any

from belvedere.access.request import AnyRequest
from belvedere.rest.route import Reply, Route
from belvedere.server.console.assets import HASHED, Copy, File, etag_of
from belvedere.server.runtime import runtime_of

POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline';"
    " object-src 'none'; base-uri 'self'; frame-ancestors 'none'; form-action 'self';"
    " connect-src 'self'"
)
HTML = "text/html; charset=utf-8"
FOR_EVER = "public, max-age=31536000, immutable"
# Kept, but asked for again each time: a new release must be seen at once.
ASK_AGAIN = "no-cache"
# Deeper than any page of the console lies.
MAX_DEPTH = 16
# Segments that browsers and proxies take away on the road, and signs that no address has.
_NO_NAME = re.compile(r"(^|/)\.\.?(/|$)|^/|//|[\0-\x1f\x7f\\]")
_REFUSED = re.compile(r";\s*q=0(\.0*)?\s*$")
NOTICE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Belvedere</title><style>
:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
body { max-width: 36rem; margin: 4rem auto; padding: 0 1rem; }
</style></head><body><h1>The console is not built</h1>
<p>This server runs from a checkout whose console was left out. Stop it and start it with
<code>make run</code>, which builds the console first. The interface and the command line work
without it.</p></body></html>
"""


async def to_console(request: AnyRequest) -> Reply:
    # Relative: a proxy may have put something before our paths.
    return Reply("", 302, {"location": "ui/"}, "text/plain")


async def console(request: AnyRequest) -> Reply:
    """A file of the console; the page itself for everything else."""
    name = request.path["rest"]
    file = runtime_of(request).shelf.files.get(name)
    if file is not None:
        return _file(request, file)
    # What is on the wire counts, because the browser counts it: %2f is no slash.
    depth = request.starlette.scope["raw_path"].count(b"/") - 2
    if name.startswith(HASHED) or depth > MAX_DEPTH or _NO_NAME.search(name):
        return _answer("There is no such file.\n", 404, "text/plain; charset=utf-8")
    page = runtime_of(request).shelf.index(depth)
    if page is None:
        return _answer(NOTICE, 503, HTML)
    return _unless_known(request, Copy("", page, etag_of(page)), HTML, {"cache-control": ASK_AGAIN})


def _file(request: AnyRequest, file: File) -> Reply:
    taken = _encodings(request.starlette.headers.get("accept-encoding", ""))
    copy = next(one for one in file.copies if not one.encoding or one.encoding in taken)
    headers = {"cache-control": FOR_EVER if file.is_hashed else ASK_AGAIN}
    if len(file.copies) > 1:
        headers["vary"] = "accept-encoding"
    if copy.encoding:
        headers["content-encoding"] = copy.encoding
    return _unless_known(request, copy, file.media_type, headers)


def _encodings(accepted: str) -> frozenset[str]:
    parts = [part.strip().lower() for part in accepted.split(",")]
    return frozenset(part.partition(";")[0].strip() for part in parts if not _REFUSED.search(part))


def _unless_known(
    request: AnyRequest, copy: Copy, media_type: str, headers: dict[str, str]
) -> Reply:
    known = request.starlette.headers.get("if-none-match", "")
    headers = {**headers, "etag": copy.etag}
    if copy.etag in [tag.strip().removeprefix("W/") for tag in known.split(",")]:
        return _answer(b"", 304, media_type, headers)
    return _answer(copy.data, 200, media_type, headers)


def _answer(
    data: Any, status: int, media_type: str, headers: dict[str, str] | None = None
) -> Reply:
    return Reply(data, status, {"content-security-policy": POLICY, **(headers or {})}, media_type)


def _page(path: str, handler: Any, summary: str) -> Route:
    return Route("GET", path, "anonymous", handler, summary, style="plain", known=False)


ROUTES = (
    _page("/", to_console, "To the console."),
    _page("/ui", to_console, "To the console."),
    _page("/ui/{rest...}", console, "The console."),
)
