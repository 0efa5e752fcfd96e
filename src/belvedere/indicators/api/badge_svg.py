"""An indicator as a small picture for pages elsewhere. Pure text in, SVG out."""

from xml.sax.saxutils import escape

from belvedere.base.clock import Millis
from belvedere.indicators.model import IndicatorRow, Severity, State, Type, bar

HEIGHT, PAD, LETTER, LONGEST = 20, 7, 6.6, 60
LABEL, STALE = "#4a4f55", "#8a8f95"
NORMAL, HIGH, LOW = "#2e7d32", "#c62828", "#b07d00"


def svg(row: IndicatorRow, now: Millis) -> str:
    fill = bar(row.number_value or 0) / 100 if row.type == Type.PROGRESS else 1.0
    return drawn(row.title, _words(row, now), _colour(row, now), fill)


def drawn(title: str, value: str, colour: str, fill: float = 1.0) -> str:
    """Title on the left, value on the right; the colour says the state, and words say it too."""
    title, value = _cut(title), _cut(value)
    left, right = _width(title), _width(value)
    said = escape(f"{title}: {value}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}"'
        f' role="img" aria-label="{_quoted(said)}"><title>{said}</title>'
        f'<rect width="{left + right}" height="{HEIGHT}" rx="3" fill="{LABEL}"/>'
        f'<rect x="{left}" width="{right}" height="{HEIGHT}" rx="3" fill="{STALE}"/>'
        f'<rect x="{left}" width="{right * fill:.1f}" height="{HEIGHT}" rx="3" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"'
        ' text-anchor="middle">'
        f'<text x="{left / 2:.1f}" y="14">{escape(title)}</text>'
        f'<text x="{left + right / 2:.1f}" y="14">{escape(value)}</text></g></svg>'
    )


def _words(row: IndicatorRow, now: Millis) -> str:
    value = f"{row.gist}%" if row.type == Type.PROGRESS else str(row.gist)
    parts = [" ".join(value.split()) or row.state]
    if row.state == State.FAILURE:
        parts.append("failure")
    if row.is_stale(now):
        parts.append("stale")
    return " · ".join(dict.fromkeys(parts))


def _colour(row: IndicatorRow, now: Millis) -> str:
    if row.is_stale(now):
        return STALE
    if row.state == State.NORMAL:
        return NORMAL
    return HIGH if row.severity == Severity.HIGH else LOW


def _cut(text: str) -> str:
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def _width(text: str) -> int:
    return round(len(text) * LETTER) + 2 * PAD


def _quoted(escaped: str) -> str:
    return escaped.replace('"', "&quot;")
