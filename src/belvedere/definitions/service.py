"""Operations on definitions: create, change, delete, list."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor, Level, audit, require
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Invalid, Stale
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.definitions import store
from belvedere.definitions.managed_kinds import MANAGED_KINDS
from belvedere.definitions.model import DefinitionKind, DefinitionRow, DefinitionView
from belvedere.definitions.rollout import roll_out
from belvedere.hosts import managed_objects
from belvedere.hosts import store as hosts
from belvedere.rest import text_fields
from belvedere.rest.listing import Listing


class DefinitionBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a task or monitor without a host, and the tag of its hosts."""

    kind: str
    host_tag: str
    definition: dict[str, Any]


def create(tx: Tx, keys: Keyring, actor: Actor, request_body: DefinitionBody) -> DefinitionView:
    """Create it on every host with the tag, now and later."""
    require(actor, Level.ADMIN)
    if request_body.kind not in set(DefinitionKind):
        raise text_fields.invalid_field("kind", f"Must be one of {', '.join(DefinitionKind)}.")
    tag = text_fields.line("host_tag", request_body.host_tag, most=text_fields.MAX_TAG, least=1)
    body = MANAGED_KINDS[request_body.kind].prepare(tx, actor, request_body.definition, None)
    row = DefinitionRow(
        new_id(), actor.customer_id, request_body.kind, tag, body["name"], "", 1, tx.now, tx.now
    )
    row.body = _text(body)
    store.insert(tx, row)
    _record_change(tx, actor, row, "created", None)
    roll_out(tx, keys, actor, row)
    return _view(tx, row)


def change(
    tx: Tx,
    keys: Keyring,
    actor: Actor,
    definition_id: str,
    request_body: DefinitionBody,
    version: int | None,
) -> DefinitionView:
    """Change the definition, and the objects on all hosts in the same transaction."""
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, definition_id, lock=True)
    if version is not None and version != row.version:
        raise Stale(f"The definition is now at version {row.version}; reload it and try again.")
    before = _audit_fields(row)
    old = row.definition
    if (
        request_body.kind != row.kind
        or request_body.definition.get("type", old["type"]) != old["type"]
    ):
        raise Invalid(
            f"The kind and type of a definition cannot change ({row.kind}, {old['type']}).",
            code="type_fixed",
        )
    row.host_tag = text_fields.line(
        "host_tag", request_body.host_tag, most=text_fields.MAX_TAG, least=1
    )
    body = MANAGED_KINDS[row.kind].prepare(
        tx, actor, {"type": old["type"], **request_body.definition}, old
    )
    row.name, row.body = body["name"], _text(body)
    row.version += 1
    row.updated_at = tx.now
    store.save(tx, row)
    _record_change(tx, actor, row, "changed", before)
    roll_out(tx, keys, actor, row)
    return _view(tx, row)


def delete(
    tx: Tx, actor: Actor, definition_id: str, *, keeps_objects: bool = False
) -> DefinitionView:
    """Delete it with everything it created; refused while something else uses one of those. With
    `keeps_objects` they stay, independent of it."""
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, definition_id, lock=True)
    view = _view(tx, row)
    for instance in view.instances.values():
        managed_objects.release(tx, instance)
        if not keeps_objects:
            MANAGED_KINDS[row.kind].delete(tx, actor, instance.object_id)
    store.mark_deleted(tx, row)
    _record_change(tx, actor, row, "deleted", _audit_fields(row))
    return view


def show(tx: Tx, actor: Actor, definition_id: str) -> DefinitionView:
    require(actor, Level.ADMIN)
    return _view(tx, store.find(tx, actor.customer_id, definition_id))


def list_page(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[DefinitionView], int | None]:
    require(actor, Level.ADMIN)
    total = store.count(tx, actor.customer_id, listing) if listing.count else None
    return [_view(tx, row) for row in store.select_page(tx, actor.customer_id, listing)], total


def _view(tx: Tx, row: DefinitionRow) -> DefinitionView:
    instances = managed_objects.for_definition(tx, row.id)
    body = MANAGED_KINDS[row.kind].masked(row.definition)
    return DefinitionView(row, body, instances, _hostnames(tx, row.customer_id, list(instances)))


def _hostnames(tx: Tx, customer_id: str, host_ids: Sequence[str]) -> dict[str, str]:
    if not host_ids:
        return {}
    return {host.id: host.hostname for host in hosts.by_ids(tx, customer_id, list(host_ids))}


def _text(body: dict[str, Any]) -> str:
    return msgspec.json.encode(body).decode()


def _audit_fields(row: DefinitionRow) -> dict[str, Any]:
    """What it creates is audited by itself; this records that the definition changed."""
    return {"kind": row.kind, "host_tag": row.host_tag, "name": row.name, "version": row.version}


_AUDIT_ACTIONS = {"created": "create", "changed": "change", "deleted": "delete"}


def _record_change(
    tx: Tx, actor: Actor, row: DefinitionRow, event: str, before: dict[str, Any] | None
) -> None:
    after = None if event == "deleted" else _audit_fields(row)
    audit.record(
        tx, actor, f"definition.{_AUDIT_ACTIONS[event]}", "definition", row.id, before, after
    )
    events.append(tx, row.customer_id, f"definition.{event}", row.id, _audit_fields(row))
