"""Values that are encrypted inside a column that also holds other values.

Three formats: a JSON object whose first member is the sealed text (the members that are inside it
have masks as values), a text that is sealed completely, and elements of a list. A database without
keys (`tx.sealer` is None: tools that only read) writes clear text and returns masks.
"""

import logging
from collections.abc import Sequence
from typing import Any, TypeGuard

import msgspec

from belvedere.base.errors import Unavailable
from belvedere.base.text.credentials import MASK
from belvedere.db import Sealer, Tx

log = logging.getLogger("belvedere.keys")
NAME = "$sealed"
OBJECT, TEXT = '{"$sealed":"', "$sealed:"
_encode = msgspec.json.Encoder().encode
_object = msgspec.json.Decoder(dict[str, Any]).decode


def seal_object(tx: Tx, context: str, text: str, masks: dict[str, Any]) -> str:
    """A JSON object with `masks` as the values of these members, and the real values sealed."""
    if tx.sealer is None or not masks:
        return text
    clear = _object(text)
    hidden = {name: clear[name] for name in masks if name in clear and clear[name] != masks[name]}
    if not hidden:
        return text
    box = tx.sealer.seal(_encode(hidden).decode(), context)
    public = {**clear, **{name: masks[name] for name in hidden}}
    return _encode({NAME: box, **public}).decode()


def open_object(tx: Tx, context: str, text: str) -> str:
    """The same object in clear."""
    if not text.startswith(OBJECT):
        return text
    members = _object(text)
    hidden = _unseal(tx.sealer, context, members.pop(NAME))
    return _encode({**members, **(_object(hidden) if hidden else {})}).decode()


def seal_text(tx: Tx, context: str, text: str) -> str:
    return text if tx.sealer is None else TEXT + tx.sealer.seal(text, context)


def open_text(tx: Tx, context: str, text: str, default: str) -> str:
    """The text in clear; `default` where it cannot be read."""
    if not text.startswith(TEXT):
        return text
    clear = _unseal(tx.sealer, context, text.removeprefix(TEXT))
    return default if clear is None else clear


def values_context(customer_id: str) -> str:
    """Values of arguments are copied from job to job, but only inside their organization."""
    return f"argument/{customer_id}"


def seal_values(tx: Tx, customer_id: str, values: Sequence[Any], places: set[int]) -> list[Any]:
    """A list of arguments; the texts at these places are sealed."""
    if tx.sealer is None:
        return list(values)
    context = values_context(customer_id)
    return [
        {NAME: tx.sealer.seal(value, context)}
        if n in places and isinstance(value, str) and value
        else value
        for n, value in enumerate(values)
    ]


def open_values(sealer: Sealer | None, customer_id: str, values: Sequence[Any]) -> list[Any]:
    """The same list in clear. A value that only looks like a sealed one is returned unchanged."""
    return [
        _open_value(sealer, customer_id, value) if is_value(value) else value for value in values
    ]


def is_value(value: object) -> TypeGuard[dict[str, str]]:
    return isinstance(value, dict) and value.keys() == {NAME} and isinstance(value[NAME], str)


def _open_value(
    sealer: Sealer | None, customer_id: str, value: dict[str, str]
) -> str | dict[str, str]:
    clear = _unseal(sealer, values_context(customer_id), value[NAME])
    return value if clear is None else clear


def mask_values(values: Sequence[Any]) -> list[Any]:
    return [MASK if is_value(value) else value for value in values]


def _unseal(sealer: Sealer | None, context: str, box: str) -> str | None:
    if sealer is None:
        return None
    try:
        return sealer.unseal(box, context)
    except Unavailable:
        # One value that was tampered with must not stop the work of others.
        log.error("sealed value cannot be decrypted; using its mask context=%s", context)
        return None
