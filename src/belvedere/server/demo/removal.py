"""Removes the demo: the objects that nobody has changed or uses."""

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.access.request import Request
from belvedere.base.errors import NotFound, Refused
from belvedere.db import Tx
from belvedere.rest.route import Route
from belvedere.server.demo import inventory
from belvedere.server.demo.inventory import DemoObject
from belvedere.server.runtime import ServerRuntime, runtime_of


class RemovedObject(msgspec.Struct):
    """An object that was deleted."""

    object: str
    id: str
    name: str


class RemainingObject(msgspec.Struct):
    """An object that was not deleted, and the reason."""

    object: str
    id: str
    name: str
    reason: str


class Removal(msgspec.Struct):
    removed: list[RemovedObject] = []
    remaining: list[RemainingObject] = msgspec.field(default_factory=list, name="kept")


async def remove(runtime: ServerRuntime, actor: Actor, *, even_changed: bool) -> Removal:
    """Each object in its own transaction: a refusal does not affect the others."""
    removal = Removal()
    for demo_object in await runtime.db.read(_recorded, actor):
        try:
            await runtime.db.write(inventory.delete, runtime, actor, demo_object, even_changed)
        except NotFound:
            # It was deleted already.
            continue
        except Refused as refusal:
            removal.remaining.append(
                RemainingObject(
                    demo_object.object, demo_object.id, demo_object.name, refusal.message
                )
            )
        else:
            removal.removed.append(
                RemovedObject(demo_object.object, demo_object.id, demo_object.name)
            )
    if not removal.remaining:
        await runtime.db.write(inventory.forget, actor.customer_id)
    return removal


def _recorded(tx: Tx, actor: Actor) -> list[DemoObject]:
    require(actor, Level.ADMIN)
    return inventory.recorded(tx, actor.customer_id)


async def remove_demo(request: Request[None]) -> Removal:
    return await remove(
        runtime_of(request), request.actor, even_changed=request.first("all") == "true"
    )


ROUTES: tuple[Route, ...] = (
    Route(
        "DELETE",
        "/api/demo",
        "admin",
        remove_demo,
        "Remove the demo of the first start, except what was changed or is in use",
        style="plain",
        answer=Removal,
        from_interface=False,
        query=(("all", "true: also what was changed"),),
    ),
)
