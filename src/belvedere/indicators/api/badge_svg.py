"""SVG badges of indicators, for pages outside the console."""

from xml.sax.saxutils import escape

from belvedere.base.clock import Millis
from belvedere.indicators.model import (
    IndicatorRow,
    IndicatorSeverity,
    IndicatorState,
    IndicatorType,
    clamp_percent,
)

HEIGHT, PADDING, LETTER_WIDTH, MAX_LETTERS = 20, 7, 6.6, 60
LABEL, STALE = "#4a4f55", "#8a8f95"
NORMAL, HIGH, LOW = "#2e7d32", "#c62828", "#b07d00"


def draw_indicator(row: IndicatorRow, now: Millis) -> str:
    fill = clamp_percent(row.number_value or 0) / 100 if row.type == IndicatorType.PROGRESS else 1.0
    return draw_badge(row.title, _value_text(row, now), _colour(row, now), fill)


def draw_badge(title: str, value: str, colour: str, fill: float = 1.0) -> str:
    """Title on the left, value on the right; the colour and the text show the state."""
    title, value = _shorten(title), _shorten(value)
    title_width, value_width = _width(title), _width(value)
    label, width = escape(f"{title}: {value}"), title_width + value_width
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}"'
        f' role="img" aria-label="{_quoted(label)}"><title>{label}</title>'
        f'<rect width="{width}" height="{HEIGHT}" rx="3" fill="{LABEL}"/>'
        f'<rect x="{title_width}" width="{value_width}" height="{HEIGHT}" rx="3" fill="{STALE}"/>'
        f'<rect x="{title_width}" width="{value_width * fill:.1f}" height="{HEIGHT}" rx="3"'
        f' fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"'
        ' text-anchor="middle">'
        f'<text x="{title_width / 2:.1f}" y="14">{escape(title)}</text>'
        f'<text x="{title_width + value_width / 2:.1f}" y="14">{escape(value)}</text></g></svg>'
    )


def _value_text(row: IndicatorRow, now: Millis) -> str:
    value = f"{row.summary}%" if row.type == IndicatorType.PROGRESS else str(row.summary)
    parts = [" ".join(value.split()) or row.state]
    if row.state == IndicatorState.FAILURE:
        parts.append("failure")
    if row.is_stale(now):
        parts.append("stale")
    return " · ".join(dict.fromkeys(parts))


def _colour(row: IndicatorRow, now: Millis) -> str:
    if row.is_stale(now):
        return STALE
    if row.state == IndicatorState.NORMAL:
        return NORMAL
    return LOW if row.severity == IndicatorSeverity.LOW else HIGH


def _shorten(text: str) -> str:
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return printable if len(printable) <= MAX_LETTERS else printable[: MAX_LETTERS - 1] + "…"


def _width(text: str) -> int:
    return round(len(text) * LETTER_WIDTH) + 2 * PADDING


def _quoted(escaped: str) -> str:
    return escaped.replace('"', "&quot;")
