"""Mask the credentials in the arguments of a command, and restore them.

An argument has no name, so the text around it decides: `--password x`, `--api-key=x`,
`DB_PASSWORD=x`, and the credentials of a URL in it.
"""

import re
from collections.abc import Sequence

from belvedere.base.text import request_masking
from belvedere.base.text.credentials import (
    MASK,
    Hide,
    is_credential,
    is_reference,
    mask_value,
    replace_in_text,
)

_NAMED = re.compile(r"(-{0,2}[A-Za-z_][A-Za-z0-9_.-]{0,127})=(.*)", re.DOTALL)
_OPTION = re.compile(r"--?[A-Za-z][A-Za-z0-9_.-]{0,127}")


def mask(arguments: Sequence[str]) -> list[str]:
    return _replace(arguments, mask_value)


def restore(arguments: Sequence[str], old: Sequence[str]) -> list[str]:
    """The arguments that were sent, with the stored values in place of masks."""
    stored: dict[str, list[str]] = {}
    before = mask(old)
    for hidden, argument in zip(_keys(before), old, strict=True):
        stored.setdefault(hidden, []).append(argument)
    return [
        stored[key].pop(0) if MASK in argument and stored.get(key) else argument
        for key, argument in zip(_keys(arguments), arguments, strict=True)
    ]


def has_mask(arguments: Sequence[str]) -> bool:
    """Whether one of the arguments is a mask."""
    masks: list[str] = []

    def collect(_: str, value: str) -> str:
        masks.extend([value] if value == MASK else [])
        return value

    _replace(arguments, collect)
    return bool(masks)


def literals(arguments: Sequence[str]) -> list[str]:
    """Every literal credential, in the forms in which output may repeat it."""
    values: list[str] = []

    def collect(_: str, value: str) -> str:
        if value and not is_reference(value):
            values.extend(request_masking.spellings(value))
        return value

    _replace(arguments, collect)
    return list(dict.fromkeys(values))


def _keys(arguments: Sequence[str]) -> list[str]:
    """The keys of stored arguments: the argument and the option before it."""
    before = ["", *arguments[:-1]] if arguments else []
    return [
        f"{option if _OPTION.fullmatch(option) else ''}\0{argument}"
        for option, argument in zip(before, arguments, strict=True)
    ]


def _replace(arguments: Sequence[str], hide: Hide) -> list[str]:
    before = ["", *arguments[:-1]] if arguments else []
    return [_argument(a, argument, hide) for a, argument in zip(before, arguments, strict=True)]


def _argument(before: str, argument: str, hide: Hide) -> str:
    if (pair := _NAMED.fullmatch(argument)) is not None and is_credential(pair[1]):
        return f"{pair[1]}={hide(pair[1], pair[2])}"
    is_value = _OPTION.fullmatch(before) is not None and is_credential(before)
    if is_value and not _OPTION.fullmatch(argument):
        return hide(before, argument)
    return replace_in_text(argument, hide)
