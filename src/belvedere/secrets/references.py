"""`{{secret:NAME}}` in a web request: the value is inserted when an agent gets the request.

Resolved values are never stored: records, audit and exports keep the reference.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, quote_plus

from belvedere.base.errors import Invalid
from belvedere.base.text import json_text
from belvedere.base.text.credentials import REFERENCE

# Written in any request that refers to a secret; a cheap test before anything is decoded.
MARKER = "{{secret:"
_PATH = re.compile(r"[^?#]*")
Encode = Callable[[str], str]


class MissingSecret(Exception):
    """A request refers to a secret that is not set; the text names it."""


def names_in(request: Mapping[str, Any]) -> set[str]:
    """The secrets that a request refers to."""
    headers = request.get("headers") or {}
    return names_among((request.get("url"), request.get("body"), *headers.values()))


def names_among(texts: Iterable[str | None]) -> set[str]:
    return {name for text in texts if text and MARKER in text for name in REFERENCE.findall(text)}


def in_arguments(arguments: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The arguments of a command with the values inserted."""
    _require_values(names_among(arguments), values)
    return [_insert_values(argument, values, str) for argument in arguments]


def _require_values(names: set[str], values: Mapping[str, str]) -> None:
    if missing := sorted(names - values.keys()):
        raise MissingSecret(f"The secret {missing[0]} is not set; set it, or change the request.")


def resolve(request: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """The request with the values inserted, each encoded for its position."""
    result = dict(request)
    _require_values(names_in(request), values)
    headers = request.get("headers") or {}
    result["headers"] = {
        name: _insert_values(value, values, _line) for name, value in headers.items()
    }
    if MARKER in (url := request.get("url") or ""):
        result["url"] = _address(url, values)
    if MARKER in (body := request.get("body") or ""):
        result["body"] = _insert_values(body, values, _body_encoding(body, headers))
    return result


def _insert_values(text: str, values: Mapping[str, str], encode: Encode) -> str:
    return REFERENCE.sub(lambda match: encode(values[match[1]]), text)


def _address(url: str, values: Mapping[str, str]) -> str:
    """A secret may be several parts of a path, but only one part of anything else."""
    start, _, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    before = _PATH.match(path)
    end = before.end() if before is not None else 0
    return "".join(
        (
            *(start, "://", _insert_values(authority, values, lambda value: quote(value, safe=""))),
            *(slash, _insert_values(path[:end], values, lambda value: quote(value, safe="/"))),
            _insert_values(path[end:], values, lambda value: quote(value, safe="")),
        )
    )


def _line(value: str) -> str:
    """A header has no line breaks; a value that was read from a file often ends with one."""
    return value.strip()


def _body_encoding(body: str, headers: Mapping[str, str]) -> Encode:
    kinds = [value.lower() for name, value in headers.items() if name.lower() == "content-type"]
    if any("x-www-form-urlencoded" in kind for kind in kinds):
        return quote_plus
    try:
        json_text.parse(body)
    except Invalid:
        return str
    return lambda value: json.dumps(value, ensure_ascii=False)[1:-1]
