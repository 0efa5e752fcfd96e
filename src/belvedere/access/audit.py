"""The audit log: who did what, from where, with the values before and after. Never a secret."""

import re
from itertools import takewhile
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.base.clock import HOUR, Millis
from belvedere.base.ids import new_id
from belvedere.base.text.credentials import MASK, is_named_secret, mask_value, replace_in_text
from belvedere.db import Tx, columns
from belvedere.rest.listing import escaped
from belvedere.rest.response_budget import RECORD_BYTES, Budget

# Fields that are left out like those of credentials: our own sealed values.
_INNER_FIELDS = frozenset({"box", "sealed"})
# Our own credentials, anywhere in a text.
_CREDENTIAL = re.compile(r"bv[taselpfb]_[A-Za-z0-9_\-.~]{32,}")

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
    """Add an audit row in the transaction of the change."""
    tx.execute(
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


class AuditFilter(msgspec.Struct):
    """Which audit rows a request asks for. An empty field does not filter."""

    # The last id of the previous page.
    after: str = ""
    # A part of the actor's name.
    user: str = ""
    kind: str = ""
    # The action or a prefix of it.
    action: str = ""
    object: str = ""
    object_id: str = ""
    since: Millis | None = None
    until: Millis | None = None


def list_entries(
    tx: Tx,
    actor: Actor,
    limit: int = 100,
    filters: AuditFilter | None = None,
    budget: Budget | None = None,
) -> list[AuditRow]:
    """Newest first; fewer than the limit where more would be too many bytes."""
    return list_page(tx, actor, limit, filters, budget)[0]


def list_page(
    tx: Tx,
    actor: Actor,
    limit: int = 100,
    filters: AuditFilter | None = None,
    budget: Budget | None = None,
) -> tuple[list[AuditRow], bool]:
    """The same, and whether it ends early because more would be too many bytes."""
    conditions = _conditions(filters or AuditFilter())
    tests = [(test, value) for test, value in conditions if value not in ("", None)]
    where = "".join(f" and {test}" for test, _ in tests)
    clauses = f"from audit where customer_id = ?{where} order by id desc limit ?"
    params = (actor.customer_id, *(value for _, value in tests))
    sizes = tx.rows(f"select {_SIZE} {clauses}", *params, min(limit, MAX_PAGE))
    budget = budget or Budget()
    count = len(list(takewhile(budget.takes, (size for (size,) in sizes))))
    rows = tx.all(AuditRow, f"select {columns(AuditRow)} {clauses}", *params, count)
    return rows, count < len(sizes)


_SIZE = f"coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0) + {RECORD_BYTES}"


def _conditions(filters: AuditFilter) -> list[tuple[str, Any]]:
    # Ids grow with time, and the index is theirs; clocks may disagree by a little.
    oldest = None if filters.since is None else f"{max(filters.since - HOUR, 0):012x}"
    user = f"%{escaped(filters.user.lower())}%" if filters.user else ""
    action = f"{escaped(filters.action)}%" if filters.action else ""
    return [
        ("id < ?", filters.after),
        ("id >= ?", oldest),
        ("at >= ?", filters.since),
        ("at < ?", filters.until),
        ("object_id = ?", filters.object_id),
        ("object = ?", filters.object),
        ("actor_kind = ?", filters.kind),
        ("action like ? escape '\\'", action),
        ("lower(actor_name) like ? escape '\\'", user),
    ]


def without_secrets(value: Any) -> Any:
    """The same value, without fields with secret names, and with our own credentials masked."""
    if isinstance(value, dict):
        return {
            key: without_secrets(item) for key, item in value.items() if not _is_secret(str(key))
        }
    if isinstance(value, list | tuple):
        return [without_secrets(item) for item in value]
    return (
        replace_in_text(_CREDENTIAL.sub(MASK, value), mask_value)
        if isinstance(value, str)
        else value
    )


def _is_secret(field: str) -> bool:
    return is_named_secret(field) or "digest" in field.lower() or field in _INNER_FIELDS


def _text(value: dict[str, Any] | None) -> str | None:
    if value is None:
        return None
    return msgspec.json.encode(without_secrets(msgspec.to_builtins(value))).decode()
