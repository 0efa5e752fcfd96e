"""Fitting the values that were given to the definitions of a task, all or nothing."""

from collections.abc import Sequence
from typing import Any

from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx
from belvedere.files import quota, store_content
from belvedere.tasks.definition.argument_types import FileValue, Unfit, Value, fitted, fixed
from belvedere.tasks.model import MASK, Argument, ArgumentKind

MAX_EACH = 128 * 1024
MAX_ALL = 1024 * 1024
# Values too many that are named one by one.
MAX_FAULTS = 10
# No value at this place.
_NOTHING = object()


def fit(
    definitions: Sequence[Argument], raw_values: Sequence[Any], *, by_index: bool = False
) -> list[Value]:
    """The full list of values by index over all definitions; Invalid names each that is wrong.

    `by_index` is for webhook payloads and workflow outputs: element n is argument n, and what
    goes beyond the definitions is ignored.
    """
    placed = _by_index(definitions, raw_values) if by_index else _placed(definitions, raw_values)
    values: list[Value] = []
    faults: list[Fault] = []
    for index, (definition, value) in enumerate(zip(definitions, placed, strict=True)):
        try:
            values.append(_fit_one(definition, value, by_index))
        except Unfit as fault:
            faults.append(Fault(_field(index), f"{_name(index, definition)} {fault}."))
    if faults:
        raise _refusal("bad_arguments", faults)
    _check_total(values)
    return values


def keep_files(tx: Tx, customer_id: str, values: Sequence[Value]) -> list[str | dict[str, str]]:
    """The values as a job keeps them: files by the hash of their content."""
    return [
        value if isinstance(value, str) else _keep_file(tx, customer_id, value) for value in values
    ]


def _keep_file(tx: Tx, customer_id: str, file: FileValue) -> dict[str, str]:
    quota.check_room(tx, customer_id)
    sha256 = store_content(tx, file.content)
    quota.note_argument(tx, customer_id, sha256, len(file.content))
    return {"blob": sha256, "filename": file.filename}


def masked(definitions: Sequence[Argument], values: Sequence[Any]) -> list[Any]:
    """The values as anybody may see them."""
    hidden = {index for index, definition in enumerate(definitions) if definition.masked}
    return [MASK if index in hidden else value for index, value in enumerate(values)]


def takes_one(definitions: Sequence[Argument]) -> bool:
    """Whether there is exactly one that a caller fills."""
    return sum(definition.type is not ArgumentKind.FIXED for definition in definitions) == 1


def _placed(definitions: Sequence[Argument], values: Sequence[Any]) -> list[Any]:
    """Values in the order of the non-fixed definitions, or of all of them."""
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
        raise _refusal("missing_arguments", faults)
    extra = [
        Fault(_field(n), f"The task takes {len(free)} arguments; {len(values)} were given.")
        for n in range(len(free), min(len(values), len(free) + MAX_FAULTS))
    ]
    raise _refusal("too_many_arguments", extra)


def _by_index(definitions: Sequence[Argument], values: Sequence[Any]) -> list[Any]:
    faults = [
        Fault(_field(n), f"{_name(n, definition)} is missing.")
        for n, definition in enumerate(definitions)
        if n >= len(values) and definition.required and definition.type is not ArgumentKind.FIXED
    ]
    if faults:
        raise _refusal("missing_arguments", faults)
    padded = [*values, *([_NOTHING] * len(definitions))]
    return padded[: len(definitions)]


def _fit_one(definition: Argument, value: Any, by_index: bool) -> Value:
    if definition.type is ArgumentKind.FIXED:
        return _checked(fixed(definition))
    if value is _NOTHING:
        return ""
    if value is None or value == "":
        # A payload's null was written by somebody and is a value; a form's null is a blank.
        if definition.required and not (by_index and value is None):
            raise Unfit("is required")
        if not definition.required:
            return "" if value == "" else "null"
    return _checked(fitted(definition, value))


def _checked(value: Value) -> Value:
    if isinstance(value, FileValue):
        return value
    if "\0" in value:
        raise Unfit("holds a NUL, which no program can be given")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise Unfit("holds half of a surrogate pair") from None
    if size > MAX_EACH:
        raise Unfit(f"has {size} bytes; at most {MAX_EACH} are possible")
    return value


def _check_total(values: Sequence[Value]) -> None:
    total = sum(len(value.encode()) for value in values if isinstance(value, str))
    if total > MAX_ALL:
        message = f"The arguments have {total} bytes together; at most {MAX_ALL} are possible."
        raise Invalid(message, code="bad_arguments", faults=(Fault("task_arguments", message),))


def _field(index: int) -> str:
    return f"task_arguments[{index}]"


def _name(index: int, definition: Argument) -> str:
    """People count from 1, like the table of arguments; `task_arguments[0]` is for programs."""
    number = index + 1
    return f"Argument {number} ({definition.label})" if definition.label else f"Argument {number}"


def _refusal(code: str, faults: Sequence[Fault]) -> Invalid:
    message = faults[0].message
    if len(faults) > 1:
        message += f" {len(faults) - 1} more do not fit."
    return Invalid(message, code=code, faults=tuple(faults))
