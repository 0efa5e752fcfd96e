"""Keeping in step: what carries the tag has what the definition says, nothing else does."""

from collections.abc import Collection

from belvedere import events
from belvedere.access import Actor
from belvedere.access.actor import starter
from belvedere.access.crypto.keyring import Keys
from belvedere.base.errors import Refused
from belvedere.db import Tx
from belvedere.definitions import store
from belvedere.definitions.managed_kinds import MAKERS, taken_back
from belvedere.definitions.model import DefinitionRow
from belvedere.hosts import managed_objects
from belvedere.hosts import store as hosts
from belvedere.hosts.managed_objects import Instance


def catch_up(tx: Tx, keys: Keys, actor: Actor, row: DefinitionRow) -> None:
    """The definition is held: make what is missing, change what is old, take back the rest."""
    wanted = [host.id for host in hosts.tagged(tx, row.customer_id, row.host_tag)]
    there = managed_objects.of_definition(tx, row.id)
    for host_id in wanted:
        _bring(tx, keys, actor, row, host_id, there.get(host_id))
    _take_back(tx, actor, row, wanted, there)


def _bring(
    tx: Tx, keys: Keys, actor: Actor, row: DefinitionRow, host_id: str, one: Instance | None
) -> None:
    maker = MAKERS[row.kind]
    if one is None:
        object_id = maker.create(tx, keys, actor, row.given, host_id)
        made = Instance(row.id, host_id, row.kind, object_id, row.version)
        managed_objects.insert(tx, made)
    elif one.version != row.version:
        maker.change(tx, actor, one.object_id, row.given)
        managed_objects.caught_up(tx, one, row.version)


def _take_back(
    tx: Tx,
    actor: Actor,
    row: DefinitionRow,
    wanted: Collection[str],
    there: dict[str, Instance],
) -> None:
    for host_id, one in there.items():
        if host_id in wanted:
            continue
        managed_objects.release(tx, one)
        if not taken_back(tx, actor, one):
            # A workflow or webhook runs it: it stays, and is its own from now on.
            told = {"kind": row.kind, "object_id": one.object_id, "host_id": host_id}
            events.append(tx, row.customer_id, "definition.released", row.id, told)


def follow(tx: Tx, keys: Keys, customer_id: str) -> None:
    """A host came, went or has other tags, or a definition was made at the same moment."""
    name = tx.value("select name from customers where id = ?", customer_id)
    actor = starter(customer_id, name)
    for row in store.all_held(tx, customer_id):
        try:
            # Before the first write: one that cannot be made any more holds up no other.
            MAKERS[row.kind].prepare(tx, actor, row.given, row.given)
        except Refused as refusal:
            told = {"name": row.name, "reason": refusal.message}
            events.append(tx, customer_id, "definition.stalled", row.id, told)
        else:
            catch_up(tx, keys, actor, row)
