"""The row of an indicator, its types and states, and the values that each type accepts."""

import math
import re
from collections.abc import Callable
from enum import StrEnum

import msgspec

from belvedere.base.clock import DAY, SECOND, Millis
from belvedere.base.ids import is_id
from belvedere.indicators.values import chart, html
from belvedere.rest import text_fields

MIN_TTL: Millis = 1 * SECOND
MAX_TTL: Millis = 366 * DAY
MAX_TEXT = 16 * 1024
MAX_FILE_TEXT = 64 * 1024
MAX_SUMMARY = 256
MAX_TILE_SIZE = 100
# The largest float up to which counting by one is exact.
MAX_COUNT = 2**53 - 1
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")

PlainValue = str | int | float
# Charts are passed on as the JSON that is stored: decoding costs too much in long lists.
IndicatorValue = PlainValue | msgspec.Raw


class IndicatorType(StrEnum):
    TEXT = "text"
    PROGRESS = "progress"
    COUNTER = "counter"
    CHART = "chart"
    HTML = "html"
    # The id of a stored file, or a text that is shown like a file.
    FILE = "file"


# Types whose values are too large to be part of every event.
LARGE_TYPES = frozenset({IndicatorType.CHART, IndicatorType.HTML, IndicatorType.FILE})


class IndicatorState(StrEnum):
    NORMAL = "normal"
    FAILURE = "failure"


class IndicatorSeverity(StrEnum):
    """High and critical: a failure is red; low: it is yellow."""

    CRITICAL = "CRITICAL"
    HIGH = "HIGH"
    LOW = "LOW"


class Action(StrEnum):
    """Changes of a counter that do not depend on its value."""

    INCREASE = "increase"
    DECREASE = "decrease"
    RESTART = "restart"


KIND_NAMES: dict[str, str] = {
    IndicatorType.TEXT: "TextIndicator",
    IndicatorType.PROGRESS: "ProgressIndicator",
    IndicatorType.COUNTER: "CounterIndicator",
    IndicatorType.CHART: "ChartIndicator",
    IndicatorType.HTML: "HTMLIndicator",
    IndicatorType.FILE: "FileIndicator",
}
# Values of new indicators; a counter starts at one.
INITIAL_VALUES: dict[str, PlainValue | chart.Chart] = {
    IndicatorType.TEXT: "",
    IndicatorType.PROGRESS: 0,
    IndicatorType.COUNTER: 1,
    IndicatorType.CHART: chart.EMPTY,
    IndicatorType.HTML: "",
    IndicatorType.FILE: "",
}


# Lists have thousands of them without references to others: garbage collection can skip them.
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
    def value(self) -> IndicatorValue:
        if self.number_value is not None:
            return to_number(self.number_value)
        text = self.text_value or ""
        return msgspec.Raw(text.encode()) if self.type == IndicatorType.CHART else text

    @property
    def summary(self) -> PlainValue:
        """The value in one line, for badges, lists and arguments of triggers."""
        match self.type:
            case IndicatorType.CHART:
                return chart.summary(self.text_value or "")
            case IndicatorType.HTML:
                return html.to_text(self.text_value or "")[:MAX_SUMMARY]
            case IndicatorType.FILE:
                return "" if self.file_id else (self.text_value or "").strip()[:MAX_SUMMARY]
        return (
            to_number(self.number_value) if self.number_value is not None else self.text_value or ""
        )

    @property
    def file_id(self) -> str | None:
        """The id of the stored file that the indicator shows; None for its own text."""
        is_stored = self.type == IndicatorType.FILE and is_id(self.text_value or "")
        return self.text_value if is_stored else None

    def is_stale(self, now: Millis) -> bool:
        return self.stale_at is not None and self.stale_at <= now


def new_row(indicator_id: str, customer_id: str, user_id: str, now: Millis) -> IndicatorRow:
    """A row without content; the caller fills in the fields."""
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


def to_number(number: float) -> int | float:
    """An int if the number is integral and exact, otherwise the float."""
    return int(number) if number.is_integer() and abs(number) <= MAX_COUNT else number


def clamp_percent(number: float) -> float:
    """The fill of a progress bar in percent; the value itself may be outside of 0 to 100."""
    return min(100.0, max(0.0, number))


def write_value(row: IndicatorRow, value: object) -> None:
    """Put a value into a row; raises Invalid if it does not fit the type."""
    if row.type in _TEXT_ENCODERS:
        row.text_value, row.number_value = _TEXT_ENCODERS[row.type](value), None
    else:
        row.text_value, row.number_value = None, _number(row.type, value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise text_fields.invalid_field(
            "value", "Must be a string: the indicator has the type text."
        )
    return text_fields.prose("value", value, most=MAX_TEXT)


def _file(value: object) -> str:
    if not isinstance(value, str):
        raise text_fields.invalid_field(
            "value", "Must be a string: a text, or the id of a stored file."
        )
    return text_fields.prose("value", value, most=MAX_FILE_TEXT)


# Types whose value is stored as text, and the function that makes that text.
_TEXT_ENCODERS: dict[str, Callable[[object], str]] = {
    IndicatorType.TEXT: _text,
    IndicatorType.CHART: chart.encode_chart,
    IndicatorType.HTML: html.sanitize,
    IndicatorType.FILE: _file,
}


def _number(type: str, value: object) -> float:
    if isinstance(value, str) and len(value) <= 64 and _NUMBER.fullmatch(value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise text_fields.invalid_field(
            "value", f"Must be a number: the indicator has the type {type}."
        )
    number = float(value)
    if not math.isfinite(number):
        raise text_fields.invalid_field("value", "Must be a finite number.")
    if type == IndicatorType.COUNTER and abs(number) > MAX_COUNT:
        raise text_fields.invalid_field("value", f"Must be -{MAX_COUNT} to {MAX_COUNT}.")
    return number


def validate_title(text: str) -> str:
    return text_fields.line("title", text, least=1)


def set_stale_at(row: IndicatorRow) -> None:
    """Set when the indicator becomes stale: `ttl` after the last push."""
    stale_at = None if row.ttl is None else row.pushed_at + row.ttl
    if stale_at != row.stale_at:
        row.stale_at, row.stale_told = stale_at, 0
