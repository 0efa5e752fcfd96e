"""What a status page is."""

import re
import secrets
from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.clock import Millis, iso
from belvedere.base.ids import is_id
from belvedere.rest import text_fields

MOST_PARTS = 100
MOST_PAGES = 100
MAX_NAME = 120
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{1,62}[a-z0-9])")


class Part(msgspec.Struct, omit_defaults=True):
    """A public name, and the one thing that it stands for: a monitor, an indicator, or all
    monitors with a tag."""

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
    """What is left out stays; a new page without a slug gets one that nobody guesses."""

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
    # Where everybody finds it, as JSON; the console draws it under /ui/status/.
    url: str
    version: int
    creation_date: str
    last_update: str


def new_row(page_id: str, customer_id: str, now: Millis) -> StatusPageRow:
    slug = secrets.token_hex(10)
    return StatusPageRow(page_id, customer_id, slug, "", "", 1, "[]", 1, now, now)


def is_slug(text: str) -> bool:
    return _SLUG.fullmatch(text) is not None


def write(row: StatusPageRow, body: StatusPageBody) -> None:
    """Put what was given into a row, all of it checked."""
    if body.title is not UNSET:
        row.title = text_fields.line("title", body.title, least=1, most=MAX_NAME)
    if body.slug is not UNSET:
        if not is_slug(body.slug):
            raise text_fields.bad("slug", "Give 3 to 64 of a-z, 0-9 and '-', no dash at its ends.")
        row.slug = body.slug
    if body.description is not UNSET:
        row.description = text_fields.prose("description", body.description, most=4_000)
    if body.enable is not UNSET:
        row.enabled = int(body.enable)
    if body.parts is not UNSET:
        row.parts = msgspec.json.encode(_checked(body.parts)).decode()
    if not row.title:
        raise text_fields.bad("title", "This is required.")


def _checked(parts: Sequence[Part]) -> list[Part]:
    if len(parts) > MOST_PARTS:
        raise text_fields.bad("parts", f"Give at most {MOST_PARTS}.")
    for n, part in enumerate(parts):
        part.name = text_fields.line(f"parts[{n}].name", part.name, least=1, most=MAX_NAME)
        part.group = text_fields.line(f"parts[{n}].group", part.group, most=MAX_NAME)
        part.tag = text_fields.line(f"parts[{n}].tag", part.tag, most=text_fields.MAX_TAG)
        if sum(map(bool, (part.monitor_id, part.indicator_id, part.tag))) != 1:
            raise text_fields.bad(f"parts[{n}]", "Give one of monitor_id, indicator_id and tag.")
        if not part.tag and not is_id(part.monitor_id or part.indicator_id):
            raise text_fields.bad(f"parts[{n}]", "An id has 24 hex digits.")
    return list(parts)


def record(row: StatusPageRow, base_url: str) -> StatusPageRecord:
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
    )
