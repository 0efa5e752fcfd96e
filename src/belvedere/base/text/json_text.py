"""JSON text with the product's rules: no duplicate keys, and numbers keep their notation."""

import json
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn

from belvedere.base.errors import Invalid

MAX_DEPTH = 100
# Values in one text. Each costs about a microsecond, during which nothing else runs.
MAX_ELEMENTS = 50_000
MAX_NUMBER = 1_000
# A string to its end, or to the end of the text. Possessive, and it always matches: linear.
_STRING = re.compile(r'"[^"\\]*+(?:\\.?[^"\\]*+)*+(?:"|\Z)', re.DOTALL)
BLANK = " \t\n\r"


class Number(str):
    """A JSON number that keeps the text it was written in: 1.0, 1e5 and -0 stay unchanged."""

    __slots__ = ()


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        keys: set[str] = set()
        duplicate = next(key for key, _ in pairs if key in keys or keys.add(key))  # type: ignore[func-returns-value]
        raise Invalid(
            f"The key {duplicate[:100]!r} occurs twice in one JSON object.",
            code="duplicate_key",
        )
    return members


def _no_constant(word: str) -> NoReturn:
    raise Invalid(f"{word} is not JSON.", code="malformed_json")


def _parse_float(text: str) -> float:
    if len(text) > MAX_NUMBER:
        raise Invalid(f"The number {text[:40]}… is too long.", code="malformed_json")
    number = float(text)
    if math.isinf(number):
        raise Invalid(f"The number {text[:40]} is too large.", code="malformed_json")
    return number


def _parse_int(text: str) -> int:
    if len(text) > 64:
        raise Invalid(f"The number {text[:40]}… is too large.", code="malformed_json")
    return int(text)


def _decoder(
    parse_float: Callable[[str], object], parse_int: Callable[[str], object]
) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_no_duplicates,
        parse_constant=_no_constant,
        parse_float=parse_float,
        parse_int=parse_int,
    )


# Built once: json.loads would build one for every body.
_EXACT, _PLAIN = _decoder(Number, Number), _decoder(_parse_float, _parse_int)


def _decode(decoder: json.JSONDecoder, text: str) -> Any:  # JSON of any shape
    """Like `decoder.decode`, which looks for blanks around the text with two patterns; most bodies
    have none and are decoded directly."""
    if text[:1] in BLANK or text[-1] in BLANK:
        return decoder.decode(text)
    value, end = decoder.raw_decode(text)
    # Text after the value is an error; decode raises it with the position.
    return value if end == len(text) else decoder.decode(text)


def check_depth(text: str, value: object) -> None:
    """Refuse values nested deeper than MAX_DEPTH; most bodies need no walk to decide it."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise Invalid(f"The JSON is nested more than {MAX_DEPTH} levels deep.", code="malformed_json")


def check_elements(text: str, max_elements: int) -> None:
    """Refuse a text of more values than this before it is parsed, in linear time."""
    if text.count(",") + text.count("[") + text.count("{") <= max_elements:
        return
    # Most of these may be in strings, which are cheap. Each pass of the loop is one string.
    count, strings, at = 0, 0, 0
    for string in _STRING.finditer(text):
        count += _separators(text, at, string.start())
        strings, at = strings + 1, string.end()
        if count > max_elements or strings > 2 * max_elements + 2:
            break
    else:
        count += _separators(text, at, len(text))
    if count > max_elements or strings > 2 * max_elements + 2:
        raise Invalid(f"The JSON has more than {max_elements} values.", code="malformed_json")


def _separators(text: str, start: int, end: int) -> int:
    return text.count(",", start, end) + text.count("[", start, end) + text.count("{", start, end)


# JSON of any shape: the caller validates it.
def parse(body: bytes | str, *, exact: bool = True, max_elements: int = MAX_ELEMENTS) -> Any:
    """Any JSON value; raises Invalid with the position of the error.

    `exact` keeps numbers as `Number`, for values that are passed to a script unchanged.
    `max_elements` is how many values the text may have.
    """
    try:
        text = body if isinstance(body, str) else body.decode()
        check_elements(text, max_elements)
        value = _decode(_EXACT if exact else _PLAIN, text)
        check_depth(text, value)
        if "\\ud" in text or "\\uD" in text:
            # An unpaired surrogate is valid JSON but cannot be stored or encoded.
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except UnicodeEncodeError:
        raise Invalid("The JSON contains an unpaired surrogate.", code="malformed_json") from None
    except UnicodeDecodeError as fault:
        raise Invalid(
            f"The body is not UTF-8 (byte {fault.start}).", code="malformed_json"
        ) from None
    except json.JSONDecodeError as fault:
        raise Invalid(
            f"The body is not JSON: {fault.msg} at line {fault.lineno} column {fault.colno}.",
            code="malformed_json",
        ) from None
    except RecursionError:
        raise Invalid("The JSON is nested too deeply.", code="malformed_json") from None


def compact(value: object) -> str:
    """Compact JSON text; each `Number` keeps its notation."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        inner = ",".join(f"{compact(str(key))}:{compact(item)}" for key, item in value.items())
        return "{" + inner + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(compact(item) for item in value) + "]"
    return json.dumps(value, allow_nan=False)


def clean(text: str) -> str:
    """Text of a script or agent without what a database refuses: NUL and unpaired surrogates."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text
