"""An indicator as it is sent: any of its fields, checked one by one."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.clock import Millis
from belvedere.base.errors import Fault, Invalid
from belvedere.indicators import model
from belvedere.indicators.model import IndicatorRow, Severity, State, Type
from belvedere.indicators.values.chart import Chart
from belvedere.rest import text_fields


class IndicatorBody(msgspec.Struct):
    """Any part of an indicator. What is null is as if it were left out, except ttl."""

    title: str | None = None
    type: str | None = None
    state: str | None = None
    value: str | int | float | Chart | None = None
    severity: str | None = None
    acl: list[str] | None = None
    read_only: bool | None = None
    description: str | None = None
    enable: bool | None = None
    alerts: bool | None = None
    sticky: bool | None = None
    tags: list[str] | None = None
    order: int | None = None
    width: int | None = None
    height: int | None = None
    ttl: Millis | None | UnsetType = UNSET


class StateBody(msgspec.Struct):
    """What a source pushes: a state, a value, or both."""

    state: str | None = None
    value: str | int | float | Chart | None = None


def _one_of(field: str, allowed: type[Type] | type[State] | type[Severity], word: str) -> str:
    if word not in set(allowed):
        raise text_fields.bad(field, f"Give one of {', '.join(sorted(allowed)).lower()}.")
    return allowed(word).value


def _within(field: str, number: int, least: int, most: int) -> int:
    if not least <= number <= most:
        raise text_fields.bad(field, f"Give {least} to {most}.")
    return number


def _ttl(ttl: Millis | None) -> Millis | None:
    return None if ttl is None else _within("ttl", ttl, model.MIN_TTL, model.MAX_TTL)


def _tags(tags: list[str]) -> str:
    return msgspec.json.encode(text_fields.tags("tags", tags)).decode()


# Field of the body -> column, and what the column keeps.
FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "title": ("title", model.title),
    "type": ("type", lambda word: _one_of("type", Type, word)),
    "state": ("state", lambda word: _one_of("state", State, word)),
    "severity": ("severity", lambda word: _one_of("severity", Severity, word.upper())),
    "read_only": ("read_only", int),
    "description": ("description", lambda text: text_fields.prose("description", text)),
    "enable": ("enabled", int),
    "alerts": ("alerts", int),
    "sticky": ("sticky", int),
    "tags": ("tags", _tags),
    "order": ("place", lambda number: _within("order", number, -1_000_000, 1_000_000)),
    "width": ("width", lambda number: _within("width", number, 1, model.MAX_SIDE)),
    "height": ("height", lambda number: _within("height", number, 1, model.MAX_SIDE)),
    "ttl": ("ttl", _ttl),
}
# What a replacement starts from.
DEFAULTS: dict[str, Any] = {
    "state": State.NORMAL.value,
    "severity": Severity.HIGH.value,
    "description": "",
    "enabled": 1,
    "alerts": 1,
    "sticky": 0,
    "read_only": 0,
    "tags": "[]",
    "place": 0,
    "width": 2,
    "height": 2,
    "ttl": None,
}


def columns_in(body: IndicatorBody) -> dict[str, Any]:
    """The columns that the body sets; Invalid names every field that is wrong."""
    found: dict[str, Any] = {}
    faults: list[Fault] = []
    for field, (column, check) in FIELDS.items():
        given = getattr(body, field)
        if given is UNSET or (given is None and field != "ttl"):
            continue
        try:
            found[column] = check(given)
        except Invalid as refused:
            faults += refused.faults
    if faults:
        told = "; ".join(f"{fault.field}: {fault.message}" for fault in faults)
        raise Invalid(told, code="invalid_body", faults=tuple(faults))
    return found


def write(row: IndicatorRow, columns: dict[str, Any], value: Any) -> None:
    """Put checked columns and a value, None for the one it has, into a row."""
    was = row.type
    for column, content in columns.items():
        setattr(row, column, content)
    if value is not None:
        model.write_value(row, value)
    elif row.type != was:
        # The old value means nothing to the new type.
        model.write_value(row, model.FIRST[row.type])
