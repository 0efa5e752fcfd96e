"""Nested monitors under the address that the original gave them."""

from dataclasses import replace

from belvedere.access import Actor
from belvedere.access.request import AnyRequest, Request
from belvedere.db import Tx
from belvedere.monitors import store
from belvedere.monitors.api import monitors
from belvedere.monitors.api.records import MonitorRecord
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.monitors.model import Type
from belvedere.rest import pagination
from belvedere.rest.route import Handler, Reply, Route

PLACE = "/monitor/nested"


async def list_nested(request: Request[None]) -> Reply:
    request.query = {**request.query, "where[type]": [Type.NESTED.value]}
    return await monitors.list_monitors(request)


async def create(request: Request[MonitorBody]) -> MonitorRecord:
    request.body.type = Type.NESTED.value
    return await monitors.create(request)


async def show(request: Request[None]) -> MonitorRecord:
    return await _with(request, monitors.show)


async def change(request: Request[MonitorBody]) -> MonitorRecord:
    return await _with(request, monitors.replace)


async def delete(request: Request[None]) -> MonitorRecord:
    return await _with(request, monitors.delete)


async def _with(request: AnyRequest, handler: Handler) -> MonitorRecord:
    """Others are not there under this address."""
    await request.services.db.read(_check, request.actor, request.path["id"])
    found: MonitorRecord = await handler(request)
    return found


def _check(tx: Tx, actor: Actor, monitor_id: str) -> None:
    if store.find(tx, actor.customer_id, monitor_id).type != Type.NESTED:
        raise store.missing()


_LIST = Route(
    "GET",
    PLACE,
    "viewer",
    list_nested,
    "List nested monitors",
    answer=list[MonitorRecord],
    query=pagination.QUERY,
)
_SHOW = replace(
    _LIST,
    path=f"{PLACE}/{{id}}",
    handler=show,
    summary="Show a nested monitor",
    answer=MonitorRecord,
    query=(),
)
_CREATE = replace(
    _SHOW,
    method="POST",
    path=PLACE,
    level="admin",
    handler=create,
    summary="Make a monitor of monitors",
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
