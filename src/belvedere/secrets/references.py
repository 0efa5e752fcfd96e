"""`{{secret:NAME}}` in a web request: the value takes its place when the request goes to an agent.

Nothing resolved is ever stored: records, audit and exports keep the reference.
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
SIGN = "{{secret:"
_PATH = re.compile(r"[^?#]*")
Spell = Callable[[str], str]


class Missing(Exception):
    """A request refers to a secret that is not set; the text names it."""


def names_in(request: Mapping[str, Any]) -> set[str]:
    """The secrets that a request refers to."""
    headers = request.get("headers") or {}
    return names_among((request.get("url"), request.get("body"), *headers.values()))


def names_among(texts: Iterable[str | None]) -> set[str]:
    return {name for text in texts if text and SIGN in text for name in REFERENCE.findall(text)}


def in_arguments(arguments: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The arguments of a command with the values in place."""
    _check_known(names_among(arguments), values)
    return [_put(argument, values, str) for argument in arguments]


def _check_known(names: set[str], values: Mapping[str, str]) -> None:
    if missing := sorted(names - values.keys()):
        raise Missing(f"The secret {missing[0]} is not set; set it, or change the request.")


def resolved(request: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """The request with the values in place, each spelled as its place needs it."""
    result = dict(request)
    _check_known(names_in(request), values)
    headers = request.get("headers") or {}
    result["headers"] = {name: _put(value, values, _line) for name, value in headers.items()}
    if SIGN in (url := request.get("url") or ""):
        result["url"] = _address(url, values)
    if SIGN in (body := request.get("body") or ""):
        result["body"] = _put(body, values, _spelling(body, headers))
    return result


def _put(written: str, values: Mapping[str, str], spell: Spell) -> str:
    return REFERENCE.sub(lambda match: spell(values[match[1]]), written)


def _address(url: str, values: Mapping[str, str]) -> str:
    """A secret may be several parts of a path, but only one part of anything else."""
    start, _, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    before = _PATH.match(path)
    end = before.end() if before is not None else 0
    return "".join(
        (
            *(start, "://", _put(place, values, lambda value: quote(value, safe=""))),
            *(slash, _put(path[:end], values, lambda value: quote(value, safe="/"))),
            _put(path[end:], values, lambda value: quote(value, safe="")),
        )
    )


def _line(value: str) -> str:
    """A header has no line breaks; a value that was read from a file often ends with one."""
    return value.strip()


def _spelling(body: str, headers: Mapping[str, str]) -> Spell:
    kinds = [value.lower() for name, value in headers.items() if name.lower() == "content-type"]
    if any("x-www-form-urlencoded" in kind for kind in kinds):
        return quote_plus
    try:
        json_text.parse(body)
    except Invalid:
        return str
    return lambda value: json.dumps(value, ensure_ascii=False)[1:-1]
