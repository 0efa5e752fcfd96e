"""JSON text with the product's manners: no duplicate keys, numbers keep their spelling."""

import json
from typing import Any

from belvedere.base.errors import Invalid

MAX_DEPTH = 64


class Number(str):
    """A JSON number that keeps the text it was written in: 1.0, 1e5 and -0 stay so."""

    __slots__ = ()


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise Invalid(f"The key {twice!r} occurs twice in one JSON object.", code="duplicate_key")
    return found


def _no_constant(word: str) -> Any:
    raise Invalid(f"{word} is not JSON.", code="malformed_json")


def parse(body: bytes | str) -> Any:
    """Any JSON value, numbers as `Number`; raises Invalid with the position of the fault."""
    try:
        text = body if isinstance(body, str) else body.decode()
        return json.loads(
            text,
            object_pairs_hook=_no_duplicates,
            parse_constant=_no_constant,
            parse_float=Number,
            parse_int=Number,
        )
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
