"""Chart values: named series of numbers over labels, times or positions."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere.base.errors import Invalid
from belvedere.base.text import json_text
from belvedere.indicators.values import plotly
from belvedere.rest import query as values
from belvedere.rest import text_fields
from belvedere.rest.bodies import conversion

KINDS = ("line", "bar")
MAX_SERIES, MAX_POINTS, MAX_UNIT, MAX_LABEL = 8, 500, 16, 64
# Size limit of the stored JSON.
MAX_CHART = 32 * 1024
MAX_EXACT = 2**53


class ChartSeries(msgspec.Struct, forbid_unknown_fields=True):
    """One series of numbers; null is a gap."""

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
# A figure of Plotly never begins like this: it has no series.
_OWN_FORMAT = '{"series":'
EXPECTED = "Must be an object with series, or with data in Plotly's format."
_decode = msgspec.json.Decoder(Chart)


def encode_chart(value: object) -> str:
    """The JSON of a valid chart, or of a figure of Plotly; raises Invalid. A string is read as
    JSON."""
    chart = _parse(value) if isinstance(value, str) else value
    if plotly.is_figure(chart):
        return plotly.encode_figure(chart)
    if isinstance(chart, dict):
        chart = _convert(chart)
    if not isinstance(chart, Chart):
        raise text_fields.invalid_field("value", EXPECTED)
    _check(chart)
    text = msgspec.json.encode(chart).decode()
    if len(text) > MAX_CHART:
        raise text_fields.invalid_field("value", f"A chart may have at most {MAX_CHART} bytes.")
    return text


def decode_chart(text: str) -> Chart:
    return _decode.decode(text)


def summary(text: str) -> int | float | str:
    """The last number of a stored chart; empty without numbers."""
    if text.startswith(_OWN_FORMAT):
        return last_value(decode_chart(text))
    return plotly.last_number(plotly.decode_figure(text))


def last_value(chart: Chart) -> int | float | str:
    """The last number of the first series; empty without numbers."""
    numbers = chart.series[0].values if chart.series else []
    return next((number for number in reversed(numbers) if number is not None), "")


def _parse(text: str) -> Chart | dict[str, Any]:
    try:
        return _decode.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError) as fault:
        figure = _parse_figure(text)
        if figure is not None:
            return figure
        raise text_fields.invalid_field("value", f"{EXPECTED[:-1]}: {fault}.") from None


def _parse_figure(text: str) -> dict[str, Any] | None:
    try:
        figure = json_text.parse(text, exact=False)
    except Invalid:
        return None
    return figure if plotly.is_figure(figure) else None


def _convert(value: dict[str, Any]) -> Chart:
    try:
        return conversion.convert(value, Chart)
    except msgspec.ValidationError as fault:
        reason, _, place = str(fault).partition(" - at `$")
        raise text_fields.invalid_field(f"value{place.rstrip('`')}", f"{reason}.") from None


def _check(chart: Chart) -> None:
    if chart.kind not in KINDS:
        raise text_fields.invalid_field("value.kind", f"Must be one of {', '.join(KINDS)}.")
    if len(chart.series) > MAX_SERIES:
        raise text_fields.invalid_field("value.series", f"At most {MAX_SERIES} series are allowed.")
    if chart.labels and chart.times:
        raise text_fields.invalid_field("value.times", "Send labels or times, not both.")
    for name in ("labels", "times"):
        if len(getattr(chart, name)) > MAX_POINTS:
            raise text_fields.invalid_field(
                f"value.{name}", f"At most {MAX_POINTS} {name} are allowed."
            )
    chart.unit = text_fields.line("value.unit", chart.unit, most=MAX_UNIT)
    chart.labels = [
        text_fields.line(f"value.labels[{n}]", item, most=MAX_LABEL)
        for n, item in enumerate(chart.labels)
    ]
    _check_times(chart.times)
    for n, item in enumerate(chart.series):
        _check_series(f"value.series[{n}]", item, chart.labels or chart.times)


def _check_series(field: str, series: ChartSeries, positions: Sequence[str]) -> None:
    series.name = text_fields.line(f"{field}.name", series.name, most=MAX_LABEL, least=1)
    if len(series.values) > MAX_POINTS:
        raise text_fields.invalid_field(
            f"{field}.values", f"At most {MAX_POINTS} numbers are allowed."
        )
    if positions and len(series.values) != len(positions):
        raise text_fields.invalid_field(
            f"{field}.values", f"Must have {len(positions)} numbers, one for each label or time."
        )
    series.values = [None if number is None else _number(field, number) for number in series.values]


def _number(field: str, value: int | float) -> int | float:
    """Integers that are exact as a float stay integers; other numbers become floats."""
    if isinstance(value, int) and abs(value) <= MAX_EXACT:
        return value
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise text_fields.invalid_field(f"{field}.values", "Must be finite numbers.")
    return number


def _check_times(times: Sequence[str]) -> None:
    try:
        moments = [values.time(f"value.times[{n}]", text) for n, text in enumerate(times)]
    except Invalid as error:
        raise text_fields.invalid_field("value.times", error.message) from None
    if any(later <= before for before, later in zip(moments, moments[1:], strict=False)):
        raise text_fields.invalid_field("value.times", "Must be in ascending order.")
