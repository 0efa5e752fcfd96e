"""`/-/docs/`: the documentation of this version, for everyone, without other hosts."""

from urllib.parse import quote

from belvedere.access.request import AnyRequest
from belvedere.rest.route import Handler, Reply, Route
from belvedere.server.console.docs_site import INDEX, DocsSite
from belvedere.server.console.static_reply import HTML, MAX_DEPTH, TEXT, answer, file_reply
from belvedere.server.runtime import runtime_of

POLICY = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none';"
    " form-action 'none'"
)
# An image that is opened on its own is a document, and its animation is a style.
IMAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

NOTICE = """The documentation is not built.

This server runs from a checkout whose documentation was left out. Stop it and start it with
`make run`, which builds the documentation first. Its sources are in the folder docs.
"""


async def to_docs(request: AnyRequest) -> Reply:
    return _redirect("docs/")


async def docs(request: AnyRequest) -> Reply:
    """A file of the documentation; `/` at the end stands for the index of a folder."""
    name = request.path["rest"]
    site = runtime_of(request).docs
    if not site.is_built:
        return answer(NOTICE, 503, TEXT, POLICY)
    file = site.file(f"{name}{INDEX}" if not name or name.endswith("/") else name)
    if file is not None:
        is_image = file.media_type == "image/svg+xml"
        return file_reply(request, file, IMAGE_POLICY if is_image else POLICY)
    address = site.address_of(name)
    return _redirect(address) if address else _missing(request, site)


def _redirect(address: str) -> Reply:
    # Relative: a proxy may serve this under a prefix.
    return answer("", 302, "text/plain", POLICY, {"location": quote(address)})


def _missing(request: AnyRequest, site: DocsSite) -> Reply:
    # From the raw path, as the browser counts it: %2f is not a slash.
    depth = request.starlette.scope["raw_path"].count(b"/") - 3
    if depth > MAX_DEPTH:
        return answer("There is no such page.\n", 404, TEXT, POLICY)
    return answer(site.missing(depth), 404, HTML, POLICY)


def _page(path: str, handler: Handler, summary: str) -> Route:
    return Route("GET", path, "anonymous", handler, summary, style="plain", from_interface=False)


ROUTES = (
    _page("/-/docs", to_docs, "Redirect to the documentation."),
    _page("/-/docs/{rest...}", docs, "The documentation."),
)
