"""Nested monitors under the path that TheEye uses for them."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from belvedere.access import Actor
from belvedere.access.request import AnyRequest, Request
from belvedere.db import Tx
from belvedere.monitors import store
from belvedere.monitors.api import monitors
from belvedere.monitors.api.records import MonitorRecord
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.monitors.model import MonitorType
from belvedere.rest import pagination
from belvedere.rest.route import Reply, Route

PATH = "/monitor/nested"


async def list_nested(request: Request[None]) -> Reply:
    request.query = {**request.query, "where[type]": [MonitorType.NESTED.value]}
    return await monitors.list_monitors(request)


async def create(request: Request[MonitorBody]) -> MonitorRecord:
    request.body.type = MonitorType.NESTED.value
    return await monitors.create(request)


async def show(request: Request[None]) -> MonitorRecord:
    return await _call_for_nested(request, monitors.show)


async def change(request: Request[MonitorBody]) -> MonitorRecord:
    return await _call_for_nested(request, monitors.replace)


async def delete(request: Request[None]) -> MonitorRecord:
    return await _call_for_nested(request, monitors.delete)


async def _call_for_nested(
    request: AnyRequest, handler: Callable[[AnyRequest], Awaitable[MonitorRecord]]
) -> MonitorRecord:
    """Under this path, monitors of other types do not exist."""
    await request.services.db.read(_require_nested, request.actor, request.path["id"])
    return await handler(request)


def _require_nested(tx: Tx, actor: Actor, monitor_id: str) -> None:
    if store.find(tx, actor.customer_id, monitor_id).type != MonitorType.NESTED:
        raise store.not_found()


_LIST = Route(
    "GET",
    PATH,
    "viewer",
    list_nested,
    "List nested monitors",
    answer=list[MonitorRecord],
    query=pagination.QUERY,
)
_SHOW = replace(
    _LIST,
    path=f"{PATH}/{{id}}",
    handler=show,
    summary="Show a nested monitor",
    answer=MonitorRecord,
    query=(),
)
_CREATE = replace(
    _SHOW,
    method="POST",
    path=PATH,
    level="admin",
    handler=create,
    summary="Create a nested monitor",
    body=MonitorBody,
)
_CHANGE = replace(
    _CREATE,
    method="PUT",
    path=_SHOW.path,
    handler=change,
    summary="Replace a nested monitor's definition",
    codes=("stale",),
)
_DELETE = replace(
    _CHANGE,
    method="DELETE",
    handler=delete,
    summary="Delete a nested monitor",
    body=None,
    codes=(),
)
ROUTES: tuple[Route, ...] = (_LIST, _SHOW, _CREATE, _CHANGE, _DELETE)
