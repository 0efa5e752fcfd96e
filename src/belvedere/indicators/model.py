"""What an indicator is, and which values each type takes."""

import math
import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any

import msgspec

from belvedere.base.clock import DAY, SECOND, Millis
from belvedere.base.ids import is_id
from belvedere.indicators.values import chart, html
from belvedere.indicators.values.chart import Chart
from belvedere.rest import text_fields

MIN_TTL: Millis = 1 * SECOND
MAX_TTL: Millis = 366 * DAY
MAX_TEXT = 16 * 1024
MAX_FILE_TEXT = 64 * 1024
MAX_GIST = 256
MAX_SIDE = 100
# Counting by one is exact only up to here.
MAX_COUNT = 2**53 - 1
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")

Plain = str | int | float
Value = Plain | Chart


class Type(StrEnum):
    TEXT = "text"
    PROGRESS = "progress"
    COUNTER = "counter"
    CHART = "chart"
    HTML = "html"
    # The id of a stored file, or a text that is shown like one.
    FILE = "file"


# Their values are too large to be told with every event.
LARGE = frozenset({Type.CHART, Type.HTML, Type.FILE})


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
    Type.CHART: "ChartIndicator",
    Type.HTML: "HTMLIndicator",
    Type.FILE: "FileIndicator",
}
# Without a value; a counter starts at one.
FIRST: dict[str, Value] = {
    Type.TEXT: "",
    Type.PROGRESS: 0,
    Type.COUNTER: 1,
    Type.CHART: chart.EMPTY,
    Type.HTML: "",
    Type.FILE: "",
}


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
        if self.number_value is not None:
            return shortest(self.number_value)
        text = self.text_value or ""
        return chart.read(text) if self.type == Type.CHART else text

    @property
    def gist(self) -> Plain:
        """Its value where there is room for one line: as a picture, in a list, as an argument."""
        match self.type:
            case Type.CHART:
                return chart.last(chart.read(self.text_value or ""))
            case Type.HTML:
                return html.plain(self.text_value or "")[:MAX_GIST]
            case Type.FILE:
                return "" if self.file_id else (self.text_value or "").strip()[:MAX_GIST]
        return (
            shortest(self.number_value) if self.number_value is not None else self.text_value or ""
        )

    @property
    def file_id(self) -> str | None:
        """Of the stored file that it shows."""
        is_stored = self.type == Type.FILE and is_id(self.text_value or "")
        return self.text_value if is_stored else None

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


def bar(number: float) -> float:
    """How full the bar of a progress is; the value itself may be anything."""
    return min(100.0, max(0.0, number))


def write_value(row: IndicatorRow, given: Any) -> None:
    """Put a value into a row; Invalid unless it fits the row's type."""
    if row.type in _TEXTS:
        row.text_value, row.number_value = _TEXTS[row.type](given), None
    else:
        row.text_value, row.number_value = None, _number(row.type, given)


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise text_fields.bad("value", "A text takes a string.")
    return text_fields.prose("value", given, most=MAX_TEXT)


def _file(given: Any) -> str:
    if not isinstance(given, str):
        raise text_fields.bad("value", "A file takes a text, or the id of a stored file.")
    return text_fields.prose("value", given, most=MAX_FILE_TEXT)


# How those whose value is a text keep it.
_TEXTS: dict[str, Callable[[Any], str]] = {
    Type.TEXT: _text,
    Type.CHART: chart.kept,
    Type.HTML: html.kept,
    Type.FILE: _file,
}


def _number(type: str, given: Any) -> float:
    if isinstance(given, str) and len(given) <= 64 and _NUMBER.fullmatch(given):
        given = float(given)
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise text_fields.bad("value", f"A {type} takes a number.")
    number = float(given)
    if not math.isfinite(number):
        raise text_fields.bad("value", f"A {type} takes a finite number.")
    if type == Type.COUNTER and abs(number) > MAX_COUNT:
        raise text_fields.bad("value", f"A counter counts from -{MAX_COUNT} to {MAX_COUNT}.")
    return number


def title(text: str) -> str:
    return text_fields.line("title", text, least=1)


def set_stale_at(row: IndicatorRow) -> None:
    """When it is stale unless its source speaks before: `ttl` after it last did."""
    stale_at = None if row.ttl is None else row.pushed_at + row.ttl
    if stale_at != row.stale_at:
        row.stale_at, row.stale_told = stale_at, 0
