"""Stored files: row, versions and record."""

import mimetypes
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.clock import iso


class FileKind(StrEnum):
    SCRIPT = "Script"
    FILE = "File"


SCRIPT_EXTENSIONS = frozenset(
    {"bash", "bat", "js", "ksh", "lua", "php", "pl", "ps1", "py", "r", "rb", "sh", "ts", "zsh"}
)
UNKNOWN_TYPE = "application/octet-stream"


class FileRow(msgspec.Struct):
    """A row of `files`, in the order of the select."""

    id: str
    customer_id: str
    filename: str
    kind: str
    description: str
    mimetype: str
    tags: str
    sha256: str
    md5: str
    size: int
    version: int
    created_at: int
    updated_at: int


class FileVersion(msgspec.Struct):
    """One version of a file."""

    version: int
    sha256: str
    size: int
    created_by: str
    created_at: int


class FileRecord(msgspec.Struct):
    """A stored file without its content, which has its own route."""

    id: str
    also_id: str = msgspec.field(name="_id")
    kind: str = msgspec.field(name="_type")
    filename: str
    mimetype: str
    extension: str
    size: int
    md5: str
    sha256: str
    description: str
    tags: list[str]
    version: int
    customer_id: str
    customer_name: str
    creation_date: str
    last_update: str
    # Only in the record of one file, and null if it has none.
    content_schema: dict[str, Any] | None | UnsetType = UNSET


class VersionRecord(msgspec.Struct):
    """One version of a file."""

    version: int
    sha256: str
    size: int
    created_by: str
    creation_date: str


def extension_of(filename: str) -> str:
    return filename.rpartition(".")[2].lower() if "." in filename.strip(".") else ""


def kind_of(filename: str, content: bytes) -> FileKind:
    """A script if it starts with `#!` or has the extension of one."""
    is_script = content.startswith(b"#!") or extension_of(filename) in SCRIPT_EXTENSIONS
    return FileKind.SCRIPT if is_script else FileKind.FILE


def mimetype_of(filename: str) -> str:
    return mimetypes.guess_type(filename)[0] or UNKNOWN_TYPE


def to_record(row: FileRow, customer_name: str) -> FileRecord:
    return FileRecord(
        id=row.id,
        also_id=row.id,
        kind=row.kind,
        filename=row.filename,
        mimetype=row.mimetype,
        extension=extension_of(row.filename),
        size=row.size,
        md5=row.md5,
        sha256=row.sha256,
        description=row.description,
        tags=msgspec.json.decode(row.tags, type=list[str]),
        version=row.version,
        customer_id=row.customer_id,
        customer_name=customer_name,
        creation_date=iso(row.created_at),
        last_update=iso(row.updated_at),
    )


def version_record(version: FileVersion) -> VersionRecord:
    return VersionRecord(
        version=version.version,
        sha256=version.sha256,
        size=version.size,
        created_by=version.created_by,
        creation_date=iso(version.created_at),
    )
