"""JSON text with the product's manners: no duplicate keys, numbers keep their spelling."""

import json
import math
import re
from typing import Any

from belvedere.base.errors import Invalid

MAX_DEPTH = 100
# Values in one text. Each costs about a microsecond, during which nothing else runs.
MAX_ELEMENTS = 50_000
MAX_NUMBER = 1_000
# A string to its end, or to the end of the text. Possessive, and it always matches: linear.
_STRING = re.compile(r'"[^"\\]*+(?:\\.?[^"\\]*+)*+(?:"|\Z)', re.DOTALL)
BLANK = " \t\n\r"


class Number(str):
    """A JSON number that keeps the text it was written in: 1.0, 1e5 and -0 stay so."""

    __slots__ = ()


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise Invalid(
            f"The key {twice[:100]!r} occurs twice in one JSON object.", code="duplicate_key"
        )
    return found


def _no_constant(word: str) -> Any:
    raise Invalid(f"{word} is not JSON.", code="malformed_json")


def _finite(written: str) -> float:
    if len(written) > MAX_NUMBER:
        raise Invalid(f"The number {written[:40]}… is too long.", code="malformed_json")
    number = float(written)
    if math.isinf(number):
        raise Invalid(f"The number {written[:40]} is too large.", code="malformed_json")
    return number


def _whole(written: str) -> int:
    if len(written) > 64:
        raise Invalid(f"The number {written[:40]}… is too large.", code="malformed_json")
    return int(written)


def _decoder(parse_float: Any, parse_int: Any) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_no_duplicates,
        parse_constant=_no_constant,
        parse_float=parse_float,
        parse_int=parse_int,
    )


# Made once: json.loads would make one for every body.
_EXACT, _PLAIN = _decoder(Number, Number), _decoder(_finite, _whole)


def _decode(decoder: json.JSONDecoder, text: str) -> Any:
    """As `decoder.decode`, which looks for blanks around the text with two patterns: most bodies
    have none there, and are read at once."""
    if text[:1] in BLANK or text[-1] in BLANK:
        return decoder.decode(text)
    value, end = decoder.raw_decode(text)
    # With something behind the value it is no JSON; decode says so, and where.
    return value if end == len(text) else decoder.decode(text)


def check_depth(text: str, value: Any) -> None:
    """Refuse what is nested deeper than anybody means; the usual body is not even walked."""
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
    raise Invalid(f"The JSON is nested more than {MAX_DEPTH} deep.", code="malformed_json")


def check_elements(text: str, most: int) -> None:
    """Refuse a text of more values than this before it is parsed, in linear time."""
    if text.count(",") + text.count("[") + text.count("{") <= most:
        return
    # Most of these may be in strings, which are cheap. Each pass of the loop is one string.
    count, strings, at = 0, 0, 0
    for string in _STRING.finditer(text):
        count += _separators(text, at, string.start())
        strings, at = strings + 1, string.end()
        if count > most or strings > 2 * most + 2:
            break
    else:
        count += _separators(text, at, len(text))
    if count > most or strings > 2 * most + 2:
        raise Invalid(f"The JSON has more than {most} values.", code="malformed_json")


def _separators(text: str, start: int, end: int) -> int:
    return text.count(",", start, end) + text.count("[", start, end) + text.count("{", start, end)


def parse(body: bytes | str, *, exact: bool = True, most: int = MAX_ELEMENTS) -> Any:
    """Any JSON value; raises Invalid with the position of the fault.

    `exact` keeps numbers as `Number`, for values that go on to a script as they were written.
    `most` is how many values the text may have.
    """
    try:
        text = body if isinstance(body, str) else body.decode()
        check_elements(text, most)
        value = _decode(_EXACT if exact else _PLAIN, text)
        check_depth(text, value)
        if "\\ud" in text or "\\uD" in text:
            # Half of a surrogate pair is JSON but no text; it could never be stored or sent on.
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except UnicodeEncodeError:
        raise Invalid("The JSON holds half of a surrogate pair.", code="malformed_json") from None
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


def compact(value: Any) -> str:
    """Compact JSON text; `Number`s are written as they came."""
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


def clean(said: str) -> str:
    """What a script or agent said, without what a database refuses: NUL, lone surrogates."""
    if "\0" in said:
        said = said.replace("\0", "\ufffd")
    try:
        said.encode()
    except UnicodeEncodeError:
        return said.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return said
