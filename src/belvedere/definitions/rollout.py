"""Applies a definition: hosts with the tag have what it says, other hosts do not."""

from collections.abc import Collection

from belvedere import events
from belvedere.access import Actor
from belvedere.access.actor import trigger_actor
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Refused
from belvedere.db import Tx
from belvedere.definitions import store
from belvedere.definitions.managed_kinds import MANAGED_KINDS, delete_object
from belvedere.definitions.model import DefinitionRow
from belvedere.hosts import managed_objects
from belvedere.hosts import store as hosts
from belvedere.hosts.managed_objects import Instance


def roll_out(tx: Tx, keys: Keyring, actor: Actor, row: DefinitionRow) -> None:
    """Create what is missing, change what is outdated, delete the rest. The row is locked."""
    host_ids = [host.id for host in hosts.for_tag(tx, row.customer_id, row.host_tag)]
    instances = managed_objects.for_definition(tx, row.id)
    for host_id in host_ids:
        _apply(tx, keys, actor, row, host_id, instances.get(host_id))
    _delete_from_others(tx, actor, row, host_ids, instances)


def _apply(
    tx: Tx, keys: Keyring, actor: Actor, row: DefinitionRow, host_id: str, instance: Instance | None
) -> None:
    kind = MANAGED_KINDS[row.kind]
    if instance is None:
        object_id = kind.create(tx, keys, actor, row.definition, host_id)
        created = Instance(row.id, host_id, row.kind, object_id, row.version)
        managed_objects.insert(tx, created)
    elif instance.version != row.version:
        kind.change(tx, actor, instance.object_id, row.definition)
        managed_objects.set_version(tx, instance, row.version)


def _delete_from_others(
    tx: Tx,
    actor: Actor,
    row: DefinitionRow,
    host_ids: Collection[str],
    instances: dict[str, Instance],
) -> None:
    for host_id, instance in instances.items():
        if host_id in host_ids:
            continue
        managed_objects.release(tx, instance)
        if not delete_object(tx, actor, instance):
            # A workflow or webhook runs it: it stays, independent of the definition.
            data = {"kind": row.kind, "object_id": instance.object_id, "host_id": host_id}
            events.append(tx, row.customer_id, "definition.released", row.id, data)


def roll_out_all(tx: Tx, keys: Keyring, customer_id: str) -> None:
    """Apply all definitions of a customer after its hosts or their tags have changed."""
    name = tx.value("select name from customers where id = ?", customer_id)
    actor = trigger_actor(customer_id, name)
    for row in store.lock_all(tx, customer_id):
        try:
            # Before the first write: a definition that is no longer valid must not block others.
            MANAGED_KINDS[row.kind].prepare(tx, actor, row.definition, row.definition)
        except Refused as refusal:
            data = {"name": row.name, "reason": refusal.message}
            events.append(tx, customer_id, "definition.stalled", row.id, data)
        else:
            roll_out(tx, keys, actor, row)
