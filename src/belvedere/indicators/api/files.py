"""Endpoints of the file that an indicator shows."""

from belvedere.access.request import Request
from belvedere.files.api import attachment
from belvedere.indicators import linked_file
from belvedere.indicators.linked_file import FileView
from belvedere.rest.route import Reply, Route


async def view(request: Request[None]) -> FileView:
    preview: FileView = await request.services.db.read(
        linked_file.read_preview, request.actor, request.path["id"]
    )
    return preview


async def download(request: Request[None]) -> Reply:
    content = await request.services.db.read(
        linked_file.read_content, request.actor, request.path["id"]
    )
    return attachment(content.filename, content.sha256, content.data)


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/indicator/{id}/file",
        "viewer",
        view,
        "Show the beginning of the file of an indicator",
        answer=FileView,
        from_interface=False,
    ),
    Route(
        "GET",
        "/indicator/{id}/file/download",
        "viewer",
        download,
        "Download the file of an indicator",
        answer=bytes,
        media=("application/octet-stream",),
        from_interface=False,
    ),
)
