"""Validates which values of earlier nodes become the arguments of a node."""

from collections.abc import Iterator

import msgspec

from belvedere.base.errors import Fault
from belvedere.tasks.definition.argument_values import MAX_EACH
from belvedere.tasks.definition.validation import MAX_ARGUMENTS
from belvedere.workflow_specs import graph_cycles, templates
from belvedere.workflow_specs.model import ArgumentSource, Graph, Node, StepPart

# The highest index in a list of outputs.
MAX_INDEX = 999
# Levels of members inside of a value, and characters of each name.
MAX_KEYS = 16
MAX_KEY = 256

Faults = Iterator[Fault]


def faults_of(graph: Graph) -> list[Fault]:
    """A node can use values only of nodes that can run before it."""
    if not any(node.arguments for node in graph.nodes):
        return []
    nodes = {node.id: node for node in graph.nodes}
    successors = graph_cycles.successors_of(graph)
    # Each source is followed once, however many arguments use it.
    descendants = {
        source.node: graph_cycles.descendants(successors, source.node)
        for node in graph.nodes
        for argument in node.arguments[:MAX_ARGUMENTS]
        for source in _sources(argument)
        if source.node in nodes
    }
    return [
        fault
        for n, node in enumerate(graph.nodes)
        for fault in _of_node(f"graph.nodes[{n}].arguments", node, nodes, descendants)
    ]


def _of_node(
    field: str, node: Node, nodes: dict[str, Node], descendants: dict[str, set[str]]
) -> Faults:
    if len(node.arguments) > MAX_ARGUMENTS:
        yield Fault(field, f"At most {MAX_ARGUMENTS} arguments are allowed.")
        return
    for n, argument in enumerate(node.arguments):
        yield from _of_template(f"{field}[{n}]", argument)
        for source in _sources(argument):
            yield from _of_source(f"{field}[{n}]", source)
            yield from _of_reference(f"{field}[{n}]", node, source, nodes, descendants)


def _of_reference(
    field: str,
    node: Node,
    source: ArgumentSource,
    nodes: dict[str, Node],
    descendants: dict[str, set[str]],
) -> Faults:
    if source.node and source.node not in nodes:
        yield Fault(f"{field}.node", f"There is no node {source.node[:64]!r}.")
    elif source.node and node.id not in descendants[source.node]:
        yield Fault(f"{field}.node", f"{source.node!r} does not run before {node.id!r}.")
    elif source.part is StepPart.INPUT and source.node and nodes[source.node].workflow_id:
        message = f"{source.node!r} runs a workflow: only its output can be used."
        yield Fault(f"{field}.part", message)


def _sources(argument: ArgumentSource) -> list[ArgumentSource]:
    """The values that an argument uses; none if its template is invalid."""
    try:
        return templates.sources_in(argument)
    except ValueError:
        return []


def _of_template(field: str, argument: ArgumentSource) -> Faults:
    if not argument.template:
        return
    if argument.node or argument.value is not None:
        yield Fault(f"{field}.template", "Use either a template, or node or value.")
    try:
        templates.parse(argument.template)
    except ValueError as error:
        yield Fault(f"{field}.template", str(error))


def _of_source(field: str, source: ArgumentSource) -> Faults:
    if not 0 <= source.index <= MAX_INDEX:
        yield Fault(f"{field}.index", f"Must be 0 to {MAX_INDEX}.")
    if len(source.keys) > MAX_KEYS:
        yield Fault(f"{field}.keys", f"At most {MAX_KEYS} keys are allowed.")
    if any(not key or len(key) > MAX_KEY for key in source.keys):
        yield Fault(f"{field}.keys", f"A key must have 1 to {MAX_KEY} characters.")
    if source.value is not None and len(msgspec.json.encode(source.value)) > MAX_EACH:
        yield Fault(f"{field}.value", f"Must have at most {MAX_EACH} bytes.")
