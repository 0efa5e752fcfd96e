"""A file as clients send it: a multipart form, or JSON with the content as text or base64."""

import base64
import binascii

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.errors import Invalid
from belvedere.base.text import json_text
from belvedere.files.service import FileChange
from belvedere.rest import text_fields
from belvedere.rest.bodies import multipart


class FileBody(msgspec.Struct):
    """The JSON form: `source` is text, `data` is base64."""

    filename: str | UnsetType = UNSET
    source: str | UnsetType = UNSET
    data: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    mimetype: str | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET
    kind: str | UnsetType = msgspec.field(name="_type", default=UNSET)


def read(content_type: str, raw: bytes) -> FileChange:
    if multipart.is_multipart(content_type):
        return from_form(multipart.read(content_type, raw))
    try:
        body = msgspec.convert(json_text.parse(raw or b"{}", exact=False), FileBody, strict=False)
    except msgspec.ValidationError as fault:
        raise Invalid(f"The body is invalid: {fault}.", code="invalid_body") from None
    return from_body(body)


def from_form(upload: multipart.Upload) -> FileChange:
    change = FileChange()
    if upload.content is not None:
        change.filename, change.content = upload.filename, upload.content
    fields = upload.fields
    if fields.get("filename"):
        change.filename = fields["filename"]
    if "description" in fields:
        change.description = fields["description"]
    if fields.get("mimetype"):
        change.mimetype = fields["mimetype"]
    if "tags" in fields:
        change.tags = _tags(fields["tags"])
    if fields.get("_type"):
        change.kind = fields["_type"]
    return change


def from_body(body: FileBody) -> FileChange:
    return FileChange(
        filename=body.filename,
        content=content_of(body.source, body.data),
        kind=body.kind,
        description=body.description,
        mimetype=body.mimetype,
        tags=body.tags,
    )


def content_of(source: str | UnsetType, data: str | UnsetType) -> bytes | UnsetType:
    """The content, from text or from base64."""
    if source is not UNSET and data is not UNSET:
        raise text_fields.invalid_field("data", "Send source or data, not both.")
    if source is not UNSET:
        return source.encode()
    if data is UNSET:
        return UNSET
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        raise text_fields.invalid_field("data", "Must be valid base64.") from None


def _tags(text: str) -> list[str]:
    """Tags from a JSON array or a comma-separated list."""
    if not text.lstrip().startswith("["):
        return [word.strip() for word in text.split(",") if word.strip()]
    try:
        return msgspec.convert(json_text.parse(text, exact=False), list[str])
    except msgspec.ValidationError:
        raise text_fields.invalid_field("tags", "Must be an array of strings.") from None
