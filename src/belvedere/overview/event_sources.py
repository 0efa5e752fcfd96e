"""`GET /event`: what can start a task or workflow."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from belvedere.access import Actor, Level, require, visible
from belvedere.access.request import Request
from belvedere.access.searches import run_search
from belvedere.db import Tx
from belvedere.indicators.model import KIND_NAMES as INDICATOR_KINDS
from belvedere.monitors.model import KIND_NAMES as MONITOR_KINDS
from belvedere.monitors.model import Type as MonitorType
from belvedere.rest.route import Route
from belvedere.tasks.model import KIND_NAMES as TASK_KINDS
from belvedere.tasks.model import Type as TaskType
from belvedere.triggers.sources import SOURCES, EventReference


class EmitterRecord(msgspec.Struct):
    """Whose event it is."""

    id: str
    also_id: str = msgspec.field(name="_id")
    kind: str = msgspec.field(name="_type")
    name: str
    type: str
    host: str | None
    host_id: str | None
    workflow_id: str | None


class EventRecord(msgspec.Struct):
    """Something that can happen; a task's `triggers` name it by its id."""

    id: str
    also_id: str = msgspec.field(name="_id")
    kind: str = msgspec.field(name="_type")
    name: str
    emitter_id: str
    emitter: EmitterRecord


@dataclass(frozen=True, slots=True)
class Emitter:
    """How one kind of source is shown."""

    kind: str
    # From the type to the record's _type.
    kind_of: Callable[[str], str]
    # Columns, or constants where the table has none.
    type: str = "type"
    host_id: str = "null"
    # Whether only those see it whom its ACL names.
    has_acl: bool = False
    # An empty ACL hides it from nobody.
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
    found: list[EventRecord] = await run_search(request, listed, request.actor)
    return found


def listed(tx: Tx, actor: Actor) -> list[EventRecord]:
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
    of, how = SOURCES[source], EMITTERS[source]
    seen, params = (
        visible(actor, source, "id", open_when_empty=how.open_when_empty)
        if how.has_acl
        else ("1 = 1", [])
    )
    rows = tx.rows(
        f"select id, {of.name}, {how.type}, {how.host_id} from {of.table}"
        f" where customer_id = ? and {of.live} and {seen} order by id",
        actor.customer_id,
        *params,
    )
    own = _own_names(tx, actor.customer_id, source)
    return [
        (
            EmitterRecord(
                id_, id_, how.kind_of(type_), name, type_, hosts.get(host_id), host_id, None
            ),
            list(dict.fromkeys((*of.event_names, *own.get(id_, ())))),
        )
        for id_, name, type_, host_id in rows
    ]


def _own_names(tx: Tx, customer_id: str, source: str) -> dict[str, list[str]]:
    """Names that scripts gave their events, as far as something waits for them."""
    found: dict[str, list[str]] = {}
    for source_id, event_name in tx.rows(
        "select distinct source_id, event_name from triggers where customer_id = ? and source = ?"
        " order by event_name",
        customer_id,
        source,
    ):
        found.setdefault(source_id, []).append(event_name)
    return found


def _record(source: str, emitter: EmitterRecord, name: str) -> EventRecord:
    event_id = EventReference(source, emitter.id, name).id
    return EventRecord(event_id, event_id, EMITTERS[source].kind, name, emitter.id, emitter)


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/event",
        "viewer",
        list_events,
        "List what can start a task or workflow",
        answer=list[EventRecord],
    ),
)
