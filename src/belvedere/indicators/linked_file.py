"""The file that an indicator shows: a stored file, or its own text."""

import hashlib
import re

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.base.errors import Invalid, NotFound
from belvedere.db import Tx
from belvedere.files import store as files
from belvedere.files.service import Content
from belvedere.indicators import queries
from belvedere.indicators.model import IndicatorRow, IndicatorType
from belvedere.rest import text_fields

# Bytes of a file that a tile shows; the download has all of it.
MAX_PREVIEW = 8 * 1024
_INVALID_IN_NAME = re.compile(r"[^\w .()-]+")


class FileView(msgspec.Struct):
    """The beginning of a file; `text` is empty if the file is binary."""

    filename: str
    size: int
    is_text: bool
    text: str
    # The file is longer than `text`.
    cut: bool


def check(tx: Tx, row: IndicatorRow) -> None:
    """Reject the id of a missing file; lock the file, so that it is not deleted in the meantime."""
    if row.file_id is None:
        return
    try:
        files.find(tx, row.customer_id, row.file_id, lock=True)
    except NotFound:
        raise text_fields.invalid_field("value", "There is no stored file with this id.") from None


def read_preview(tx: Tx, actor: Actor, indicator_id: str) -> FileView:
    """The beginning of the file, for everybody who may see the indicator."""
    content = read_content(tx, actor, indicator_id)
    data = content.data[:MAX_PREVIEW]
    is_cut = len(content.data) > MAX_PREVIEW
    text = _text(data, is_cut=is_cut)
    return FileView(content.filename, len(content.data), text is not None, text or "", is_cut)


def read_content(tx: Tx, actor: Actor, indicator_id: str) -> Content:
    """The complete file. An admin chose to show it, so the level for stored files is not needed."""
    require(actor, Level.VIEWER)
    row = queries.find(tx, actor, indicator_id).row
    if row.type != IndicatorType.FILE:
        raise Invalid(
            f"Only indicators of type file have a file; this one has the type {row.type}.",
            code="no_file",
        )
    if row.file_id is None:
        data = (row.text_value or "").encode()
        return Content(_filename(row.title), hashlib.sha256(data).hexdigest(), data)
    stored = files.find(tx, row.customer_id, row.file_id)
    stored_data = files.content_of(tx, stored.sha256)
    assert stored_data is not None, "a foreign key protects the content of every version"
    return Content(stored.filename, stored.sha256, stored_data)


def _filename(title: str) -> str:
    return f"{_INVALID_IN_NAME.sub('_', title).strip(' ._')[:100] or 'indicator'}.txt"


def _text(data: bytes, *, is_cut: bool) -> str | None:
    """The data as text, None if it is binary; a character that was cut in half is left out."""
    try:
        text = data.decode()
    except UnicodeDecodeError as fault:
        if not is_cut or fault.start < len(data) - 3:
            return None
        text = data[: fault.start].decode()
    return None if "\0" in text else text
