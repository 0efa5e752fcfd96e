"""Removal of the demo over HTTP."""

from belvedere.access.request import Request
from belvedere.rest.route import Route
from belvedere.server.demo.removal import Removal, remove
from belvedere.server.runtime import runtime_of


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
        known=False,
        query=(("all", "true: also what was changed"),),
    ),
)
