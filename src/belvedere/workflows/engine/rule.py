"""What follows from the ends so far: which nodes start, or how the whole ends. Pure.

The answer depends on nothing but the graph and what has begun and ended, so it can be asked again
at any time, by anybody, after any crash.
"""

from collections.abc import Iterable, Sequence

import msgspec

from belvedere.workflow_specs.model import Edge, Graph
from belvedere.workflows.engine.decision import Arriving, Begin
from belvedere.workflows.engine.visits import Key, Past, Visit


class Next(msgspec.Struct):
    """What to do now. Neither: wait."""

    start: list[Begin] = []
    is_over: bool = False
    # A bad end that no edge handled, a join that cannot be complete any more, or a bound.
    has_failed: bool = False
    # Edges that would have been followed more often than they may.
    spent: list[Edge] = []


def decide(graph: Graph, first: str, taken: Sequence[Visit]) -> Next:
    """`taken` are the visits that have begun, `first` is the node that the job began with."""
    past = Past(graph, taken)
    arriving = Arriving(graph, first, past)
    start = [begin for node in graph.nodes if (begin := arriving.begin(node))]
    if start or past.is_under_way:
        return Next(start=start)
    # A node that was reached and does not start is a join whose other branch never comes.
    is_stuck = any(arriving.is_stuck(node) for node in graph.nodes)
    has_failed = is_stuck or bool(unhandled(graph, taken))
    return Next(is_over=True, has_failed=has_failed, spent=list(past.spent))


def unhandled(graph: Graph, taken: Sequence[Visit]) -> set[Key]:
    """Visits that ended badly where no edge says what then, and those that met a bound."""
    past = Past(graph, taken)
    bad = {one.key for one in taken if one.end is not None and not one.end.is_good}
    return (bad - _keys(past.followed.values())) | _keys(past.spent.values())


def last(graph: Graph, taken: Sequence[Visit]) -> list[Key]:
    """Visits that no edge was followed from, in the order of the graph."""
    past = Past(graph, taken)
    left = _keys(past.followed.values())
    newest = [past.latest(node.id) for node in graph.nodes]
    return [one.key for one in newest if one and one.end is not None and one.key not in left]


def supported(graph: Graph, first: str, taken: Sequence[Visit]) -> list[Visit]:
    """Those of the ended visits that would have begun if only these had ended."""
    kept = list(taken)
    while True:
        arriving = Arriving(graph, first, Past(graph, kept))
        known = {one.key for one in kept}
        stay = [one for one in kept if one.key == (first, 1) or arriving.bears(one, known)]
        if len(stay) == len(kept):
            return kept
        kept = stay


def _keys(found: Iterable[Sequence[Visit]]) -> set[Key]:
    return {one.key for visits in found for one in visits}
