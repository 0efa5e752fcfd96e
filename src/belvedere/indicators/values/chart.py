"""What a chart shows: a few named rows of numbers over labels, moments or just their places."""

import math
from collections.abc import Sequence

import msgspec

from belvedere.base.errors import Invalid
from belvedere.rest import query as values
from belvedere.rest import text_fields

KINDS = ("line", "bar")
MAX_SERIES, MAX_POINTS, MAX_UNIT, MAX_LABEL = 8, 500, 16, 64
# Of all of it, as it is kept.
MAX_CHART = 32 * 1024
EXACT = 2**53


class ChartSeries(msgspec.Struct, forbid_unknown_fields=True):
    """One row of numbers; null is a gap."""

    name: str
    values: list[int | float | None]


class Chart(msgspec.Struct, forbid_unknown_fields=True):
    """The value of a chart: `labels` or `times`, one for each number, or neither."""

    series: list[ChartSeries]
    # line or bar
    kind: str = "line"
    labels: list[str] = []
    # ISO 8601, ascending
    times: list[str] = []
    unit: str = ""


EMPTY = Chart([])
_decode = msgspec.json.Decoder(Chart)


def kept(given: object) -> str:
    """A chart as it is kept; Invalid says what is wrong. A text may hold its JSON."""
    chart = _parsed(given) if isinstance(given, str) else given
    if not isinstance(chart, Chart):
        raise text_fields.bad("value", "A chart takes an object with series.")
    _check(chart)
    text = msgspec.json.encode(chart).decode()
    if len(text) > MAX_CHART:
        raise text_fields.bad("value", f"A chart takes at most {MAX_CHART} bytes.")
    return text


def read(text: str) -> Chart:
    return _decode.decode(text)


def last(chart: Chart) -> int | float | str:
    """The number that stands for it: the newest of its first row."""
    numbers = chart.series[0].values if chart.series else []
    return next((one for one in reversed(numbers) if one is not None), "")


def _parsed(text: str) -> Chart:
    try:
        return _decode.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError) as fault:
        raise text_fields.bad("value", f"A chart takes an object with series: {fault}.") from None


def _check(chart: Chart) -> None:
    if chart.kind not in KINDS:
        raise text_fields.bad("value.kind", f"Give one of {', '.join(KINDS)}.")
    if len(chart.series) > MAX_SERIES:
        raise text_fields.bad("value.series", f"Give at most {MAX_SERIES}.")
    if chart.labels and chart.times:
        raise text_fields.bad("value.times", "Give labels or times, not both.")
    for name in ("labels", "times"):
        if len(getattr(chart, name)) > MAX_POINTS:
            raise text_fields.bad(f"value.{name}", f"Give at most {MAX_POINTS}.")
    chart.unit = text_fields.line("value.unit", chart.unit, most=MAX_UNIT)
    chart.labels = [
        text_fields.line(f"value.labels[{n}]", one, most=MAX_LABEL)
        for n, one in enumerate(chart.labels)
    ]
    _check_times(chart.times)
    for n, one in enumerate(chart.series):
        _check_series(f"value.series[{n}]", one, chart.labels or chart.times)


def _check_series(field: str, one: ChartSeries, places: Sequence[str]) -> None:
    one.name = text_fields.line(f"{field}.name", one.name, most=MAX_LABEL, least=1)
    if len(one.values) > MAX_POINTS:
        raise text_fields.bad(f"{field}.values", f"Give at most {MAX_POINTS}.")
    if places and len(one.values) != len(places):
        raise text_fields.bad(
            f"{field}.values", f"Give {len(places)}, one for each label or moment."
        )
    one.values = [None if number is None else _number(field, number) for number in one.values]


def _number(field: str, given: int | float) -> int | float:
    """Whole numbers as far as every reader counts in them, then as the nearest one that is kept."""
    if isinstance(given, int) and abs(given) <= EXACT:
        return given
    try:
        number = float(given)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise text_fields.bad(f"{field}.values", "Give finite numbers.")
    return number


def _check_times(times: Sequence[str]) -> None:
    try:
        moments = [values.time(f"value.times[{n}]", one) for n, one in enumerate(times)]
    except Invalid as refused:
        raise text_fields.bad("value.times", refused.message) from None
    if any(later <= before for before, later in zip(moments, moments[1:], strict=False)):
        raise text_fields.bad("value.times", "Give moments that ascend.")
