"""Request bodies of channels and rules, and their validation."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.clock import SECOND
from belvedere.base.ids import is_id
from belvedere.notifications import quiet_hours
from belvedere.notifications.model import (
    MAX_CHANNELS,
    MAX_VALUES,
    MAX_WINDOW_S,
    NOTIFIABLE_KINDS,
    NoticeSeverity,
    QuietHours,
    RuleRow,
)
from belvedere.rest import text_fields

OBJECT_TYPES = frozenset(kind.partition(".")[0] for kind in NOTIFIABLE_KINDS)


class ChannelBody(msgspec.Struct, forbid_unknown_fields=True):
    """Where messages go. `url` is an Apprise URL, or an http(s) URL that gets a signed POST."""

    name: str | None = None
    url: str | None = None
    enable: bool | None = None


class QuietBody(msgspec.Struct, forbid_unknown_fields=True, rename={"start": "from", "end": "to"}):
    start: str
    end: str
    zone: str = "UTC"
    but_critical: bool = True


class RuleBody(msgspec.Struct, forbid_unknown_fields=True):
    """Which events are sent to which channels. Absent fields do not change."""

    name: str | None = None
    enable: bool | None = None
    channels: list[str] | None = None
    kinds: list[str] | None = None
    objects: list[str] | None = None
    states: list[str] | None = None
    tags: list[str] | None = None
    severity: str | None = None
    # null removes the quiet hours.
    quiet: QuietBody | UnsetType | None = UNSET
    # Seconds.
    group: int | None = None


def write_rule(row: RuleRow, body: RuleBody) -> None:
    """Write the fields of the body to the row; the service checks that the channels exist."""
    if body.name is not None:
        row.name = text_fields.line("name", body.name, least=1)
    if body.enable is not None:
        row.enabled = int(body.enable)
    for name in ("kinds", "objects", "states", "tags", "channels"):
        values = getattr(body, name)
        if values is not None:
            setattr(row, name, msgspec.json.encode(_CHECKS[name](name, values)).decode())
    if body.severity is not None:
        row.severity = _severity(body.severity).value
    if body.quiet is not UNSET:
        row.quiet = _quiet(body.quiet)
    if body.group is not None:
        if not 0 <= body.group <= MAX_WINDOW_S:
            raise text_fields.invalid_field("group", f"Enter 0 to {MAX_WINDOW_S} seconds.")
        row.window_ms = body.group * SECOND


def _kinds(field: str, kinds: Sequence[str]) -> list[str]:
    for n, kind in enumerate(kinds):
        is_all = kind.endswith(".*") and kind[:-2] in OBJECT_TYPES
        if kind not in NOTIFIABLE_KINDS and not is_all:
            raise text_fields.invalid_field(
                f"{field}[{n}]", "Unknown event kind, or one that rules cannot name."
            )
    return _texts(field, kinds)


def _ids(field: str, ids: Sequence[str]) -> list[str]:
    for n, id_ in enumerate(ids):
        if not is_id(id_):
            raise text_fields.invalid_field(
                f"{field}[{n}]", "Enter an id of 24 hexadecimal digits."
            )
    return _texts(field, ids)


def _channels(field: str, ids: Sequence[str]) -> list[str]:
    if len(ids) > MAX_CHANNELS:
        raise text_fields.invalid_field(field, f"At most {MAX_CHANNELS} channels are allowed.")
    return _ids(field, ids)


def _texts(field: str, texts: Sequence[str]) -> list[str]:
    if len(texts) > MAX_VALUES:
        raise text_fields.invalid_field(field, f"At most {MAX_VALUES} values are allowed.")
    lines = (text_fields.line(f"{field}[{n}]", text, least=1) for n, text in enumerate(texts))
    return list(dict.fromkeys(lines))


_CHECKS = {
    "kinds": _kinds,
    "objects": _ids,
    "states": _texts,
    "tags": text_fields.tags,
    "channels": _channels,
}


def _severity(word: str) -> NoticeSeverity:
    if word.upper() not in set(NoticeSeverity):
        raise text_fields.invalid_field("severity", f"Use one of {', '.join(NoticeSeverity)}.")
    return NoticeSeverity(word.upper())


def _quiet(body: QuietBody | None) -> str:
    if body is None:
        return "{}"
    start = quiet_hours.parse_minute("quiet.from", body.start)
    end = quiet_hours.parse_minute("quiet.to", body.end)
    if start == end:
        raise text_fields.invalid_field(
            "quiet.to", "Quiet hours must not start and end at the same time."
        )
    hours = QuietHours(
        start, end, quiet_hours.parse_zone("quiet.zone", body.zone), body.but_critical
    )
    return msgspec.json.encode(hours).decode()
