"""Files that a job left, over HTTP."""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import msgspec

from belvedere.access.request import AnyRequest, Request
from belvedere.access.services import Services
from belvedere.base.errors import NotFound
from belvedere.db import Tx
from belvedere.jobs import permissions
from belvedere.jobs.output import artifacts
from belvedere.jobs.output.artifacts import OutFile
from belvedere.rest.route import Reply, Route


class FileRecord(msgspec.Struct, rename={"is_complete": "complete"}):
    """A file that the last attempt left; not complete where the agent had lost a part of it."""

    name: str
    size: int
    sha256: str
    is_complete: bool


async def list_files(request: Request[None]) -> list[FileRecord]:
    found = await _found(request)
    return [
        FileRecord(one.name, one.bytes_kept, one.sha256, one.bytes_kept == one.size)
        for one in found
    ]


async def _found(request: AnyRequest) -> list[OutFile]:
    fence = await request.services.db.read(_fence, request.actor, request.path["id"])
    found: list[OutFile] = await request.services.logs.read(artifacts.of_attempt, fence)
    return found


def _fence(tx: Tx, actor: Any, job_id: str) -> int:
    return permissions.to_see(tx, actor, job_id).fence


async def download(request: Request[None]) -> Reply:
    named = [one for one in await _found(request) if one.name == request.path["filename"]]
    if not named:
        raise NotFound("The job left no such file.", code="file_not_found")
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(named[0].name, safe='')}",
        "ETag": f'"{named[0].sha256}"',
    }
    # Never the file's own type: nothing that a script wrote may act in a browser under our name.
    return Reply(
        _bytes(request.services, named[0]), headers=headers, media_type="application/octet-stream"
    )


async def _bytes(services: Services, file: OutFile) -> AsyncIterator[bytes]:
    at = 0
    while at < file.bytes_kept:
        data = await services.logs.read(artifacts.read, file.fence, file.number, at)
        if not data:
            # The job was purged meanwhile.
            return
        yield data[: file.bytes_kept - at]
        at += len(data)


ROUTES = (
    Route(
        "GET",
        "/job/{id}/files",
        "viewer",
        list_files,
        "The files that the job left.",
        answer=list[FileRecord],
        known=False,
    ),
    Route(
        "GET",
        "/job/{id}/files/{filename}",
        "viewer",
        download,
        "One of them.",
        answer=bytes,
        media=("application/octet-stream",),
        known=False,
    ),
)
