"""A person's settings of the console: one JSON object, the same in every organization."""

from typing import Any

import msgspec

from belvedere.access.actor import Actor, require_person
from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx

MAX_BYTES = 32 * 1024


def find(tx: Tx, actor: Actor) -> dict[str, Any]:
    """The settings of a person; empty for other actors."""
    text = tx.value("select settings from preferences where user_id = ?", actor.user_id)
    settings: dict[str, Any] = {} if text is None else msgspec.json.decode(text)
    return settings


def find_own(tx: Tx, actor: Actor) -> dict[str, Any]:
    require_person(actor)
    return find(tx, actor)


def replace(tx: Tx, actor: Actor, settings: dict[str, Any]) -> dict[str, Any]:
    """Replace all settings."""
    require_person(actor)
    text = msgspec.json.encode(settings).decode()
    if len(text.encode()) > MAX_BYTES:
        raise _invalid_settings(f"At most {MAX_BYTES} bytes are allowed.")
    tx.execute(
        "insert into preferences (user_id, settings, updated_at) values (?, ?, ?)"
        " on conflict (user_id) do update set settings = excluded.settings,"
        " updated_at = excluded.updated_at",
        *(actor.user_id, text, tx.now),
    )
    return settings


def _invalid_settings(message: str) -> Invalid:
    return Invalid(
        f"settings: {message}", code="invalid_body", faults=(Fault("settings", message),)
    )
