"""`GET /workflows/triggers`: everything that starts something else, as a graph."""

from collections.abc import Iterable
from typing import Any

import msgspec

from belvedere.access import Actor, Level, require, visible_filter
from belvedere.access.request import Request
from belvedere.access.searches import run_search
from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.overview.event_sources import EMITTERS
from belvedere.rest.route import Route
from belvedere.triggers.sources import SOURCES
from belvedere.triggers.store import Trigger


class GraphObject(msgspec.Struct):
    """The object of a node: a task, a workflow, …, or an event between two of them."""

    id: str
    name: str
    kind: str = msgspec.field(name="_type")
    type: str = ""


class GraphNode(msgspec.Struct, frozen=True):
    v: str
    value: GraphObject


class GraphEdge(msgspec.Struct, frozen=True):
    v: str
    w: str


class TriggerGraph(msgspec.Struct):
    """In graphlib's format: an object points to its events, an event to what it starts."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    options: dict[str, bool]


_OPTIONS = {"directed": True, "multigraph": False, "compound": False}


async def show(request: Request[None]) -> TriggerGraph:
    result: TriggerGraph = await run_search(request, graph, request.actor, request.first("node"))
    return result


def graph(tx: Tx, actor: Actor, node: str | None) -> TriggerGraph:
    """Triggers whose ends the actor may see; with `node` only those before and after it."""
    require(actor, Level.VIEWER)
    objects = {
        graph_object.id: graph_object
        for source in SOURCES
        for graph_object in _objects(tx, actor, source)
    }
    rows = tx.all(
        Trigger,
        f"select {columns(Trigger)} from triggers where customer_id = ?"
        " order by created_at, source_id, target_id",
        actor.customer_id,
    )
    triggers = [
        trigger for trigger in rows if trigger.source_id in objects and trigger.target_id in objects
    ]
    if node is not None:
        if node not in objects:
            raise NotFound(
                "There is no such object, or you don't have permission to see it.", code="not_found"
            )
        triggers = [*_paths(triggers, node, down=True), *_paths(triggers, node, down=False)]
    return _to_graph(list(dict.fromkeys(triggers)), objects)


def _objects(tx: Tx, actor: Actor, source: str) -> Iterable[GraphObject]:
    table, emitter = SOURCES[source], EMITTERS[source]
    is_open = emitter.open_when_empty
    visibility, params = (
        visible_filter(actor, source, "id", open_when_empty=is_open)
        if emitter.has_acl
        else ("1 = 1", [])
    )
    rows = tx.rows(
        f"select id, {table.name}, {emitter.type} from {table.table}"
        f" where customer_id = ? and {table.live} and {visibility}",
        actor.customer_id,
        *params,
    )
    return (GraphObject(id_, name, emitter.kind_of(type_), type_) for id_, name, type_ in rows)


def _paths(triggers: list[Trigger], node: str, *, down: bool) -> list[Trigger]:
    """The triggers on all paths from the node (`down`), or to it."""
    path: list[Trigger] = []
    visited, border = {node}, {node}
    while border:
        step = [
            trigger
            for trigger in triggers
            if (trigger.source_id if down else trigger.target_id) in border
        ]
        path += step
        border = {trigger.target_id if down else trigger.source_id for trigger in step} - visited
        visited |= border
    return path


def _to_graph(triggers: list[Trigger], objects: dict[str, GraphObject]) -> TriggerGraph:
    nodes: dict[str, GraphObject] = {}
    edges: dict[GraphEdge, Any] = {}
    for trigger in triggers:
        nodes[trigger.source_id] = objects[trigger.source_id]
        nodes[trigger.event_id] = GraphObject(
            trigger.event_id, trigger.event_name, EMITTERS[trigger.source].kind
        )
        nodes[trigger.target_id] = objects[trigger.target_id]
        edges[GraphEdge(trigger.source_id, trigger.event_id)] = None
        edges[GraphEdge(trigger.event_id, trigger.target_id)] = None
    return TriggerGraph([GraphNode(v, value) for v, value in nodes.items()], list(edges), _OPTIONS)


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/workflows/triggers",
        "viewer",
        show,
        "Show the triggers as a graph",
        answer=TriggerGraph,
        query=(("node", "only paths to and from this id"),),
    ),
)
