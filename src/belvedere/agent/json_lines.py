"""Faster JSON with the encoder and decoder of the standard library.

`json` creates an encoder for every text that it writes, and skips spaces around every text that it
reads: for a small message that is half of the cost.
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


def writer(
    default: Callable[[Any], Any] | None = None, *, allows_nan: bool = True
) -> Callable[[Any], str]:
    """json.dumps without spaces; `default` converts types that JSON does not have."""
    standard = json.JSONEncoder(separators=(",", ":"), default=default, allow_nan=allows_nan)
    if make_encoder is None:
        return standard.encode
    escape = json.encoder.encode_basestring_ascii
    try:
        pieces = make_encoder(
            None, standard.default, escape, None, ":", ",", False, False, allows_nan
        )
    except TypeError:
        # A Python version whose encoder has other parameters.
        return standard.encode
    return lambda value: "".join(pieces(value, 0))


to_json = writer()


def from_json(text: str) -> Any:  # JSON of any shape, as from json.loads
    """json.loads, which is called only if the text has more than one plain value."""
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        end = -1
    return value if end == len(text) else json.loads(text)
