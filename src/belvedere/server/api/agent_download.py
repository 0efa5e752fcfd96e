"""Downloads of the agent: the file itself, and the script that installs it on a host."""

import re
from importlib.resources import files
from string import Template

from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Invalid
from belvedere.rest.route import Reply
from belvedere.server.agents.package import archive, digest
from belvedere.server.api.health import plain_route

_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")


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
    """The address of this server for the new host: as configured, else as in this request."""
    if request.services.settings.url:
        return str(request.services.settings.base_url)
    host = request.starlette.headers.get("host", "")
    if not _HOST.fullmatch(host):
        raise Invalid("The Host header is not a valid address.", code="invalid_host")
    return f"{request.starlette.url.scheme}://{host}"


ROUTES = (
    plain_route(
        "/-/install.sh",
        script,
        "Download the script that installs the agent; run it on the new host",
        bytes,
        "text/x-shellscript",
    ),
    plain_route(
        "/-/belvedere-agent.pyz", agent, "Download the agent as one file", bytes, "application/zip"
    ),
)
