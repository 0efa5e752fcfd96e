"""The file that an indicator shows: one that is stored, or its own text as if it were one."""

import hashlib
import re

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.base.errors import Invalid, NotFound
from belvedere.db import Tx
from belvedere.files import store as files
from belvedere.files.service import Content
from belvedere.indicators import queries
from belvedere.indicators.model import IndicatorRow, Type
from belvedere.rest import text_fields

# So much of it is shown; all of it can be had.
MAX_SHOWN = 8 * 1024
_NO_NAME = re.compile(r"[^\w .()-]+")


class FileView(msgspec.Struct):
    """The beginning of a file; `text` is empty where it is no text."""

    filename: str
    size: int
    is_text: bool
    text: str
    # There is more of it than is shown.
    cut: bool


def check(tx: Tx, row: IndicatorRow) -> None:
    """Refuse the id of a file that is not there; held, so that nobody deletes it meanwhile."""
    if row.file_id is None:
        return
    try:
        files.find(tx, row.customer_id, row.file_id, hold=True)
    except NotFound:
        raise text_fields.bad("value", "There is no stored file with this id.") from None


def view(tx: Tx, actor: Actor, indicator_id: str) -> FileView:
    """What a tile shows of it, for whoever may see the tile."""
    found = content(tx, actor, indicator_id)
    data = found.data[:MAX_SHOWN]
    is_cut = len(found.data) > MAX_SHOWN
    text = _text(data, is_cut=is_cut)
    return FileView(found.filename, len(found.data), text is not None, text or "", is_cut)


def content(tx: Tx, actor: Actor, indicator_id: str) -> Content:
    """All of it. An admin chose to show it, so the level for stored files does not count."""
    require(actor, Level.VIEWER)
    row = queries.find(tx, actor, indicator_id).row
    if row.type != Type.FILE:
        raise Invalid(f"Only a file can do this; it is a {row.type}.", code="no_file")
    if row.file_id is None:
        data = (row.text_value or "").encode()
        return Content(_filename(row.title), hashlib.sha256(data).hexdigest(), data)
    stored = files.find(tx, row.customer_id, row.file_id)
    held = files.content_of(tx, stored.sha256)
    assert held is not None, "a foreign key holds the content of every version"
    return Content(stored.filename, stored.sha256, held)


def _filename(title: str) -> str:
    return f"{_NO_NAME.sub('_', title).strip(' ._')[:100] or 'indicator'}.txt"


def _text(data: bytes, *, is_cut: bool) -> str | None:
    """As text, None where it is none; a letter that the cut went through is left out."""
    try:
        text = data.decode()
    except UnicodeDecodeError as fault:
        if not is_cut or fault.start < len(data) - 3:
            return None
        text = data[: fault.start].decode()
    return None if "\0" in text else text
