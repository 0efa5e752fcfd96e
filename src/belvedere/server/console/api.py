"""`/ui/`: the page and the files of the console. Addresses below it are routed by the console."""

import re

from belvedere.access.request import AnyRequest
from belvedere.rest.route import Handler, Reply, Route
from belvedere.server.console.assets import HASHED, Copy, etag_of
from belvedere.server.console.static_reply import (
    HTML,
    MAX_DEPTH,
    REVALIDATE,
    TEXT,
    answer,
    file_reply,
    unless_cached,
)
from belvedere.server.runtime import runtime_of

POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline';"
    " object-src 'none'; base-uri 'self'; frame-ancestors 'none'; form-action 'self';"
    " connect-src 'self'"
)
# Segments that browsers and proxies remove, and characters that no address has.
_INVALID_NAME = re.compile(r"(^|/)\.\.?(/|$)|^/|//|[\0-\x1f\x7f\\]")
_STATUS_PAGE = re.compile(r"status/([a-z0-9-]{1,64})")
# Relative to the base of the page.
FEED_LINKS = (
    '<link rel="alternate" type="application/atom+xml" title="Atom"'
    ' href="../-/status/{slug}/feed.atom" />'
    '<link rel="alternate" type="application/rss+xml" title="RSS"'
    ' href="../-/status/{slug}/feed.rss" />'
)
NOTICE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Belvedere</title><style>
:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
body { max-width: 36rem; margin: 4rem auto; padding: 0 1rem; }
</style></head><body><h1>The console is not built</h1>
<p>This server runs from a checkout without a built console. Stop it and start it with
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
        return file_reply(request, file, POLICY)
    # From the raw path, as the browser counts it: %2f is not a slash.
    depth = request.starlette.scope["raw_path"].count(b"/") - 2
    if name.startswith(HASHED) or depth > MAX_DEPTH or _INVALID_NAME.search(name):
        return answer("There is no such file.\n", 404, TEXT, POLICY)
    page = runtime_of(request).assets.index(depth, _feed_links(name))
    if page is None:
        return answer(NOTICE, 503, HTML, POLICY)
    copy = Copy("", page, etag_of(page))
    return unless_cached(request, copy, HTML, POLICY, {"cache-control": REVALIDATE})


def _feed_links(name: str) -> str:
    """Feed readers look for these in the page itself. They do not say whether the page exists."""
    match = _STATUS_PAGE.fullmatch(name)
    return "" if match is None else FEED_LINKS.format(slug=match[1])


def _page(path: str, handler: Handler, summary: str) -> Route:
    return Route("GET", path, "anonymous", handler, summary, style="plain", from_interface=False)


ROUTES = (
    _page("/", to_console, "Redirect to the console."),
    _page("/ui", to_console, "Redirect to the console."),
    _page("/ui/{rest...}", console, "The console."),
)
