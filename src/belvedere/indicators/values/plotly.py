"""Chart values in Plotly's format, stored as received; the console draws those that it can."""

from typing import Any, TypeGuard

import msgspec

from belvedere.base.text import json_text
from belvedere.rest import text_fields

# Size limit of the stored JSON. Figures of Plotly Express have a template of some kilobytes.
MAX_FIGURE = 64 * 1024
MAX_INTEGER = 2**63

Figure = dict[str, Any]


def is_figure(value: object) -> TypeGuard[Figure]:
    """`{"type": …, "data": […]}` or `{"data": […], "layout": {…}}`. Our own charts have series."""
    return isinstance(value, dict) and isinstance(value.get("data"), list) and "series" not in value


def encode_figure(figure: Figure) -> str:
    """The JSON of a figure; raises Invalid if it is too large."""
    try:
        text = json_text.compact(figure)
        size = len(text.encode())
    except (RecursionError, TypeError, ValueError):
        raise text_fields.invalid_field("value", "Must be JSON that can be stored.") from None
    if size > MAX_FIGURE:
        raise text_fields.invalid_field(
            "value", f"A chart in Plotly's format may have at most {MAX_FIGURE} bytes."
        )
    return text


def last_number(figure: Figure) -> int | float | str:
    """The last number of the first trace; empty if it has none."""
    trace = next(iter(figure["data"]), None)
    if _is_number(trace):
        return _last(figure["data"])
    if not isinstance(trace, dict):
        return ""
    names = ("x", "y") if trace.get("orientation") == "h" else ("y", "values")
    lists = (trace[name] for name in names if isinstance(trace.get(name), list))
    return _last(next(lists, []))


def _last(values: list[Any]) -> int | float | str:
    return next((value for value in reversed(values) if _is_number(value)), "")


def _is_number(value: object) -> TypeGuard[int | float]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # A larger integer cannot be part of a response.
    return abs(value) < MAX_INTEGER or isinstance(value, float)


def decode_figure(text: str) -> Figure:
    figure: Figure = msgspec.json.decode(text)
    return figure
