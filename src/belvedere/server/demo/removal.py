"""Taking the demo away: what it made and nobody has changed or built upon."""

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.base.errors import NotFound, Refused
from belvedere.db import Tx
from belvedere.server.demo import inventory
from belvedere.server.demo.inventory import Thing
from belvedere.server.runtime import ServerRuntime


class Removed(msgspec.Struct):
    """A record that is gone."""

    object: str
    id: str
    name: str


class Kept(msgspec.Struct):
    """A record that stays, and why."""

    object: str
    id: str
    name: str
    reason: str


class Removal(msgspec.Struct):
    removed: list[Removed] = []
    kept: list[Kept] = []


async def remove(runtime: ServerRuntime, actor: Actor, *, even_changed: bool) -> Removal:
    """Each in a transaction of its own: one that must stay harms no other."""
    found = Removal()
    for one in await runtime.db.read(_made, actor):
        try:
            await runtime.db.write(inventory.delete, runtime, actor, one, even_changed)
        except NotFound:
            # Somebody has deleted it already.
            continue
        except Refused as refusal:
            found.kept.append(Kept(one.object, one.id, one.name, refusal.message))
        else:
            found.removed.append(Removed(one.object, one.id, one.name))
    if not found.kept:
        await runtime.db.write(inventory.forget, actor.customer_id)
    return found


def _made(tx: Tx, actor: Actor) -> list[Thing]:
    require(actor, Level.ADMIN)
    return inventory.made(tx, actor.customer_id)
