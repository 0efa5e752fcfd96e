"""Who did what, from where, before and after. Never a secret."""

import re
from typing import Any

import msgspec

from belvedere.access.model import Actor
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns

# Names of fields that must not be kept, whatever record they come from.
_SECRET_FIELD = re.compile(
    r"pass(word|wd|phrase)|secret|token|digest|api_?key|private_?key|authorization|cookie|^box$",
    re.IGNORECASE,
)
# Our own credentials, wherever in a text they stand.
_CREDENTIAL = re.compile(r"bv[taselpf]_[A-Za-z0-9_\-.~]{32,}")

MAX_PAGE = 1_000


class AuditRow(msgspec.Struct, frozen=True):
    id: str
    customer_id: str
    at: int
    actor_id: str
    actor_name: str
    actor_kind: str
    address: str
    action: str
    object: str
    object_id: str
    before: str | None
    after: str | None


def record(
    tx: Tx,
    actor: Actor,
    action: str,
    object: str,
    object_id: str,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """Write it down in the transaction that does it."""
    tx.run(
        f"insert into audit ({columns(AuditRow)}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        new_id(),
        actor.customer_id,
        tx.now,
        actor.user_id or actor.credential_id,
        actor.email or actor.username or actor.kind,
        actor.kind,
        actor.address,
        action,
        object,
        object_id,
        _text(before),
        _text(after),
    )


def entries(
    tx: Tx, actor: Actor, limit: int = 100, after: str | None = None, object_id: str | None = None
) -> list[AuditRow]:
    """The newest first; `after` is the last id of the page before."""
    where, params = "customer_id = ?", [actor.customer_id]
    if after is not None:
        where, params = f"{where} and id < ?", [*params, after]
    if object_id is not None:
        where, params = f"{where} and object_id = ?", [*params, object_id]
    return tx.all(
        AuditRow,
        f"select {columns(AuditRow)} from audit where {where} order by id desc limit ?",
        *params,
        min(limit, MAX_PAGE),
    )


def without_secrets(value: Any) -> Any:
    """The same value, fields with secret names left out and our own credentials blotted out."""
    if isinstance(value, dict):
        return {
            key: without_secrets(item)
            for key, item in value.items()
            if not _SECRET_FIELD.search(str(key))
        }
    if isinstance(value, list | tuple):
        return [without_secrets(item) for item in value]
    return _CREDENTIAL.sub("***", value) if isinstance(value, str) else value


def _text(value: dict[str, Any] | None) -> str | None:
    if value is None:
        return None
    return msgspec.json.encode(without_secrets(msgspec.to_builtins(value))).decode()
