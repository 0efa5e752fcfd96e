"""`GET /workflows/triggers`: everything that starts something else, as one graph."""

from collections.abc import Iterable
from typing import Any

import msgspec

from belvedere.access import Actor, Level, require, visible
from belvedere.access.request import Request
from belvedere.access.searches import run_search
from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.overview.event_sources import EMITTERS
from belvedere.rest.route import Route
from belvedere.triggers.sources import SOURCES
from belvedere.triggers.store import Trigger


class Thing(msgspec.Struct):
    """What stands at a node: a task, a workflow, …, or an event between two of them."""

    id: str
    name: str
    kind: str = msgspec.field(name="_type")
    type: str = ""


class GraphNode(msgspec.Struct, frozen=True):
    v: str
    value: Thing


class GraphEdge(msgspec.Struct, frozen=True):
    v: str
    w: str


class TriggerGraph(msgspec.Struct):
    """As graphlib writes it: what has events points to them, and they to what they start."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    options: dict[str, bool]


_OPTIONS = {"directed": True, "multigraph": False, "compound": False}


async def show(request: Request[None]) -> TriggerGraph:
    found: TriggerGraph = await run_search(request, graph, request.actor, request.first("node"))
    return found


def graph(tx: Tx, actor: Actor, node: str | None) -> TriggerGraph:
    """Where the actor may see both ends; with `node` only what leads to it or follows from it."""
    require(actor, Level.VIEWER)
    things = {thing.id: thing for source in SOURCES for thing in _things(tx, actor, source)}
    rows = tx.all(
        Trigger,
        f"select {columns(Trigger)} from triggers where customer_id = ?"
        " order by created_at, source_id, target_id",
        actor.customer_id,
    )
    seen = [one for one in rows if one.source_id in things and one.target_id in things]
    if node is not None:
        if node not in things:
            raise NotFound("There is nothing with this id that you may see.", code="not_found")
        seen = [*_along(seen, node, down=True), *_along(seen, node, down=False)]
    return _drawn(list(dict.fromkeys(seen)), things)


def _things(tx: Tx, actor: Actor, source: str) -> Iterable[Thing]:
    of, how = SOURCES[source], EMITTERS[source]
    is_open = how.open_when_empty
    seen, params = (
        visible(actor, source, "id", open_when_empty=is_open) if how.has_acl else ("1 = 1", [])
    )
    rows = tx.rows(
        f"select id, {of.name}, {how.type} from {of.table}"
        f" where customer_id = ? and {of.live} and {seen}",
        actor.customer_id,
        *params,
    )
    return (Thing(id_, name, how.kind_of(type_), type_) for id_, name, type_ in rows)


def _along(triggers: list[Trigger], node: str, *, down: bool) -> list[Trigger]:
    """Those on the way from the node, or to it."""
    found: list[Trigger] = []
    known, border = {node}, {node}
    while border:
        step = [one for one in triggers if (one.source_id if down else one.target_id) in border]
        found += step
        border = {one.target_id if down else one.source_id for one in step} - known
        known |= border
    return found


def _drawn(triggers: list[Trigger], things: dict[str, Thing]) -> TriggerGraph:
    nodes: dict[str, Thing] = {}
    edges: dict[GraphEdge, Any] = {}
    for one in triggers:
        nodes[one.source_id] = things[one.source_id]
        nodes[one.event_id] = Thing(one.event_id, one.event_name, EMITTERS[one.source].kind)
        nodes[one.target_id] = things[one.target_id]
        edges[GraphEdge(one.source_id, one.event_id)] = None
        edges[GraphEdge(one.event_id, one.target_id)] = None
    return TriggerGraph([GraphNode(v, value) for v, value in nodes.items()], list(edges), _OPTIONS)


ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/workflows/triggers",
        "viewer",
        show,
        "What starts what, as a graph",
        answer=TriggerGraph,
        query=(("node", "only what leads to this id or follows from it"),),
    ),
)
