"""Ways through a graph that may lead round in circles. Pure."""

from collections.abc import Collection, Iterable, Iterator

from belvedere.workflow_specs.model import Edge, Graph

Ways = dict[str, list[str]]


def ways(graph: Graph, edges: Iterable[Edge] | None = None) -> Ways:
    """Where one comes to from each node; by all edges, or by some."""
    found: Ways = {node.id: [] for node in graph.nodes}
    for edge in graph.edges if edges is None else edges:
        found[edge.source].append(edge.target)
    return found


def unbounded(graph: Graph) -> list[str]:
    """The nodes of a circle that nothing ends, the first also at the end; none: there is none."""
    return _ring(ways(graph, (edge for edge in graph.edges if edge.bound is None)))


def _ring(followers: Ways) -> list[str]:
    done: set[str] = set()
    for first in followers:
        path: dict[str, Iterator[str]] = {}
        if first not in done:
            path[first] = iter(followers[first])
        while path:
            node_id = next(reversed(path))
            follower = next(path[node_id], None)
            if follower is None:
                done.add(node_id)
                del path[node_id]
            elif follower in path:
                walked = list(path)
                return [*walked[walked.index(follower) :], follower]
            elif follower not in done:
                path[follower] = iter(followers[follower])
    return []


def reached(followers: Ways, first: Iterable[str], without: Collection[str] = ()) -> set[str]:
    """`first`, and every node that one comes to from there, not through those left out."""
    found: set[str] = set()
    todo = [node_id for node_id in first if node_id not in without]
    while todo:
        node_id = todo.pop()
        if node_id not in found:
            found.add(node_id)
            todo += [other for other in followers.get(node_id, ()) if other not in without]
    return found


def ahead_of(followers: Ways, node_id: str) -> set[str]:
    """Every node that one comes to from this one; this one itself where it lies on a circle."""
    return reached(followers, followers[node_id])


def on_circles(graph: Graph) -> set[str]:
    if not graph.has_circles:
        return set()
    followers = ways(graph)
    return {node.id for node in graph.nodes if node.id in ahead_of(followers, node.id)}


def behind(followers: Ways, start: str, node_id: str) -> set[str]:
    """Nodes that one comes to from the start, but only through this one."""
    return reached(followers, [start]) - reached(followers, [start], without=[node_id])
