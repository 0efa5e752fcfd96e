"""Files and scripts over HTTP."""

from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import UNSET

from belvedere.access.actor import Actor
from belvedere.access.request import AnyRequest, Request
from belvedere.access.searches import run_search
from belvedere.db import Tx
from belvedere.files import schemas, service, store, uploads
from belvedere.files.model import (
    FileKind,
    FileRecord,
    FileRow,
    VersionRecord,
    to_record,
    version_record,
)
from belvedere.files.service import FileChange
from belvedere.rest import listing as filters
from belvedere.rest import pagination, query, text_fields
from belvedere.rest.request import off_loop
from belvedere.rest.route import Reply, Route

# The content, plus the overhead of the form.
MAX_BODY = service.MAX_CONTENT + (1 << 20)


class Linked(msgspec.Struct):
    """A record that uses a file."""

    id: str
    name: str
    type: str
    kind: str = msgspec.field(name="_type")


def _record(request: AnyRequest, row: FileRow) -> FileRecord:
    return to_record(row, request.actor.customer_name)


async def _read_upload(request: AnyRequest) -> FileChange:
    kind = request.starlette.headers.get("content-type", "")
    return await off_loop(len(request.raw), uploads.read, kind, request.raw)


async def list_files(request: Request[None]) -> Reply:
    return await _list(request, None)


async def list_scripts(request: Request[None]) -> Reply:
    return await _list(request, FileKind.SCRIPT)


async def _list(request: AnyRequest, kind: FileKind | None) -> Reply:
    listing = filters.read(request.query, store.FILES)
    rows, total = await run_search(request, service.list_page, request.actor, listing, kind)
    return pagination.page_reply(request, listing, [_record(request, row) for row in rows], total)


async def show(request: Request[None]) -> FileRecord:
    row, schema = await request.services.db.read(_show, request.actor, request.path["id"])
    record = _record(request, row)
    record.content_schema = schema
    return record


def _show(tx: Tx, actor: Actor, file_id: str) -> tuple[FileRow, dict[str, Any] | None]:
    return service.show(tx, actor, file_id), schemas.find(tx, file_id)


async def replace_schema(request: Request[Any]) -> dict[str, Any]:
    schema: dict[str, Any] = await request.services.db.write(
        schemas.replace, request.actor, request.path["id"], request.body
    )
    return schema


def attachment(filename: str, sha256: str, data: bytes) -> Reply:
    """A response that the browser saves instead of showing it."""
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(filename, safe='')}",
        "ETag": f'"{sha256}"',
    }
    # Never the file's own type: an uploaded file must not run in a browser under our origin.
    return Reply(data, headers=headers, media_type="application/octet-stream")


async def download(request: Request[None]) -> Reply:
    version_text = request.first("version")
    version = None if version_text is None else query.integer("version", version_text)
    content = await request.services.db.read(
        service.download, request.actor, request.path["id"], version
    )
    return attachment(content.filename, content.sha256, content.data)


async def create(request: Request[None]) -> FileRecord:
    return _record(
        request,
        await request.services.db.write(service.create, request.actor, await _read_upload(request)),
    )


async def change(request: Request[None]) -> FileRecord:
    row = await request.services.db.write(
        service.change,
        request.actor,
        request.path["id"],
        await _read_upload(request),
        request.if_match,
    )
    return _record(request, row)


async def upload(request: Request[None]) -> FileRecord:
    """Replaces only the content; name, description and tags do not change."""
    change = await _read_upload(request)
    if change.content is UNSET:
        raise text_fields.invalid_field("file", "Send the new content.")
    row = await request.services.db.write(
        service.change,
        request.actor,
        request.path["id"],
        FileChange(content=change.content),
        request.if_match,
    )
    return _record(request, row)


async def delete(request: Request[None]) -> FileRecord:
    return _record(
        request, await request.services.db.write(service.delete, request.actor, request.path["id"])
    )


async def linked_models(request: Request[None]) -> list[Linked]:
    links = await request.services.db.read(service.list_uses, request.actor, request.path["id"])
    return [Linked(x.id, x.name, x.type, f"{x.type.capitalize()}{x.model}") for x in links]


async def list_versions(request: Request[None]) -> list[VersionRecord]:
    versions = await run_search(request, service.versions, request.actor, request.path["id"])
    return [version_record(version) for version in versions]


_VERSION = (("version", "an earlier version instead of the current one"),)
_FILES, _BODY = list[FileRecord], uploads.FileBody

ROUTES: tuple[Route, ...] = (
    Route(
        "GET", "/file", "manager", list_files, "List files", answer=_FILES, query=pagination.QUERY
    ),
    Route(
        "GET",
        "/script",
        "manager",
        list_scripts,
        "List scripts",
        answer=_FILES,
        query=pagination.QUERY,
    ),
    Route("GET", "/file/{id}", "manager", show, "Show a file", answer=FileRecord),
    Route("GET", "/script/{id}", "manager", show, "Show a script", answer=FileRecord),
    Route(
        "GET",
        "/file/{id}/download",
        "manager",
        download,
        "Download a file",
        answer=bytes,
        media=("application/octet-stream",),
        query=_VERSION,
        also_agent=True,
    ),
    Route(
        "GET",
        "/script/{id}/download",
        "manager",
        download,
        "Download a script",
        answer=bytes,
        media=("application/octet-stream",),
        query=_VERSION,
        also_agent=True,
    ),
    Route(
        "POST",
        "/file",
        "admin",
        create,
        "Store a file, as a multipart form or as JSON",
        body=_BODY,
        answer=FileRecord,
        codes=("too_large", "storage_quota", "unsupported_media_type"),
        raw_body=True,
        max_body=MAX_BODY,
    ),
    Route(
        "PUT",
        "/file/{id}",
        "admin",
        change,
        "Change a file: its content, name, description, tags",
        body=_BODY,
        answer=FileRecord,
        codes=("stale", "too_large", "storage_quota", "unsupported_media_type"),
        raw_body=True,
        max_body=MAX_BODY,
    ),
    Route(
        "PUT",
        "/file/{id}/upload",
        "admin",
        upload,
        "Replace a file's content",
        body=_BODY,
        answer=FileRecord,
        codes=("stale", "too_large", "storage_quota", "unsupported_media_type"),
        raw_body=True,
        max_body=MAX_BODY,
    ),
    Route(
        "PUT",
        "/file/{id}/schema",
        "admin",
        replace_schema,
        "Store a description of a file's content",
        body=Any,
        answer=dict[str, Any],
        max_body=2 * schemas.MAX_SCHEMA,
    ),
    Route(
        "DELETE",
        "/file/{id}",
        "admin",
        delete,
        "Delete a file that no task uses",
        answer=FileRecord,
        codes=("file_in_use",),
    ),
    Route(
        "GET",
        "/file/{id}/linkedmodels",
        "manager",
        linked_models,
        "List what uses a file",
        answer=list[Linked],
    ),
    Route(
        "GET",
        "/file/{id}/versions",
        "manager",
        list_versions,
        "List a file's versions, newest first",
        answer=list[VersionRecord],
        from_interface=False,
    ),
)
