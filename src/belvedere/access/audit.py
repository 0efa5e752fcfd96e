"""The audit log: who did what, from where, with the values before and after. Never a secret."""

import re
from dataclasses import replace
from typing import Any

import msgspec

from belvedere.access import history_lists
from belvedere.access.actor import Actor
from belvedere.access.history_lists import HistoryScope, HistoryTable
from belvedere.access.id_ranges import TimeField
from belvedere.base.clock import Millis
from belvedere.base.ids import new_id
from belvedere.base.text.credentials import MASK, is_named_secret, mask_value, replace_in_text
from belvedere.db import Tx, columns
from belvedere.rest.listing import PREFIX, Condition, Field, FieldKind, Listable, Listing, escaped
from belvedere.rest.pagination import ListPage

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


def read_page(
    tx: Tx,
    actor: Actor,
    listing: Listing,
    count_limit: int | None,
    row_limit: int | None,
    size: int = 0,
    max_bytes: int | None = None,
) -> ListPage[AuditRow]:
    """One step of a list; see `searches.read_list`."""
    object_id = next((c for c in listing.conditions if c.field == "object_id"), None)
    table, scope = _BY_CUSTOMER, HistoryScope((actor.customer_id,))
    if object_id is not None:
        table = _BY_OBJECT
        scope = HistoryScope((str(object_id.values[0]),), {"customer_id": actor.customer_id})
        others = tuple(c for c in listing.conditions if c is not object_id)
        listing = replace(listing, conditions=others)
    table = replace(table, max_bytes=max_bytes)
    return history_lists.read_page(tx, table, scope, listing, count_limit, row_limit, size)


AUDIT = Listable(
    fields={
        "id": Field("id"),
        "date": Field("at", FieldKind.TIME),
        "user": Field("actor_name"),
        "kind": Field("actor_kind"),
        "action": Field("action"),
        "object": Field("object"),
        "object_id": Field("object_id"),
    },
    newest_first=True,
    most=MAX_PAGE,
)
_BY_CUSTOMER = HistoryTable(
    AuditRow,
    "audit",
    ("customer_id",),
    TimeField("date"),
    size="coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0)",
)
_BY_OBJECT = replace(_BY_CUSTOMER, scope=("object_id",))


def to_listing(filters: AuditFilter, limit: int) -> Listing:
    conditions = (
        ("date", "$gte", filters.since),
        ("date", "$lt", filters.until),
        ("object_id", "$eq", filters.object_id),
        ("object", "$eq", filters.object),
        ("kind", "$eq", filters.kind),
        ("action", PREFIX, f"{escaped(filters.action)}%" if filters.action else ""),
        ("user", "$text", f"%{escaped(filters.user.lower())}%" if filters.user else ""),
    )
    return Listing(
        AUDIT,
        tuple(
            Condition(name, operator, (value,))
            for name, operator, value in conditions
            if value not in ("", None)
        ),
        limit=min(limit, MAX_PAGE),
        after=filters.after or None,
    )


def without_secrets(value: object) -> object:
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
