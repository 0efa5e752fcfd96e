"""`GET /event`: events that can start a task or workflow."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from belvedere.access import Actor, Level, require, visible_filter
from belvedere.access.request import Request
from belvedere.access.searches import run_search
from belvedere.db import Tx
from belvedere.indicators.model import KIND_NAMES as INDICATOR_KINDS
from belvedere.monitors.model import KIND_NAMES as MONITOR_KINDS
from belvedere.monitors.model import MonitorType
from belvedere.rest.route import Route
from belvedere.tasks.model import KIND_NAMES as TASK_KINDS
from belvedere.tasks.model import Type as TaskType
from belvedere.triggers.sources import SOURCES, EventReference


class EmitterRecord(msgspec.Struct):
    """The object that emits the event."""

    id: str
    also_id: str = msgspec.field(name="_id")
    kind: str = msgspec.field(name="_type")
    name: str
    type: str
    host: str | None
    host_id: str | None
    workflow_id: str | None


class EventRecord(msgspec.Struct):
    """An event that can occur; the `triggers` of a task refer to it by its id."""

    id: str
    also_id: str = msgspec.field(name="_id")
    kind: str = msgspec.field(name="_type")
    name: str
    emitter_id: str
    emitter: EmitterRecord


@dataclass(frozen=True, slots=True)
class Emitter:
    """How records of one kind of source are built."""

    kind: str
    # Maps the type to the `_type` of the record.
    kind_of: Callable[[str], str]
    # SQL: a column, or a constant where the table has none.
    type: str = "type"
    host_id: str = "null"
    # Only members that the ACL names may see it.
    has_acl: bool = False
    # With an empty ACL, every member may see it.
    open_when_empty: bool = False


EMITTERS = {
    "task": Emitter(
        "TaskEvent",
        lambda type_: TASK_KINDS[TaskType(type_)],
        host_id="host_id",
        has_acl=True,
    ),
    "workflow": Emitter("WorkflowEvent", lambda _: "Workflow", type="'workflow'", has_acl=True),
    "indicator": Emitter("IndicatorEvent", lambda type_: INDICATOR_KINDS[type_], has_acl=True),
    "monitor": Emitter(
        "MonitorEvent",
        lambda type_: MONITOR_KINDS[MonitorType(type_)],
        host_id="host_id",
        has_acl=True,
        open_when_empty=True,
    ),
    "webhook": Emitter("WebhookEvent", lambda _: "Webhook", type="'webhook'"),
}


async def list_events(request: Request[None]) -> list[EventRecord]:
    records: list[EventRecord] = await run_search(request, list_visible, request.actor)
    return records


def list_visible(tx: Tx, actor: Actor) -> list[EventRecord]:
    """The events of everything that the actor may see, oldest source first."""
    require(actor, Level.VIEWER)
    hosts: dict[str, str] = dict(
        tx.rows("select id, hostname from hosts where customer_id = ?", actor.customer_id)
    )
    return [
        _record(source, emitter, name)
        for source in EMITTERS
        for emitter, names in _emitters(tx, actor, source, hosts)
        for name in names
    ]


def _emitters(
    tx: Tx, actor: Actor, source: str, hosts: dict[str, str]
) -> list[tuple[EmitterRecord, list[str]]]:
    table, emitter = SOURCES[source], EMITTERS[source]
    visibility, params = (
        visible_filter(actor, source, "id", open_when_empty=emitter.open_when_empty)
        if emitter.has_acl
        else ("1 = 1", [])
    )
    rows = tx.rows(
        f"select id, {table.name}, {emitter.type}, {emitter.host_id} from {table.table}"
        f" where customer_id = ? and {table.live} and {visibility} order by id",
        actor.customer_id,
        *params,
    )
    custom = _custom_names(tx, actor.customer_id, source)
    return [
        (
            EmitterRecord(
                id_, id_, emitter.kind_of(type_), name, type_, hosts.get(host_id), host_id, None
            ),
            list(
                dict.fromkeys(
                    (
                        *table.event_names,
                        *table.events_by_type.get(type_, ()),
                        *custom.get(id_, ()),
                    )
                )
            ),
        )
        for id_, name, type_, host_id in rows
    ]


def _custom_names(tx: Tx, customer_id: str, source: str) -> dict[str, list[str]]:
    """Event names that scripts choose, as far as a trigger refers to them."""
    names: dict[str, list[str]] = {}
    for source_id, event_name in tx.rows(
        "select distinct source_id, event_name from triggers where customer_id = ? and source = ?"
        " order by event_name",
        customer_id,
        source,
    ):
        names.setdefault(source_id, []).append(event_name)
    return names


def _record(source: str, emitter: EmitterRecord, name: str) -> EventRecord:
    event_id = EventReference(source, emitter.id, name).id
    return EventRecord(event_id, event_id, EMITTERS[source].kind, name, emitter.id, emitter)


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/event",
        "viewer",
        list_events,
        "List events that can start a task or workflow",
        answer=list[EventRecord],
    ),
)
