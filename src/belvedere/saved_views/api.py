"""Saved views over HTTP. They are people's: a token has none."""

from functools import partial

from belvedere.rest.route import Ask, Reply, Route
from belvedere.saved_views import service
from belvedere.saved_views.model import ViewBody, ViewRecord


async def listing(request: Ask) -> list[ViewRecord]:
    found: list[ViewRecord] = await request.house.db.read(service.listed, request.actor)
    return found


async def create(request: Ask) -> Reply:
    made = await request.house.db.write(service.create, request.actor, request.body)
    return Reply(made, status=201)


async def change(request: Ask) -> ViewRecord:
    found: ViewRecord = await request.house.db.write(
        service.change, request.actor, request.path["id"], request.body, request.if_match
    )
    return found


async def delete(request: Ask) -> ViewRecord:
    found: ViewRecord = await request.house.db.write(
        service.delete, request.actor, request.path["id"]
    )
    return found


_view = partial(Route, level="viewer", known=False, people=True)

ROUTES: tuple[Route, ...] = (
    _view(
        "GET",
        "/view",
        handler=listing,
        summary="My saved views, then those that others share",
        answer=list[ViewRecord],
    ),
    _view(
        "POST",
        "/view",
        handler=create,
        summary="Save a view: a page with its filters",
        body=ViewBody,
        answer=ViewRecord,
        codes=("too_many_views",),
    ),
    _view(
        "PATCH",
        "/view/{id}",
        handler=change,
        summary="Change parts of a view",
        body=ViewBody,
        answer=ViewRecord,
        codes=("stale",),
    ),
    _view("DELETE", "/view/{id}", handler=delete, summary="Delete a view", answer=ViewRecord),
)
