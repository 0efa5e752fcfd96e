"""A saved view: a page with its filters, under a name."""

import re

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.clock import Millis, iso
from belvedere.rest import text_fields

MAX_VIEWS = 100
MAX_NAME_LENGTH, MAX_QUERY_LENGTH = 64, 4_000
_PAGE = re.compile(r"[a-z][a-z0-9/_-]{0,63}")


class ViewRow(msgspec.Struct):
    """A row of `views`, in the order of the select."""

    id: str
    customer_id: str
    user_id: str
    name: str
    page: str
    query: str
    shared: int
    version: int
    created_at: Millis
    updated_at: Millis


class ViewBody(msgspec.Struct, forbid_unknown_fields=True):
    """Fields that are left out keep their values; a new view is not shared."""

    name: str | UnsetType = UNSET
    page: str | UnsetType = UNSET
    # The query string of the page, without the question mark.
    query: str | UnsetType = UNSET
    shared: bool | UnsetType = UNSET


class ViewRecord(msgspec.Struct):
    """A view; `mine`: the caller created it; `user` is the e-mail address of its creator."""

    id: str
    name: str
    page: str
    query: str
    shared: bool
    mine: bool
    user: str
    version: int
    creation_date: str
    last_update: str


def write(row: ViewRow, body: ViewBody) -> None:
    """Validate the fields of the body and write them into the row."""
    if body.name is not UNSET:
        row.name = text_fields.line("name", body.name, least=1, most=MAX_NAME_LENGTH)
    if body.page is not UNSET:
        if not _PAGE.fullmatch(body.page):
            raise text_fields.invalid_field("page", "Must be a page such as jobs, in lower case.")
        row.page = body.page
    if body.query is not UNSET:
        row.query = text_fields.line("query", body.query, most=MAX_QUERY_LENGTH)
    if body.shared is not UNSET:
        row.shared = int(body.shared)
    for field in ("name", "page"):
        if not getattr(row, field):
            raise text_fields.invalid_field(field, "This field is required.")


def to_record(row: ViewRow, email: str, user_id: str) -> ViewRecord:
    return ViewRecord(
        row.id,
        row.name,
        row.page,
        row.query,
        bool(row.shared),
        row.user_id == user_id,
        email,
        row.version,
        iso(row.created_at),
        iso(row.updated_at),
    )
