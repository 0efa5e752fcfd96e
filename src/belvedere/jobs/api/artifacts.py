"""Artifacts of jobs over HTTP."""

from collections.abc import AsyncIterator
from urllib.parse import quote

import msgspec

from belvedere.access.actor import Actor
from belvedere.access.request import AnyRequest, Request
from belvedere.access.services import Services
from belvedere.base.errors import NotFound, Unavailable
from belvedere.db import Tx
from belvedere.jobs import permissions
from belvedere.jobs.output import artifacts
from belvedere.jobs.output.artifacts import Artifact
from belvedere.rest.route import Reply, Route


class ArtifactRecord(msgspec.Struct, rename={"is_complete": "complete"}):
    """A file that the last attempt left; not complete if the agent has lost a part of it."""

    name: str
    size: int
    sha256: str
    is_complete: bool


async def list_files(request: Request[None]) -> list[ArtifactRecord]:
    artifact_list = await _artifacts(request)
    return [
        ArtifactRecord(
            artifact.name,
            artifact.bytes_kept,
            artifact.sha256,
            artifact.bytes_kept == artifact.size,
        )
        for artifact in artifact_list
    ]


async def _artifacts(request: AnyRequest) -> list[Artifact]:
    fence = await request.services.db.read(_fence, request.actor, request.path["id"])
    rows: list[Artifact] = await request.services.logs.read(artifacts.for_attempt, fence)
    return rows


def _fence(tx: Tx, actor: Actor, job_id: str) -> int:
    return permissions.require_visible(tx, actor, job_id).fence


async def download(request: Request[None]) -> Reply:
    matches = [
        artifact
        for artifact in await _artifacts(request)
        if artifact.name == request.path["filename"]
    ]
    if not matches:
        raise NotFound("The job has no such file.", code="file_not_found")
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(matches[0].name, safe='')}",
        "ETag": f'"{matches[0].sha256}"',
    }
    # Never the file's own type: a browser must not run what a script wrote on this origin.
    return Reply(
        _bytes(request.services, matches[0]), headers=headers, media_type="application/octet-stream"
    )


async def _bytes(services: Services, file: Artifact) -> AsyncIterator[bytes]:
    at = 0
    while at < file.bytes_kept:
        data = await services.logs.read(artifacts.read, file.fence, file.number, at)
        if not data:
            # The response must not look complete.
            raise Unavailable("The file was deleted while it was read.")
        yield data[: file.bytes_kept - at]
        at += len(data)


ROUTES = (
    Route(
        "GET",
        "/job/{id}/files",
        "viewer",
        list_files,
        "List the files of a job",
        answer=list[ArtifactRecord],
        from_interface=False,
    ),
    Route(
        "GET",
        "/job/{id}/files/{filename}",
        "viewer",
        download,
        "Download a file of a job",
        answer=bytes,
        media=("application/octet-stream",),
        from_interface=False,
    ),
)
