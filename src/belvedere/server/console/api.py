"""`/ui/`: the page and the files of the console. Addresses below it are routed by the console."""

import re

from belvedere.access.request import AnyRequest
from belvedere.rest.route import Handler, Reply, Route
from belvedere.server.console.assets import HASHED, AssetFile, Copy, etag_of
from belvedere.server.runtime import runtime_of

POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline';"
    " object-src 'none'; base-uri 'self'; frame-ancestors 'none'; form-action 'self';"
    " connect-src 'self'"
)
HTML = "text/html; charset=utf-8"
IMMUTABLE = "public, max-age=31536000, immutable"
# Cached, but revalidated each time: a new release must be visible at once.
REVALIDATE = "no-cache"
# Deeper than the address of any page of the console.
MAX_DEPTH = 16
# Segments that browsers and proxies remove, and characters that no address has.
_INVALID_NAME = re.compile(r"(^|/)\.\.?(/|$)|^/|//|[\0-\x1f\x7f\\]")
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
    # Relative: a proxy may serve this under a prefix.
    return Reply("", 302, {"location": "ui/"}, "text/plain")


async def console(request: AnyRequest) -> Reply:
    """A file of the console; its page for every other address."""
    name = request.path["rest"]
    file = runtime_of(request).assets.files.get(name)
    if file is not None:
        return _file(request, file)
    # From the raw path, as the browser counts it: %2f is not a slash.
    depth = request.starlette.scope["raw_path"].count(b"/") - 2
    if name.startswith(HASHED) or depth > MAX_DEPTH or _INVALID_NAME.search(name):
        return _answer("There is no such file.\n", 404, "text/plain; charset=utf-8")
    page = runtime_of(request).assets.index(depth)
    if page is None:
        return _answer(NOTICE, 503, HTML)
    return _unless_cached(
        request, Copy("", page, etag_of(page)), HTML, {"cache-control": REVALIDATE}
    )


def _file(request: AnyRequest, file: AssetFile) -> Reply:
    accepted = _encodings(request.starlette.headers.get("accept-encoding", ""))
    copy = next(
        candidate
        for candidate in file.copies
        if not candidate.encoding or candidate.encoding in accepted
    )
    headers = {"cache-control": IMMUTABLE if file.is_hashed else REVALIDATE}
    if len(file.copies) > 1:
        headers["vary"] = "accept-encoding"
    if copy.encoding:
        headers["content-encoding"] = copy.encoding
    return _unless_cached(request, copy, file.media_type, headers)


def _encodings(accepted: str) -> frozenset[str]:
    parts = [part.strip().lower() for part in accepted.split(",")]
    return frozenset(part.partition(";")[0].strip() for part in parts if not _REFUSED.search(part))


def _unless_cached(
    request: AnyRequest, copy: Copy, media_type: str, headers: dict[str, str]
) -> Reply:
    client_etags = request.starlette.headers.get("if-none-match", "")
    headers = {**headers, "etag": copy.etag}
    if copy.etag in [tag.strip().removeprefix("W/") for tag in client_etags.split(",")]:
        return _answer(b"", 304, media_type, headers)
    return _answer(copy.data, 200, media_type, headers)


def _answer(
    data: str | bytes, status: int, media_type: str, headers: dict[str, str] | None = None
) -> Reply:
    return Reply(data, status, {"content-security-policy": POLICY, **(headers or {})}, media_type)


def _page(path: str, handler: Handler, summary: str) -> Route:
    return Route("GET", path, "anonymous", handler, summary, style="plain", from_interface=False)


ROUTES = (
    _page("/", to_console, "Redirect to the console."),
    _page("/ui", to_console, "Redirect to the console."),
    _page("/ui/{rest...}", console, "The console."),
)
