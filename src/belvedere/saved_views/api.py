"""Saved views and layouts over HTTP. They belong to people; tokens have none."""

from functools import partial

from belvedere.access.request import Request
from belvedere.rest.route import Reply, Route
from belvedere.saved_views import layouts, service
from belvedere.saved_views.layouts import LayoutBody, LayoutRecord
from belvedere.saved_views.model import ViewBody, ViewRecord


async def list_views(request: Request[None]) -> list[ViewRecord]:
    views: list[ViewRecord] = await request.services.db.read(service.list_visible, request.actor)
    return views


async def create(request: Request[ViewBody]) -> Reply:
    view = await request.services.db.write(service.create, request.actor, request.body)
    return Reply(view, status=201)


async def change(request: Request[ViewBody]) -> ViewRecord:
    view: ViewRecord = await request.services.db.write(
        service.change, request.actor, request.path["id"], request.body, request.if_match
    )
    return view


async def delete(request: Request[None]) -> ViewRecord:
    view: ViewRecord = await request.services.db.write(
        service.delete, request.actor, request.path["id"]
    )
    return view


async def show_layout(request: Request[None]) -> LayoutRecord:
    record: LayoutRecord = await request.services.db.read(
        layouts.show, request.actor, layouts.DASHBOARD
    )
    return record


async def save_layout(request: Request[LayoutBody]) -> LayoutRecord:
    record: LayoutRecord = await request.services.db.write(
        layouts.save, request.actor, layouts.DASHBOARD, request.body
    )
    return record


async def delete_layout(request: Request[None]) -> LayoutRecord:
    is_shared = request.first("shared") in ("true", "1")
    record: LayoutRecord = await request.services.db.write(
        layouts.delete, request.actor, layouts.DASHBOARD, shared=is_shared
    )
    return record


_view = partial(Route, level="viewer", from_interface=False, people=True)

ROUTES: tuple[Route, ...] = (
    _view(
        "GET",
        "/view",
        handler=list_views,
        summary="List your saved views, then those that others share",
        answer=list[ViewRecord],
    ),
    _view(
        "POST",
        "/view",
        handler=create,
        summary="Save a page with its filters as a view",
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
    _view(
        "GET",
        "/view/layout/dashboard",
        handler=show_layout,
        summary="Show how the cards of a page are arranged, for you and for everyone else",
        answer=LayoutRecord,
    ),
    _view(
        "PUT",
        "/view/layout/dashboard",
        handler=save_layout,
        summary="Arrange the cards of a page for you or, as a manager, for everyone else",
        body=LayoutBody,
        answer=LayoutRecord,
    ),
    _view(
        "DELETE",
        "/view/layout/dashboard",
        handler=delete_layout,
        summary="Return to the shared layout, or to the default one",
        answer=LayoutRecord,
        query=(("shared", "true: delete the shared layout; only as a manager"),),
    ),
)
