"""The rows of files, their versions, and the contents that they share."""

import hashlib
from collections.abc import Collection

import msgspec

from belvedere.base.clock import HOUR, Millis
from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.files.model import FileRow, FileVersion
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.listing_sql import clauses

FILES = Listable(
    fields={
        "id": Field("id"),
        "_id": Field("id"),
        "_type": Field("kind"),
        "filename": Field("filename", is_name=True),
        "mimetype": Field("mimetype"),
        "description": Field("description"),
        "md5": Field("md5"),
        "sha256": Field("sha256"),
        "size": Field("size", FieldKind.INT),
        "version": Field("version", FieldKind.INT),
        "creation_date": Field("created_at", FieldKind.TIME),
        "last_update": Field("updated_at", FieldKind.TIME),
    }
)


# The precision of the time of the last use, so that uploads of the same content rarely wait for
# each other.
NOTE_EVERY: Millis = HOUR


def note_use(tx: Tx, sha256: str) -> None:
    """Called before a content is stored or reused: the sweep deletes none that was used within a
    day, and this waits for a deletion that is in progress (`blob_sweep`)."""
    used_at = tx.value("select used_at from blob_uses where sha256 = ?", sha256)
    if used_at is not None and tx.now - used_at < NOTE_EVERY:
        return
    tx.execute(
        "insert into blob_uses (sha256, used_at) values (?, ?)"
        " on conflict (sha256) do update set used_at = excluded.used_at",
        *(sha256, tx.now),
    )


def store_content(tx: Tx, content: bytes) -> str:
    """Store the bytes once, also for several files with the same content; returns their SHA-256."""
    sha256 = hashlib.sha256(content).hexdigest()
    note_use(tx, sha256)
    tx.execute(
        "insert into blobs (sha256, size, content) values (?, ?, ?)"
        " on conflict (sha256) do nothing",
        sha256,
        len(content),
        content,
    )
    return sha256


def content_of(tx: Tx, sha256: str) -> bytes | None:
    """The content. It has no owner: the caller must check the permission for a record that uses
    it."""
    content = tx.value("select content from blobs where sha256 = ?", sha256)
    return None if content is None else bytes(content)


# Large contents are read in parts of this size, which limits the memory for slow clients.
PART = 4 * 1024 * 1024


def size_of(tx: Tx, sha256: str) -> int | None:
    size = tx.value("select size from blobs where sha256 = ?", sha256)
    return None if size is None else int(size)


def sizes_of(tx: Tx, digests: Collection[str]) -> dict[str, int]:
    """The sizes of contents, by digest. The caller limits how many."""
    rows = tx.rows(
        f"select sha256, size from blobs where sha256 in {tx.dialect.in_texts}",
        msgspec.json.encode(sorted(digests)).decode(),
    )
    return {str(digest): int(size) for digest, size in rows}


def part_of(tx: Tx, sha256: str, start: int) -> bytes:
    """At most `PART` bytes, starting at `start`."""
    part = tx.value(
        "select substr(content, cast(? as integer), cast(? as integer)) from blobs"
        " where sha256 = ?",
        start + 1,
        PART,
        sha256,
    )
    return b"" if part is None else bytes(part)


def insert(tx: Tx, row: FileRow) -> None:
    marks = ", ".join("?" for _ in FileRow.__struct_fields__)
    tx.execute(
        f"insert into files ({columns(FileRow)}) values ({marks})", *msgspec.structs.astuple(row)
    )


def insert_version(tx: Tx, row: FileRow, created_by: str) -> None:
    tx.execute(
        "insert into file_versions (file_id, version, sha256, size, created_by, created_at)"
        " values (?, ?, ?, ?, ?, ?)",
        row.id,
        row.version,
        row.sha256,
        row.size,
        created_by,
        row.updated_at,
    )


def find(tx: Tx, customer_id: str, file_id: str, *, lock: bool = False) -> FileRow:
    """The file; `lock` locks its row until the end of the transaction."""
    row = tx.one(
        FileRow,
        f"select {columns(FileRow)} from files"
        " where id = ? and customer_id = ? and deleted_at is null"
        f"{tx.dialect.lock_rows if lock else ''}",
        file_id,
        customer_id,
    )
    if row is None:
        raise NotFound("There is no such file.", code="file_not_found")
    return row


def save(tx: Tx, row: FileRow) -> None:
    tx.execute(
        "update files set filename = ?, kind = ?, description = ?, mimetype = ?, tags = ?,"
        " sha256 = ?, md5 = ?, size = ?, version = ?, updated_at = ?"
        " where id = ? and customer_id = ?",
        row.filename,
        row.kind,
        row.description,
        row.mimetype,
        row.tags,
        row.sha256,
        row.md5,
        row.size,
        row.version,
        row.updated_at,
        row.id,
        row.customer_id,
    )


def mark_deleted(tx: Tx, row: FileRow) -> None:
    tx.execute(
        "update files set deleted_at = ? where id = ? and customer_id = ?",
        tx.now,
        row.id,
        row.customer_id,
    )


def select_page(tx: Tx, customer_id: str, listing: Listing, kind: str | None) -> list[FileRow]:
    sql = clauses(listing)
    return tx.all(
        FileRow,
        f"select {columns(FileRow)} from files"
        " where customer_id = ? and deleted_at is null and kind = coalesce(?, kind)"
        f"{sql.where}{sql.page}",
        customer_id,
        kind,
        *sql.params,
        *sql.page_params,
    )


def count(tx: Tx, customer_id: str, listing: Listing, kind: str | None) -> int:
    sql = clauses(listing)
    return int(
        tx.value(
            "select count(*) from files where customer_id = ? and deleted_at is null"
            f" and kind = coalesce(?, kind){sql.where}",
            customer_id,
            kind,
            *sql.params,
        )
    )


def versions(tx: Tx, file_id: str) -> list[FileVersion]:
    """Newest first. The caller has checked with `find` that the file belongs to the customer."""
    return tx.all(
        FileVersion,
        f"select {columns(FileVersion)} from file_versions where file_id = ? order by version desc",
        file_id,
    )
