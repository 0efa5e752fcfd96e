"""JSON as the standard library writes and reads it, in one step each.

`json` makes its encoder anew for every text that it writes, and looks for spaces around every text
that it reads: of a small message that is half the cost.
"""

from __future__ import annotations

import json

try:
    from _json import make_encoder
except ImportError:
    make_encoder = None  # type: ignore[assignment,misc,unused-ignore]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def writer(default: Callable[[Any], Any] | None = None) -> Callable[[Any], str]:
    """json.dumps without spaces; `default` for what JSON does not know."""
    standard = json.JSONEncoder(separators=(",", ":"), default=default)
    if make_encoder is None:
        return standard.encode
    escape = json.encoder.encode_basestring_ascii
    try:
        pieces = make_encoder(None, standard.default, escape, None, ":", ",", False, False, True)
    except TypeError:
        # A Python whose encoder wants to be made differently.
        return standard.encode
    return lambda value: "".join(pieces(value, 0))


to_json = writer()


def from_json(text: str) -> Any:
    """json.loads, which is asked only about texts that are not a value from end to end."""
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        end = -1
    return value if end == len(text) else json.loads(text)
