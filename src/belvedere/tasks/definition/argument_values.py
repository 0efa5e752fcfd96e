"""Validates the values of a run against the arguments of its task, all or nothing."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx
from belvedere.files import quota, store_content
from belvedere.tasks.definition.argument_types import (
    FileValue,
    InvalidArgument,
    Value,
    convert,
    fixed_value,
)
from belvedere.tasks.model import MASK, Argument, ArgumentKind

MAX_EACH = 128 * 1024
MAX_ALL = 1024 * 1024
# In one response.
MAX_FAULTS = 10
# No value at this position.
_NOTHING = object()


def fit(
    definitions: Sequence[Argument],
    raw_values: Sequence[Any],
    *,
    by_index: bool = False,
    ignores_extra: bool = False,
) -> list[Value]:
    """The full list of values, one for each definition; raises Invalid with all faults.

    `by_index` is for webhook payloads and workflow outputs: element n is argument n, and
    surplus elements are ignored.
    """
    if ignores_extra:
        raw_values = raw_values[: accepted_count(definitions, len(raw_values))]
    placed = _by_index(definitions, raw_values) if by_index else _placed(definitions, raw_values)
    values: list[Value] = []
    faults: list[Fault] = []
    for index, (definition, value) in enumerate(zip(definitions, placed, strict=True)):
        try:
            values.append(_fit_one(definition, value, by_index))
        except InvalidArgument as fault:
            faults.append(Fault(_field(index), f"{_name(index, definition)} {fault}."))
    if faults:
        raise _invalid_arguments("bad_arguments", faults)
    _check_total(values)
    return values


def accepted_count(definitions: Sequence[Argument], count: int) -> int:
    """How many of `count` values have an argument. A list that is longer than all definitions is
    matched by index, a shorter one fills the arguments that are not fixed."""
    if count > len(definitions):
        return len(definitions)
    if count == len(definitions):
        return count
    return min(count, sum(definition.type is not ArgumentKind.FIXED for definition in definitions))


def store_files(tx: Tx, customer_id: str, values: Sequence[Value]) -> list[str | dict[str, str]]:
    """The values as a job stores them: files by the hash of their content."""
    return [
        value if isinstance(value, str) else _store_file(tx, customer_id, value) for value in values
    ]


def _store_file(tx: Tx, customer_id: str, file: FileValue) -> dict[str, str]:
    quota.check_room(tx, customer_id)
    sha256 = store_content(tx, file.content)
    quota.note_argument(tx, customer_id, sha256, len(file.content))
    # The digest first: the search for unused contents looks for the beginning of this object.
    return {"blob": sha256, "filename": file.filename, "mimetype": file.mimetype}


def mask_values(definitions: Sequence[Argument], values: Sequence[Any]) -> list[Any]:
    """The values with `MASK` in place of masked ones."""
    hidden = {index for index, definition in enumerate(definitions) if definition.masked}
    return [MASK if index in hidden else value for index, value in enumerate(values)]


def takes_one(definitions: Sequence[Argument]) -> bool:
    """Whether callers set exactly one argument."""
    return sum(definition.type is not ArgumentKind.FIXED for definition in definitions) == 1


def _placed(definitions: Sequence[Argument], values: Sequence[Any]) -> list[Any]:
    """The value for each definition; callers send values for all definitions or for those that
    are not fixed."""
    free = [
        n for n, definition in enumerate(definitions) if definition.type is not ArgumentKind.FIXED
    ]
    if len(values) == len(free):
        placed: list[Any] = [_NOTHING] * len(definitions)
        for index, value in zip(free, values, strict=True):
            placed[index] = value
        return placed
    if len(values) == len(definitions):
        return list(values)
    if len(values) < len(free):
        missing = free[len(values) :]
        faults = [Fault(_field(n), f"{_name(n, definitions[n])} is missing.") for n in missing]
        raise _invalid_arguments("missing_arguments", faults)
    plural = "argument" if len(free) == 1 else "arguments"
    message = f"The task takes {len(free)} {plural}, but {len(values)} were sent."
    extra = [
        Fault(_field(n), message)
        for n in range(len(free), min(len(values), len(free) + MAX_FAULTS))
    ]
    raise Invalid(message, code="too_many_arguments", faults=tuple(extra))


def _by_index(definitions: Sequence[Argument], values: Sequence[Any]) -> list[Any]:
    faults = [
        Fault(_field(n), f"{_name(n, definition)} is missing.")
        for n, definition in enumerate(definitions)
        if n >= len(values)
        and definition.required is not False
        and definition.type is not ArgumentKind.FIXED
    ]
    if faults:
        raise _invalid_arguments("missing_arguments", faults)
    padded = [*values, *([_NOTHING] * len(definitions))]
    return padded[: len(definitions)]


def _fit_one(definition: Argument, value: object, by_index: bool) -> Value:
    if definition.type is ArgumentKind.FIXED:
        return _checked(fixed_value(definition))
    if value is _NOTHING:
        return ""
    if value is None or value == "":
        # A null in a payload is a value; a null from a form is an empty field.
        if _must_have_value(definition, value) and not (by_index and value is None):
            raise InvalidArgument("is required")
        if value == "" or definition.required is False:
            return "" if value == "" else "null"
    return _checked(convert(definition, value))


def _must_have_value(definition: Argument, value: object) -> bool:
    return definition.required is True or (definition.required is UNSET and value is None)


def _checked(value: Value) -> Value:
    if isinstance(value, FileValue):
        return value
    if "\0" in value:
        raise InvalidArgument("contains a NUL, which cannot be passed to a program")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidArgument("contains an unpaired surrogate") from None
    if size > MAX_EACH:
        raise InvalidArgument(f"has {size} bytes; the limit is {MAX_EACH}")
    return value


def _check_total(values: Sequence[Value]) -> None:
    total = sum(len(value.encode()) for value in values if isinstance(value, str))
    if total > MAX_ALL:
        message = f"The arguments have {total} bytes in total; the limit is {MAX_ALL}."
        raise Invalid(message, code="bad_arguments", faults=(Fault("task_arguments", message),))


def _field(index: int) -> str:
    return f"task_arguments[{index}]"


def _name(index: int, definition: Argument) -> str:
    """People count from 1, like the table of arguments; `task_arguments[0]` is for programs."""
    number = index + 1
    return f"Argument {number} ({definition.label})" if definition.label else f"Argument {number}"


def _invalid_arguments(code: str, faults: Sequence[Fault]) -> Invalid:
    message = faults[0].message
    if len(faults) > 1:
        verb = "is" if len(faults) == 2 else "are"
        message += f" {len(faults) - 1} more {verb} invalid."
    return Invalid(message, code=code, faults=tuple(faults))
