"""What people do with definitions: make, change, delete, look."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor, Level, audit, require
from belvedere.access.crypto.keyring import Keys
from belvedere.base.errors import Invalid, Stale
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.definitions import store
from belvedere.definitions.managed_kinds import MAKERS
from belvedere.definitions.model import DefinitionRow, Kind, Shown
from belvedere.definitions.rollout import catch_up
from belvedere.hosts import managed_objects
from belvedere.hosts import store as hosts
from belvedere.rest import text_fields
from belvedere.rest.listing import Listing


class DefinitionBody(msgspec.Struct, forbid_unknown_fields=True):
    """A task or monitor as its own route takes it, without a host, and the tag of its hosts."""

    kind: str
    host_tag: str
    definition: dict[str, Any]


def create(tx: Tx, keys: Keys, actor: Actor, given: DefinitionBody) -> Shown:
    """Made on every host that carries the tag now, and on those that will."""
    require(actor, Level.ADMIN)
    if given.kind not in set(Kind):
        raise text_fields.bad("kind", f"Give one of {', '.join(Kind)}.")
    tag = text_fields.line("host_tag", given.host_tag, most=text_fields.MAX_TAG, least=1)
    body = MAKERS[given.kind].prepare(tx, actor, given.definition, None)
    row = DefinitionRow(
        new_id(), actor.customer_id, given.kind, tag, body["name"], "", 1, tx.now, tx.now
    )
    row.body = _text(body)
    store.insert(tx, row)
    _told(tx, actor, row, "created", None)
    catch_up(tx, keys, actor, row)
    return _shown(tx, row)


def change(
    tx: Tx, keys: Keys, actor: Actor, definition_id: str, given: DefinitionBody, version: int | None
) -> Shown:
    """Another definition, the same on every host when this is answered."""
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, definition_id, hold=True)
    if version is not None and version != row.version:
        raise Stale(f"The definition is at version {row.version} now; read it again.")
    before = _audited(row)
    old = row.given
    if given.kind != row.kind or given.definition.get("type", old["type"]) != old["type"]:
        raise Invalid(
            f"A definition stays what it is ({row.kind}, {old['type']}).", code="type_fixed"
        )
    row.host_tag = text_fields.line("host_tag", given.host_tag, most=text_fields.MAX_TAG, least=1)
    body = MAKERS[row.kind].prepare(tx, actor, {"type": old["type"], **given.definition}, old)
    row.name, row.body = body["name"], _text(body)
    row.version += 1
    row.updated_at = tx.now
    store.save(tx, row)
    _told(tx, actor, row, "changed", before)
    catch_up(tx, keys, actor, row)
    return _shown(tx, row)


def delete(tx: Tx, actor: Actor, definition_id: str) -> Shown:
    """Gone with everything it made; refused while something else holds one of those."""
    require(actor, Level.ADMIN)
    row = store.find(tx, actor.customer_id, definition_id, hold=True)
    last = _shown(tx, row)
    for one in last.instances.values():
        managed_objects.release(tx, one)
        MAKERS[row.kind].delete(tx, actor, one.object_id)
    store.mark_deleted(tx, row)
    _told(tx, actor, row, "deleted", _audited(row))
    return last


def show(tx: Tx, actor: Actor, definition_id: str) -> Shown:
    require(actor, Level.ADMIN)
    return _shown(tx, store.find(tx, actor.customer_id, definition_id))


def listed(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[Shown], int | None]:
    require(actor, Level.ADMIN)
    total = store.count(tx, actor.customer_id, listing) if listing.count else None
    return [_shown(tx, row) for row in store.page(tx, actor.customer_id, listing)], total


def _shown(tx: Tx, row: DefinitionRow) -> Shown:
    made = managed_objects.of_definition(tx, row.id)
    body = MAKERS[row.kind].shown(row.given)
    return Shown(row, body, made, _hostnames(tx, row.customer_id, list(made)))


def _hostnames(tx: Tx, customer_id: str, host_ids: Sequence[str]) -> dict[str, str]:
    if not host_ids:
        return {}
    return {host.id: host.hostname for host in hosts.by_ids(tx, customer_id, list(host_ids))}


def _text(body: dict[str, Any]) -> str:
    return msgspec.json.encode(body).decode()


def _audited(row: DefinitionRow) -> dict[str, Any]:
    """Its parts are audited with what it makes; here stands that it was changed, and how far."""
    return {"kind": row.kind, "host_tag": row.host_tag, "name": row.name, "version": row.version}


_VERBS = {"created": "create", "changed": "change", "deleted": "delete"}


def _told(
    tx: Tx, actor: Actor, row: DefinitionRow, what: str, before: dict[str, Any] | None
) -> None:
    after = None if what == "deleted" else _audited(row)
    audit.record(tx, actor, f"definition.{_VERBS[what]}", "definition", row.id, before, after)
    events.append(tx, row.customer_id, f"definition.{what}", row.id, _audited(row))
