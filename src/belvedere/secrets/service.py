"""Operations of admins on secrets: set, delete, list. Values of secrets are never returned."""

from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor, Level, audit, require
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.customers import service as customers
from belvedere.base.errors import Conflict, Stale
from belvedere.base.ids import is_id, new_id
from belvedere.db import Tx
from belvedere.db.ports import Port
from belvedere.rest import text_fields
from belvedere.rest.listing import Listing
from belvedere.secrets import store
from belvedere.secrets.model import MAX_MANY, MAX_TOTAL, SecretRow, check_name, check_value

# (organization, task): lock the task; False if there is none.
lock_task: Port[[Tx, str, str], bool] = Port("secrets.lock_task")


class SecretBody(msgspec.Struct, forbid_unknown_fields=True):
    """A value by its name. `secret: false` makes it a variable, which may be read again."""

    value: str
    secret: bool = True
    task_id: str | None = None
    description: str | None = None


class SecretView(msgspec.Struct):
    """A secret without its value; a variable with it."""

    row: SecretRow
    value: str | None


def put(
    tx: Tx, keys: Keyring, actor: Actor, name: str, body: SecretBody, if_match: int | None = None
) -> SecretView:
    """Create a secret, or set its value: scripts that start later get the new value."""
    require(actor, Level.ADMIN)
    check_name(name)
    check_value(body.value, is_secret=body.secret)
    # Lock the task before the organization, as everywhere: this avoids deadlocks.
    task_id = _task(tx, actor, body.task_id)
    customers.bump_secrets_version(tx, actor.customer_id)
    old = store.look_up(tx, actor.customer_id, task_id, name)
    if if_match is not None and if_match != (old.version if old else 0):
        raise Stale("The secret was changed in the meantime; list it again.")
    row = old or _new_row(tx, actor, task_id, name)
    before = None if old is None else _audit_fields(old)
    _write(tx, keys, actor, row, body)
    _check_limits(tx, row)
    if old is None:
        store.insert(tx, row)
    else:
        row.version += 1
        store.save(tx, row)
    audit.record(tx, actor, "secret.set", "secret", row.id, before, _audit_fields(row))
    events.append(tx, actor.customer_id, "secret.changed", row.id, _event(row))
    return _view(keys, row)


def delete(tx: Tx, keys: Keyring, actor: Actor, name: str, task_id: str | None) -> SecretView:
    require(actor, Level.ADMIN)
    customers.bump_secrets_version(tx, actor.customer_id)
    row = store.look_up(tx, actor.customer_id, task_id or "", name)
    if row is None:
        raise store.not_found()
    store.delete(tx, row)
    audit.record(tx, actor, "secret.delete", "secret", row.id, _audit_fields(row), None)
    events.append(tx, actor.customer_id, "secret.deleted", row.id, _event(row))
    return _view(keys, row)


def list_page(tx: Tx, keys: Keyring, actor: Actor, listing: Listing) -> list[SecretView]:
    require(actor, Level.ADMIN)
    return [_view(keys, row) for row in store.select_page(tx, actor.customer_id, listing)]


def delete_for_task(tx: Tx, customer_id: str, task_id: str) -> None:
    """Delete the secrets of a deleted task."""
    gone = [row for row in store.for_customer(tx, customer_id) if row.task_id == task_id]
    if gone:
        customers.bump_secrets_version(tx, customer_id)
    for row in gone:
        store.delete(tx, row)
        events.append(tx, customer_id, "secret.deleted", row.id, _event(row))


def _task(tx: Tx, actor: Actor, task_id: str | None) -> str:
    """The id of a task of this organization, which is locked."""
    if not task_id:
        return ""
    if not is_id(task_id) or not lock_task(tx, actor.customer_id, task_id):
        raise text_fields.invalid_field("task_id", "There is no such task.")
    return task_id


def _new_row(tx: Tx, actor: Actor, task_id: str, name: str) -> SecretRow:
    return SecretRow(
        id=new_id(),
        customer_id=actor.customer_id,
        task_id=task_id,
        name=name,
        is_secret=1,
        box="",
        size=0,
        description="",
        updated_by="",
        version=1,
        created_at=tx.now,
        updated_at=tx.now,
    )


def _write(tx: Tx, keys: Keyring, actor: Actor, row: SecretRow, body: SecretBody) -> None:
    row.is_secret = int(body.secret)
    row.box = keys.seal(body.value, row.seal_context)
    row.size = len(body.value.encode())
    if body.description is not None:
        row.description = text_fields.line("description", body.description)
    row.updated_by = actor.email or actor.username or actor.kind
    row.updated_at = tx.now


def _check_limits(tx: Tx, row: SecretRow) -> None:
    """The environment of a process is limited."""
    others = [
        secret
        for secret in store.for_customer(tx, row.customer_id)
        if secret.task_id == row.task_id and secret.name != row.name
    ]
    if len(others) >= MAX_MANY or sum(secret.size for secret in others) + row.size > MAX_TOTAL:
        raise Conflict(
            f"An organization and each task can have {MAX_MANY} secrets of {MAX_TOTAL} bytes"
            " in total; delete one first.",
            code="too_many_secrets",
        )


def _view(keys: Keyring, row: SecretRow) -> SecretView:
    return SecretView(row, None if row.is_secret else keys.unseal(row.box, row.seal_context))


def _event(row: SecretRow) -> dict[str, Any]:
    return {"name": row.name, "task_id": row.task_id or None, "version": row.version}


def _audit_fields(row: SecretRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "task_id": row.task_id or None,
        "kind": "secret" if row.is_secret else "variable",
        "description": row.description,
        "version": row.version,
    }
