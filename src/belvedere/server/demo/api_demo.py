"""The demo over HTTP: it can be taken away."""

from belvedere.rest.route import Ask, Route
from belvedere.server.demo.removal import Removal, remove


async def remove_demo(ask: Ask) -> Removal:
    return await remove(ask.house, ask.actor, even_changed=ask.first("all") == "true")


ROUTES: tuple[Route, ...] = (
    Route(
        "DELETE",
        "/api/demo",
        "admin",
        remove_demo,
        "Take away what the first start made as a demo, unless it was changed or is in use",
        style="plain",
        answer=Removal,
        known=False,
        query=(("all", "true: also what was changed"),),
    ),
)
