"""JSON values as instances of a type. Where a text is expected, a number is its JSON text."""

import copy
import re
from typing import Any, TypeVar

import msgspec

from belvedere.base.text import json_text

T = TypeVar("T")
# Numbers of one body that become texts; each costs another conversion.
MAX_TEXTS = 50
_NUMBER_FOR_TEXT = re.compile(
    r"Expected `(?:[^`]* )?str(?: [^`]*)?`, got `(?:int|float)` - at `\$(?P<path>[^`]+)`"
)
_STEP = re.compile(r"\.(?P<name>\w+)|\[(?P<index>\d+)\]|(?P<values>\[\.\.\.\])")


def convert(value: object, shape: type[T]) -> T:
    """Numbers may be texts, and texts may be numbers; raises msgspec.ValidationError."""
    for attempt in range(MAX_TEXTS):
        try:
            return msgspec.convert(value, shape, strict=False)
        except msgspec.ValidationError as fault:
            place = _NUMBER_FOR_TEXT.fullmatch(str(fault))
            if place is None:
                raise
            if attempt == 0:
                # The caller may read its value again.
                value = copy.deepcopy(value)
            if not _write_text(value, place["path"]):
                raise
    return msgspec.convert(value, shape, strict=False)


def _write_text(value: object, path: str) -> bool:
    """Replace the number at this path; False if there is none."""
    *steps, last = _STEP.finditer(path)
    for step in steps:
        value = _member(value, step)
    if isinstance(value, list):
        return _replace_numbers(value, [int(last["index"])])
    if isinstance(value, dict):
        return _replace_numbers(value, [*value] if last["values"] else [last["name"]])
    return False


def _member(value: object, step: re.Match[str]) -> object:
    if isinstance(value, dict):
        return value.get(step["name"])
    return value[int(step["index"])] if isinstance(value, list) else None


def _replace_numbers(value: dict[Any, Any] | list[Any], keys: list[Any]) -> bool:
    numbers = [key for key in keys if type(value[key]) in (int, float)]
    for key in numbers:
        value[key] = json_text.compact(value[key])
    return bool(numbers)
