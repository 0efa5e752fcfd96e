"""Rows, request bodies and records of status pages."""

import re
import secrets
from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.clock import Millis, iso
from belvedere.base.ids import is_id
from belvedere.rest import text_fields

MAX_PARTS = 100
MAX_PAGES = 100
MAX_NAME = 120
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{1,62}[a-z0-9])")


class Part(msgspec.Struct, omit_defaults=True):
    """A public name for one of: a monitor, an indicator, or all monitors with a tag."""

    name: str
    group: str = ""
    monitor_id: str = ""
    indicator_id: str = ""
    tag: str = ""


class StatusPageRow(msgspec.Struct):
    """A row of `statuspages`, in the order of the select."""

    id: str
    customer_id: str
    slug: str
    title: str
    description: str
    enabled: int
    parts: str
    version: int
    created_at: Millis
    updated_at: Millis

    @property
    def part_list(self) -> list[Part]:
        return msgspec.json.decode(self.parts, type=list[Part])


class StatusPageBody(msgspec.Struct, forbid_unknown_fields=True):
    """Omitted fields do not change. A new page without a slug gets one that cannot be guessed."""

    title: str | UnsetType = UNSET
    slug: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    enable: bool | UnsetType = UNSET
    parts: list[Part] | UnsetType = UNSET


class StatusPageRecord(msgspec.Struct):
    id: str
    slug: str
    title: str
    description: str
    enable: bool
    parts: list[Part]
    # The public address (JSON); the console shows the page under /ui/status/.
    url: str
    version: int
    creation_date: str
    last_update: str
    # SHA-256 of the logo; empty: it has none.
    logo: str = ""


def new_row(page_id: str, customer_id: str, now: Millis) -> StatusPageRow:
    slug = secrets.token_hex(10)
    return StatusPageRow(page_id, customer_id, slug, "", "", 1, "[]", 1, now, now)


def is_slug(text: str) -> bool:
    return _SLUG.fullmatch(text) is not None


def write(row: StatusPageRow, body: StatusPageBody) -> None:
    """Validate the body and write its fields into the row."""
    if body.title is not UNSET:
        row.title = text_fields.line("title", body.title, least=1, most=MAX_NAME)
    if body.slug is not UNSET:
        if not is_slug(body.slug):
            raise text_fields.invalid_field(
                "slug", "Use 3 to 64 characters of a-z, 0-9 and '-'; not '-' at either end."
            )
        row.slug = body.slug
    if body.description is not UNSET:
        row.description = text_fields.prose("description", body.description, most=4_000)
    if body.enable is not UNSET:
        row.enabled = int(body.enable)
    if body.parts is not UNSET:
        row.parts = msgspec.json.encode(_validated(body.parts)).decode()
    if not row.title:
        raise text_fields.invalid_field("title", "This is required.")


def _validated(parts: Sequence[Part]) -> list[Part]:
    if len(parts) > MAX_PARTS:
        raise text_fields.invalid_field("parts", f"At most {MAX_PARTS} parts are allowed.")
    for n, part in enumerate(parts):
        part.name = text_fields.line(f"parts[{n}].name", part.name, least=1, most=MAX_NAME)
        part.group = text_fields.line(f"parts[{n}].group", part.group, most=MAX_NAME)
        part.tag = text_fields.line(f"parts[{n}].tag", part.tag, most=text_fields.MAX_TAG)
        if sum(map(bool, (part.monitor_id, part.indicator_id, part.tag))) != 1:
            raise text_fields.invalid_field(
                f"parts[{n}]", "Set exactly one of monitor_id, indicator_id and tag."
            )
        if not part.tag and not is_id(part.monitor_id or part.indicator_id):
            raise text_fields.invalid_field(f"parts[{n}]", "An id has 24 hex digits.")
    return list(parts)


def to_record(row: StatusPageRow, base_url: str, logo: str = "") -> StatusPageRecord:
    return StatusPageRecord(
        row.id,
        row.slug,
        row.title,
        row.description,
        bool(row.enabled),
        row.part_list,
        f"{base_url}/-/status/{row.slug}",
        row.version,
        iso(row.created_at),
        iso(row.updated_at),
        logo,
    )
