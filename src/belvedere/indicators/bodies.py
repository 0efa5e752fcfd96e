"""Request bodies of indicators, and the columns that they set."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.clock import Millis, range_text
from belvedere.base.errors import Fault, Invalid
from belvedere.indicators import model
from belvedere.indicators.model import (
    IndicatorRow,
    IndicatorSeverity,
    IndicatorState,
    IndicatorType,
)
from belvedere.rest import text_fields


class IndicatorBody(msgspec.Struct):
    """An indicator, or some of its fields. Null means that a field is left out, except for ttl."""

    title: str | None = None
    type: str | None = None
    state: str | None = None
    # An object is a chart.
    value: str | int | float | dict[str, Any] | None = None
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
    """A push: a state, a value, or both."""

    state: str | None = None
    # An object is a chart.
    value: str | int | float | dict[str, Any] | None = None


def _one_of(
    field: str,
    allowed: type[IndicatorType] | type[IndicatorState] | type[IndicatorSeverity],
    word: str,
) -> str:
    if word not in set(allowed):
        raise text_fields.invalid_field(
            field, f"Must be one of {', '.join(sorted(allowed)).lower()}."
        )
    return allowed(word).value


def _within(field: str, number: int, least: int, most: int) -> int:
    if not least <= number <= most:
        raise text_fields.invalid_field(field, f"Must be {least} to {most}.")
    return number


def _ttl(ttl: Millis | None) -> Millis | None:
    if ttl is not None and not model.MIN_TTL <= ttl <= model.MAX_TTL:
        bounds = range_text(model.MIN_TTL, model.MAX_TTL)
        raise text_fields.invalid_field("ttl", f"Must be {bounds}.")
    return ttl


def _tags(tags: list[str]) -> str:
    return msgspec.json.encode(text_fields.tags("tags", tags)).decode()


# Words that scripts for TheEye send for the state normal.
STATE_WORDS = {"": "normal", "success": "normal"}
# Field of the body -> column, and the function that makes the value of the column.
FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "title": ("title", model.validate_title),
    "type": ("type", lambda word: _one_of("type", IndicatorType, word)),
    "state": ("state", lambda word: _one_of("state", IndicatorState, STATE_WORDS.get(word, word))),
    "severity": ("severity", lambda word: _one_of("severity", IndicatorSeverity, word.upper())),
    "read_only": ("read_only", int),
    "description": ("description", lambda text: text_fields.prose("description", text)),
    "enable": ("enabled", int),
    "alerts": ("alerts", int),
    "sticky": ("sticky", int),
    "tags": ("tags", _tags),
    "order": ("place", lambda number: _within("order", number, -1_000_000, 1_000_000)),
    "width": ("width", lambda number: _within("width", number, 1, model.MAX_TILE_SIZE)),
    "height": ("height", lambda number: _within("height", number, 1, model.MAX_TILE_SIZE)),
    "ttl": ("ttl", _ttl),
}
# Values of columns that a new or replaced indicator does not set.
DEFAULTS: dict[str, Any] = {
    "state": IndicatorState.NORMAL.value,
    "severity": IndicatorSeverity.HIGH.value,
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
    """The columns that the body sets; raises Invalid with every wrong field."""
    columns: dict[str, Any] = {}
    faults: list[Fault] = []
    for field, (column, check) in FIELDS.items():
        value = getattr(body, field)
        if value is UNSET or (value is None and field != "ttl"):
            continue
        try:
            columns[column] = check(value)
        except Invalid as error:
            faults += error.faults
    if faults:
        message = "; ".join(f"{fault.field}: {fault.message}" for fault in faults)
        raise Invalid(message, code="invalid_body", faults=tuple(faults))
    return columns


def write(row: IndicatorRow, columns: dict[str, Any], value: object) -> None:
    """Put validated columns and a value into a row; the value None keeps the old one."""
    type_before = row.type
    for column, content in columns.items():
        setattr(row, column, content)
    if value is not None:
        model.write_value(row, value)
    elif row.type != type_before:
        # The old value does not fit the new type.
        model.write_value(row, model.INITIAL_VALUES[row.type])
