"""The checklist of the dashboard, which does not count the objects of the demo."""

from belvedere.access import Actor
from belvedere.access.request import Request
from belvedere.base.errors import NotFound
from belvedere.db import Tx
from belvedere.overview import first_steps
from belvedere.overview.first_steps import FirstSteps, FirstStepsChange
from belvedere.rest.route import Route
from belvedere.server.demo import inventory
from belvedere.server.demo.inventory import KINDS, DemoObject

PATH = "/api/first-steps"


async def show(request: Request[None]) -> FirstSteps:
    steps: FirstSteps = await request.services.db.read(_read, request.actor)
    return steps


async def change(request: Request[FirstStepsChange]) -> FirstSteps:
    steps: FirstSteps = await request.services.db.write(
        _change, request.actor, request.body.visible
    )
    return steps


def _read(tx: Tx, actor: Actor) -> FirstSteps:
    objects = inventory.recorded(tx, actor.customer_id)
    return first_steps.read(
        tx, actor, {item.id for item in objects if _exists(tx, actor.customer_id, item)}
    )


def _exists(tx: Tx, customer_id: str, demo_object: DemoObject) -> bool:
    try:
        KINDS[demo_object.object].find(tx, customer_id, demo_object.id)
    except NotFound:
        return False
    return True


def _change(tx: Tx, actor: Actor, visible: bool) -> FirstSteps:
    first_steps.show(tx, actor, visible)
    return _read(tx, actor)


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        PATH,
        "admin",
        show,
        "Show the first steps of a new organization and which of them are done",
        style="plain",
        answer=FirstSteps,
        from_interface=False,
    ),
    Route(
        "PUT",
        PATH,
        "admin",
        change,
        "Show or hide the first steps",
        style="plain",
        body=FirstStepsChange,
        answer=FirstSteps,
        from_interface=False,
    ),
)
