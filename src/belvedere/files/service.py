"""Operations on files: create, change, delete, list, download."""

import hashlib
import re
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere import events
from belvedere.access import Actor, Level, audit, require
from belvedere.base.errors import Conflict, Invalid, NotFound, Stale
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.files import model, quota, store, usage
from belvedere.files.model import FileKind, FileRow, FileVersion
from belvedere.files.usage import FileUse
from belvedere.rest import text_fields
from belvedere.rest.bodies import multipart
from belvedere.rest.listing import Listing

MAX_CONTENT = 32 << 20
_MIMETYPE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,62}/[a-z0-9][a-z0-9.+-]{0,62}")


class FileChange(msgspec.Struct):
    """The fields to set; other fields keep their values or are derived."""

    filename: str | UnsetType = UNSET
    content: bytes | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    mimetype: str | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET


class Content(msgspec.Struct):
    """The content for a download."""

    filename: str
    sha256: str
    data: bytes


def create(tx: Tx, actor: Actor, change: FileChange) -> FileRow:
    require(actor, Level.ADMIN)
    if change.filename is UNSET or change.content is UNSET:
        raise Invalid("A file needs a filename and its content.", code="file_incomplete")
    filename = multipart.clean_name(change.filename)
    row = FileRow(
        id=new_id(),
        customer_id=actor.customer_id,
        filename=filename,
        kind=model.kind_of(filename, change.content),
        description="",
        mimetype=model.mimetype_of(filename),
        tags="[]",
        sha256="",
        md5="",
        size=0,
        version=1,
        created_at=tx.now,
        updated_at=tx.now,
    )
    _apply(tx, row, change)
    store.insert(tx, row)
    _record_change(tx, actor, row, "created", None)
    return row


def change(
    tx: Tx, actor: Actor, file_id: str, values: FileChange, if_match: int | None = None
) -> FileRow:
    """Write a new version; earlier versions stay readable, and jobs run the version they were
    created with."""
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, file_id, lock=True)
    if if_match is not None and if_match != row.version:
        raise Stale(f"The file is now at version {row.version}; reload it and try again.")
    before = _audit_fields(row)
    _apply(tx, row, values)
    if _audit_fields(row) == before:
        return row
    row.version += 1
    row.updated_at = tx.now
    store.save(tx, row)
    _record_change(tx, actor, row, "changed", before)
    return row


def delete(tx: Tx, actor: Actor, file_id: str) -> FileRow:
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, file_id, lock=True)
    users = usage.list_uses(tx, actor.customer_id, file_id)
    if users:
        names = ", ".join(link.name for link in users[:5])
        raise Conflict(
            f"{len(users)} task(s), monitor(s) or indicator(s) use this file ({names});"
            " change them first.",
            code="file_in_use",
        )
    store.mark_deleted(tx, row)
    audit.record(tx, actor, "file.delete", "file", row.id, _audit_fields(row), None)
    events.append(tx, row.customer_id, "file.deleted", row.id, {"filename": row.filename})
    return row


def show(tx: Tx, actor: Actor, file_id: str) -> FileRow:
    require(actor, Level.MANAGER)
    return store.find(tx, actor.customer_id, file_id)


def list_page(
    tx: Tx, actor: Actor, listing: Listing, kind: FileKind | None = None
) -> tuple[list[FileRow], int | None]:
    """A page, and the total if the query asks for it."""
    require(actor, Level.MANAGER)
    kind_value = None if kind is None else kind.value
    total = store.count(tx, actor.customer_id, listing, kind_value) if listing.count else None
    return store.select_page(tx, actor.customer_id, listing, kind_value), total


def list_uses(tx: Tx, actor: Actor, file_id: str) -> list[FileUse]:
    show(tx, actor, file_id)
    return usage.list_uses(tx, actor.customer_id, file_id)


def versions(tx: Tx, actor: Actor, file_id: str) -> list[FileVersion]:
    show(tx, actor, file_id)
    return store.versions(tx, file_id)


def download(tx: Tx, actor: Actor, file_id: str, version: int | None = None) -> Content:
    """The content: for managers, and for the agent of a host whose jobs or monitors need it."""
    if actor.level is Level.AGENT and (of_job := _script_of_job(tx, actor, file_id)) is not None:
        return of_job
    row = _to_download(tx, actor, file_id)
    sha256 = row.sha256
    if version is not None and version != row.version:
        matches = [
            row_version
            for row_version in store.versions(tx, file_id)
            if row_version.version == version
        ]
        if not matches:
            raise NotFound("The file has no such version.", code="version_not_found")
        sha256 = matches[0].sha256
    data = store.content_of(tx, sha256)
    assert data is not None, "a foreign key keeps the content of every version"
    return Content(row.filename, sha256, data)


def _script_of_job(tx: Tx, actor: Actor, job_id: str) -> Content | None:
    script = usage.script_of_job(tx, actor.host_id, job_id)
    data = None if script is None else store.content_of(tx, script.sha256)
    if script is None or data is None:
        return None
    return Content(script.filename, script.sha256, data)


def _to_download(tx: Tx, actor: Actor, file_id: str) -> FileRow:
    if actor.level is not Level.AGENT:
        return show(tx, actor, file_id)
    row = store.find(tx, actor.customer_id, file_id)
    if not usage.is_needed_by(tx, actor.host_id, file_id):
        raise NotFound("There is no such file.", code="file_not_found")
    return row


def _apply(tx: Tx, row: FileRow, change: FileChange) -> None:
    """Validate the fields and write them to the row."""
    changes: dict[str, Any] = {}
    if change.filename is not UNSET:
        changes["filename"] = multipart.clean_name(change.filename)
    if change.kind is not UNSET:
        if change.kind not in (FileKind.SCRIPT, FileKind.FILE):
            raise text_fields.invalid_field("_type", "Must be Script or File.")
        changes["kind"] = change.kind
    if change.description is not UNSET:
        changes["description"] = text_fields.prose("description", change.description)
    if change.mimetype is not UNSET:
        changes["mimetype"] = change.mimetype.partition(";")[0].strip().lower()
        if not _MIMETYPE.fullmatch(changes["mimetype"]):
            raise text_fields.invalid_field(
                "mimetype", "Must be a type such as text/x-shellscript."
            )
    if change.tags is not UNSET:
        changes["tags"] = msgspec.json.encode(text_fields.tags("tags", change.tags)).decode()
    for name, value in changes.items():
        setattr(row, name, value)
    if change.content is not UNSET:
        _fill(tx, row, change.content)


def _fill(tx: Tx, row: FileRow, content: bytes) -> None:
    if len(content) > MAX_CONTENT:
        raise text_fields.invalid_field("content", f"A file may have at most {MAX_CONTENT} bytes.")
    quota.check_room(tx, row.customer_id)
    row.sha256 = store.store_content(tx, content)
    # TheEye agents compare their copy by MD5; nothing else uses it.
    row.md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
    row.size = len(content)


def _record_change(
    tx: Tx, actor: Actor, row: FileRow, action: str, before: dict[str, Any] | None
) -> None:
    store.insert_version(tx, row, actor.email or actor.username or actor.kind)
    audit.record(
        tx, actor, f"file.{action.removesuffix('d')}", "file", row.id, before, _audit_fields(row)
    )
    data = {"filename": row.filename, "version": row.version, "sha256": row.sha256}
    events.append(tx, row.customer_id, f"file.{action}", row.id, data)


def _audit_fields(row: FileRow) -> dict[str, Any]:
    """The fields for the audit log: everything except the content, which has a hash."""
    names = ("filename", "kind", "description", "mimetype", "tags", "sha256", "size")
    return {name: getattr(row, name) for name in names}
