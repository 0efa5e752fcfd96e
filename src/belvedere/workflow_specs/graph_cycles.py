"""Reachability and cycles in the graph of a workflow. Pure."""

from collections.abc import Collection, Iterable, Iterator

from belvedere.workflow_specs.model import Edge, Graph

Successors = dict[str, list[str]]


def successors_of(graph: Graph, edges: Iterable[Edge] | None = None) -> Successors:
    """The nodes that follow each node directly, by all edges or by those given."""
    successors: Successors = {node.id: [] for node in graph.nodes}
    for edge in graph.edges if edges is None else edges:
        successors[edge.source].append(edge.target)
    return successors


def find_unbounded_cycle(graph: Graph) -> list[str]:
    """The nodes of a cycle without a limit, with the first repeated at the end; empty if none."""
    return _find_cycle(successors_of(graph, (edge for edge in graph.edges if edge.bound is None)))


def _find_cycle(successors: Successors) -> list[str]:
    done: set[str] = set()
    for start in successors:
        path: dict[str, Iterator[str]] = {}
        if start not in done:
            path[start] = iter(successors[start])
        while path:
            node_id = next(reversed(path))
            follower = next(path[node_id], None)
            if follower is None:
                done.add(node_id)
                del path[node_id]
            elif follower in path:
                nodes = list(path)
                return [*nodes[nodes.index(follower) :], follower]
            elif follower not in done:
                path[follower] = iter(successors[follower])
    return []


def reachable(
    successors: Successors, first: Iterable[str], without: Collection[str] = ()
) -> set[str]:
    """`first`, and every node that can be reached from there without passing `without`."""
    result: set[str] = set()
    todo = [node_id for node_id in first if node_id not in without]
    while todo:
        node_id = todo.pop()
        if node_id not in result:
            result.add(node_id)
            todo += [other for other in successors.get(node_id, ()) if other not in without]
    return result


def descendants(successors: Successors, node_id: str) -> set[str]:
    """Every node that can be reached from this one; it is one of them if it is on a cycle."""
    return reachable(successors, successors[node_id])


def nodes_on_cycles(graph: Graph) -> set[str]:
    if not graph.has_cycles:
        return set()
    successors = successors_of(graph)
    return {node.id for node in graph.nodes if node.id in descendants(successors, node.id)}


def reachable_only_through(successors: Successors, start: str, node_id: str) -> set[str]:
    """Nodes that can be reached from the start only through this one."""
    return reachable(successors, [start]) - reachable(successors, [start], without=[node_id])
