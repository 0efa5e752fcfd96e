"""Arguments of a command without their credentials, and the way back.

An argument has no name of its own, so its neighbours decide: `--password x`, `--api-key=x`,
`DB_PASSWORD=x`, and the credentials of an address in it.
"""

import re
from collections.abc import Sequence

from belvedere.base.text import request_masking
from belvedere.base.text.credentials import MASK, Hide, in_text, is_credential, is_reference, masked

_NAMED = re.compile(r"(-{0,2}[A-Za-z_][A-Za-z0-9_.-]{0,127})=(.*)", re.DOTALL)
_OPTION = re.compile(r"--?[A-Za-z][A-Za-z0-9_.-]{0,127}")


def shown(arguments: Sequence[str]) -> list[str]:
    return _replaced(arguments, masked)


def restored(given: Sequence[str], old: Sequence[str]) -> list[str]:
    """The arguments that were sent, with the stored values where they carry masks."""
    stored: dict[str, list[str]] = {}
    before = shown(old)
    for hidden, argument in zip(_keys(before), old, strict=True):
        stored.setdefault(hidden, []).append(argument)
    return [
        stored[key].pop(0) if MASK in argument and stored.get(key) else argument
        for key, argument in zip(_keys(given), given, strict=True)
    ]


def has_mask(arguments: Sequence[str]) -> bool:
    """Whether one of them is still the mask of a value that nobody sent."""
    masks: list[str] = []

    def collect(_: str, value: str) -> str:
        masks.extend([value] if value == MASK else [])
        return value

    _replaced(arguments, collect)
    return bool(masks)


def literals(arguments: Sequence[str]) -> list[str]:
    """Every credential that is written out, in the forms in which output may repeat it."""
    values: list[str] = []

    def collect(_: str, value: str) -> str:
        if value and not is_reference(value):
            values.extend(request_masking.spellings(value))
        return value

    _replaced(arguments, collect)
    return list(dict.fromkeys(values))


def _keys(arguments: Sequence[str]) -> list[str]:
    """What finds a stored argument again: itself, and the option before it."""
    before = ["", *arguments[:-1]] if arguments else []
    return [
        f"{option if _OPTION.fullmatch(option) else ''}\0{argument}"
        for option, argument in zip(before, arguments, strict=True)
    ]


def _replaced(arguments: Sequence[str], hide: Hide) -> list[str]:
    before = ["", *arguments[:-1]] if arguments else []
    return [_argument(a, one, hide) for a, one in zip(before, arguments, strict=True)]


def _argument(before: str, argument: str, hide: Hide) -> str:
    if (pair := _NAMED.fullmatch(argument)) is not None and is_credential(pair[1]):
        return f"{pair[1]}={hide(pair[1], pair[2])}"
    is_value = _OPTION.fullmatch(before) is not None and is_credential(before)
    if is_value and not _OPTION.fullmatch(argument):
        return hide(before, argument)
    return in_text(argument, hide)
