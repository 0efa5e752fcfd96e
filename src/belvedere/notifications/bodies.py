"""What bodies say of channels and rules, checked."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.clock import SECOND
from belvedere.base.ids import is_id
from belvedere.notifications import quiet_hours as quiet
from belvedere.notifications.model import (
    MAX_CHANNELS,
    MAX_VALUES,
    MAX_WINDOW_S,
    TOLD,
    Quiet,
    RuleRow,
    Severity,
)
from belvedere.rest import text_fields

OBJECTS = frozenset(kind.partition(".")[0] for kind in TOLD)


class ChannelBody(msgspec.Struct, forbid_unknown_fields=True):
    """Where messages go. `url` is an address of the Apprise library, or an http one of our own."""

    name: str | None = None
    url: str | None = None
    enable: bool | None = None


class QuietBody(msgspec.Struct, forbid_unknown_fields=True, rename={"start": "from", "end": "to"}):
    start: str
    end: str
    zone: str = "UTC"
    but_critical: bool = True


class RuleBody(msgspec.Struct, forbid_unknown_fields=True):
    """What is told, through which channels. What is absent stays as it is."""

    name: str | None = None
    enable: bool | None = None
    channels: list[str] | None = None
    kinds: list[str] | None = None
    objects: list[str] | None = None
    states: list[str] | None = None
    tags: list[str] | None = None
    severity: str | None = None
    # null takes it away.
    quiet: QuietBody | UnsetType | None = UNSET
    # Seconds.
    group: int | None = None


def write_rule(row: RuleRow, body: RuleBody) -> None:
    """Put what the body says into the row; channels are the service's to check."""
    if body.name is not None:
        row.name = text_fields.line("name", body.name, least=1)
    if body.enable is not None:
        row.enabled = int(body.enable)
    for name in ("kinds", "objects", "states", "tags", "channels"):
        given = getattr(body, name)
        if given is not None:
            setattr(row, name, msgspec.json.encode(_CHECKS[name](name, given)).decode())
    if body.severity is not None:
        row.severity = _severity(body.severity).value
    if body.quiet is not UNSET:
        row.quiet = _quiet(body.quiet)
    if body.group is not None:
        if not 0 <= body.group <= MAX_WINDOW_S:
            raise text_fields.bad("group", f"Give 0 to {MAX_WINDOW_S} seconds.")
        row.window_ms = body.group * SECOND


def _kinds(field: str, given: Sequence[str]) -> list[str]:
    for n, kind in enumerate(given):
        is_all = kind.endswith(".*") and kind[:-2] in OBJECTS
        if kind not in TOLD and not is_all:
            raise text_fields.bad(f"{field}[{n}]", "No such kind of event can be told.")
    return _texts(field, given)


def _ids(field: str, given: Sequence[str]) -> list[str]:
    for n, one in enumerate(given):
        if not is_id(one):
            raise text_fields.bad(f"{field}[{n}]", "Give an id.")
    return _texts(field, given)


def _channels(field: str, given: Sequence[str]) -> list[str]:
    if len(given) > MAX_CHANNELS:
        raise text_fields.bad(field, f"Give at most {MAX_CHANNELS} channels.")
    return _ids(field, given)


def _texts(field: str, given: Sequence[str]) -> list[str]:
    if len(given) > MAX_VALUES:
        raise text_fields.bad(field, f"Give at most {MAX_VALUES}.")
    found = (text_fields.line(f"{field}[{n}]", one, least=1) for n, one in enumerate(given))
    return list(dict.fromkeys(found))


_CHECKS = {
    "kinds": _kinds,
    "objects": _ids,
    "states": _texts,
    "tags": text_fields.tags,
    "channels": _channels,
}


def _severity(word: str) -> Severity:
    if word.upper() not in set(Severity):
        raise text_fields.bad("severity", f"Give one of {', '.join(Severity)}.")
    return Severity(word.upper())


def _quiet(given: QuietBody | None) -> str:
    if given is None:
        return "{}"
    start, end = quiet.minute("quiet.from", given.start), quiet.minute("quiet.to", given.end)
    if start == end:
        raise text_fields.bad("quiet.to", "Quiet hours end at another time than they begin.")
    made = Quiet(start, end, quiet.zone("quiet.zone", given.zone), given.but_critical)
    return msgspec.json.encode(made).decode()
