"""What a file indicator shows, over HTTP."""

from belvedere.access.request import Request
from belvedere.files.api import attached
from belvedere.indicators import linked_file
from belvedere.indicators.linked_file import FileView
from belvedere.rest.route import Reply, Route


async def view(request: Request[None]) -> FileView:
    found: FileView = await request.services.db.read(
        linked_file.view, request.actor, request.path["id"]
    )
    return found


async def download(request: Request[None]) -> Reply:
    found = await request.services.db.read(linked_file.content, request.actor, request.path["id"])
    return attached(found.filename, found.sha256, found.data)


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/indicator/{id}/file",
        "viewer",
        view,
        "The beginning of the file that it shows",
        answer=FileView,
        known=False,
    ),
    Route(
        "GET",
        "/indicator/{id}/file/download",
        "viewer",
        download,
        "Download that file",
        answer=bytes,
        media=("application/octet-stream",),
        known=False,
    ),
)
