"""What an indicator is, and which values each type takes."""

import math
import re
from enum import StrEnum
from typing import Any

import msgspec

from belvedere.base.clock import DAY, SECOND, Millis
from belvedere.rest import words

MIN_TTL: Millis = 1 * SECOND
MAX_TTL: Millis = 366 * DAY
MAX_TEXT = 16 * 1024
MAX_SIDE = 100
# Counting by one is exact only up to here.
MAX_COUNT = 2**53 - 1
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")

Value = str | int | float


class Type(StrEnum):
    TEXT = "text"
    PROGRESS = "progress"
    COUNTER = "counter"


class State(StrEnum):
    NORMAL = "normal"
    FAILURE = "failure"


class Severity(StrEnum):
    """High: a failure is red; low: it is yellow."""

    HIGH = "HIGH"
    LOW = "LOW"


class Action(StrEnum):
    """What can be done to a counter without knowing its value."""

    INCREASE = "increase"
    DECREASE = "decrease"
    RESTART = "restart"


KIND_NAMES: dict[str, str] = {
    Type.TEXT: "TextIndicator",
    Type.PROGRESS: "ProgressIndicator",
    Type.COUNTER: "CounterIndicator",
}
# Without a value; a counter starts at one.
FIRST: dict[str, Value] = {Type.TEXT: "", Type.PROGRESS: 0, Type.COUNTER: 1}


# Lists hold thousands of them and none holds another: the collector need not look.
class IndicatorRow(msgspec.Struct, gc=False):
    """A row of `indicators`, in the order of the select."""

    id: str
    customer_id: str
    title: str
    type: str
    state: str
    text_value: str | None
    number_value: float | None
    severity: str
    description: str
    enabled: int
    alerts: int
    sticky: int
    read_only: int
    tags: str
    place: int
    width: int
    height: int
    ttl: Millis | None
    pushed_at: Millis
    stale_at: Millis | None
    stale_told: int
    user_id: str
    public_digest: str | None
    version: int
    created_at: Millis
    updated_at: Millis

    @property
    def value(self) -> Value:
        number = self.number_value
        return (self.text_value or "") if number is None else shortest(number)

    def is_stale(self, now: Millis) -> bool:
        return self.stale_at is not None and self.stale_at <= now


def blank(indicator_id: str, customer_id: str, user_id: str, now: Millis) -> IndicatorRow:
    """A row whose fields are still to be written."""
    return IndicatorRow(
        id=indicator_id,
        customer_id=customer_id,
        title="",
        type="",
        state="",
        text_value=None,
        number_value=None,
        severity="",
        description="",
        enabled=1,
        alerts=1,
        sticky=0,
        read_only=0,
        tags="[]",
        place=0,
        width=0,
        height=0,
        ttl=None,
        pushed_at=now,
        stale_at=None,
        stale_told=0,
        user_id=user_id,
        public_digest=None,
        version=1,
        created_at=now,
        updated_at=now,
    )


def shortest(number: float) -> int | float:
    """A whole number is written as one."""
    return int(number) if number.is_integer() and abs(number) <= MAX_COUNT else number


def bar(value: Value) -> float:
    """How full the bar of a progress is; the value itself may be anything."""
    return min(100.0, max(0.0, float(value)))


def write_value(row: IndicatorRow, given: Any) -> None:
    """Put a value into a row; Invalid unless it fits the row's type."""
    if row.type == Type.TEXT:
        row.text_value, row.number_value = _text(given), None
    else:
        row.text_value, row.number_value = None, _number(row.type, given)


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise words.bad("value", "A text takes a string.")
    return words.prose("value", given, most=MAX_TEXT)


def _number(type: str, given: Any) -> float:
    if isinstance(given, str) and len(given) <= 64 and _NUMBER.fullmatch(given):
        given = float(given)
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise words.bad("value", f"A {type} takes a number.")
    number = float(given)
    if not math.isfinite(number):
        raise words.bad("value", f"A {type} takes a finite number.")
    if type == Type.COUNTER and abs(number) > MAX_COUNT:
        raise words.bad("value", f"A counter counts from -{MAX_COUNT} to {MAX_COUNT}.")
    return number


def title(text: str) -> str:
    return words.line("title", text, least=1)


def set_stale_at(row: IndicatorRow) -> None:
    """When it is stale unless its source speaks before: `ttl` after it last did."""
    stale_at = None if row.ttl is None else row.pushed_at + row.ttl
    if stale_at != row.stale_at:
        row.stale_at, row.stale_told = stale_at, 0
