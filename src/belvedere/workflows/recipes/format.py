"""Reads recipes, those of TheEye and our own: exported tasks and workflows. Pure."""

from collections.abc import Iterator
from itertools import islice

import msgspec

from belvedere.tasks.definition.validation import env_faults
from belvedere.tasks.model import MASK
from belvedere.workflow_specs.model import Edge, Graph, Node, Position
from belvedere.workflows.bodies import to_texts
from belvedere.workflows.recipes import skipped_fields, task_format
from belvedere.workflows.recipes.source import (
    EXPORTER,
    MAX_MEMBERS,
    Fields,
    ImportReport,
    dict_in,
    invalid_recipe,
    list_in,
)

_WORKFLOW_FIELDS = (
    *("description", "short_description", "icon_color", "icon_image"),
    *("enable", "multitasking", "expires"),
)


class Recipe(msgspec.Struct):
    """The content of a file: tasks by the ids that its graph uses, and the workflow, if any."""

    tasks: dict[str, Fields]
    workflow: Fields | None = None
    # By their ids in the graph and in its order, with the task ids of the recipe.
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    report: ImportReport = msgspec.field(default_factory=ImportReport)
    # Exported by Belvedere.
    is_ours: bool = False
    # The workflows that it runs, by the ids of its graph, each after those that it runs itself.
    inner: "dict[str, Recipe]" = {}


def read(source: object) -> Recipe:
    """A task recipe has `task` and optionally `file`, a workflow recipe `graph` and `tasks`."""
    if isinstance(source, dict) and isinstance(source.get("task"), dict):
        return _single_task(source)
    if isinstance(source, dict) and isinstance(source.get("graph"), dict):
        recipe = _workflow(source)
        recipe.inner = _inner(source)
        return recipe
    raise invalid_recipe("This is not a recipe: it has neither a task nor a graph.")


def _single_task(source: Fields) -> Recipe:
    report = ImportReport()
    is_ours = source.get("exporter") == EXPORTER
    task = task_format.read(source["task"], source.get("file"), report, is_ours=is_ours)
    for field in sorted(source.keys() - {"task", "file", "exporter", "hostname", "customer"}):
        report.skip("recipe", field, "It is not part of a recipe of a task.")
    return Recipe({"": task}, report=report, is_ours=is_ours)


def _inner(source: Fields) -> "dict[str, Recipe]":
    workflows = list_in(source, "workflows") if source.get("exporter") == EXPORTER else []
    if not all(
        isinstance(workflow, dict) and isinstance(workflow.get("graph"), dict)
        for workflow in workflows
    ):
        raise invalid_recipe("A workflow in the recipe has no graph.")
    return {str(workflow.get("id")): _workflow(workflow) for workflow in workflows}


def graph_of(recipe: Recipe, task_ids: dict[str, str], workflow_ids: dict[str, str]) -> Graph:
    """The graph, once its tasks and nested workflows are created."""
    for node in recipe.nodes.values():
        if node.workflow_id and node.workflow_id not in workflow_ids:
            raise invalid_recipe(
                f"The recipe does not contain the workflow that the node {node.id!r} runs."
            )
    nodes = [
        msgspec.structs.replace(node, workflow_id=workflow_ids[node.workflow_id])
        if node.workflow_id
        else msgspec.structs.replace(node, task_id=task_ids[node.task_id])
        for node in recipe.nodes.values()
    ]
    return Graph(nodes, recipe.edges)


def _workflow(source: Fields) -> Recipe:
    report = ImportReport()
    part = f"workflow {source.get('name')}"
    is_ours = source.get("exporter") == EXPORTER
    tasks = _tasks(source, report, is_ours)
    graph_source = dict_in(source, "graph")
    values = {
        str(node["v"]): dict_in(node, "value") for node in _graph_rows(graph_source, "nodes", "v")
    }
    # In our recipes several nodes may run the same task, so each names its task.
    runs = {v: str((is_ours and value.get("task_id")) or v) for v, value in values.items()}
    for v, value in values.items():
        if _is_task(value) and runs[v] not in tasks:
            raise invalid_recipe(f"The graph has a task that the recipe does not contain: {v}.")
    # Only our recipes have nodes that run workflows.
    nested_ids = {
        v: str(value["workflow_id"])
        for v, value in values.items()
        if _runs_workflow(is_ours, value)
    }
    labels = {
        v: v if v in nested_ids or runs[v] != v else tasks[v]["name"]
        for v in values
        if v in nested_ids or runs[v] in tasks
    }
    names = _names(labels)
    nodes = {
        v: _node(name, runs[v], nested_ids.get(v), values[v], names if is_ours else {})
        for v, name in names.items()
    }
    bounds = _bounds(graph_source) if is_ours else {}
    distinct = dict.fromkeys(islice(_edges(graph_source, values, names), MAX_MEMBERS + 1))
    if len(distinct) > MAX_MEMBERS:
        raise invalid_recipe(f"The recipe has more than {MAX_MEMBERS} edges between tasks.")
    edges = [Edge(names[v], names[w], on, bounds.get((v, w, on))) for v, w, on in distinct]
    start = _start(source, names, part, report)
    fields = {"name": source.get("name"), "start": start, "tags": source.get("tags")}
    fields |= {key: source[key] for key in _WORKFLOW_FIELDS if source.get(key) is not None}
    fields["global_constants"] = _constants(dict_in(source, "global_constants"), part, report)
    skipped_fields.of_workflow(source, {*_WORKFLOW_FIELDS, "hostname"}, part, report)
    _report_graph(graph_source, values, names, part, report)
    return Recipe(tasks, fields, nodes, edges, report, is_ours)


def _tasks(source: Fields, report: ImportReport, is_ours: bool) -> dict[str, Fields]:
    """By their ids. A task that the graph cannot refer to is imported, too."""
    tasks: dict[str, Fields] = {}
    for position, task in enumerate(list_in(source, "tasks")):
        if not isinstance(task, dict):
            raise invalid_recipe(f"tasks[{position}] is not an object.")
        task_id = str(task.get("id") or task.get("_id") or f"#{position}")
        key = task_id if task_id not in tasks else f"{task_id}#{position}"
        tasks[key] = task_format.read(task, None, report, is_ours=is_ours)
    return tasks


def _start(source: Fields, names: dict[str, str], part: str, report: ImportReport) -> str:
    field = "start" if source.get("start") else "start_task_id"
    node_id = source.get(field)
    if node_id and str(node_id) not in names:
        report.skip(part, field, "The graph has no such node. Check where it starts.", node_id)
    return names.get(str(node_id), "")


def _report_graph(
    graph_source: Fields,
    values: dict[str, Fields],
    names: dict[str, str],
    part: str,
    report: ImportReport,
) -> None:
    """Nodes that are not tasks, except those that only name an edge, and edges without a name."""
    rows = _graph_rows(graph_source, "edges", "v", "w")
    sources = {str(row["w"]) for row in rows if str(row["v"]) in names}
    targets = {str(row["v"]) for row in rows if str(row["w"]) in names}
    for v, value in values.items():
        is_start = v == "START_NODE" or value.get("_type") == "home"
        if v not in names and not is_start and v not in sources & targets:
            kind = value.get("_type") or "node"
            label = f"graph: {kind} {value.get('name') or v}"
            report.skip(part, label, "Only tasks become nodes. Set again what starts the workflow.")
    for position, row in enumerate(rows):
        if row.get("value") and not isinstance(row["value"], str):
            reason = "The name of an event must be a text. The edge follows success."
            report.skip(part, f"graph.edges[{position}].value", reason, row["value"])


def _constants(source: Fields, part: str, report: ImportReport) -> dict[str, str]:
    """TheEye allows any name; ours must be a valid name of an environment variable."""
    constants = to_texts(source)
    for name in [name for name, value in constants.items() if [*env_faults("", {name: value})]]:
        report.skip(part, f"global_constants.{name}", "It is not a valid environment variable.")
        del constants[name]
    if hidden := sorted(name for name, value in constants.items() if value == MASK):
        report.notes.append(f"Set the global constants {', '.join(hidden)} again.")
    return constants


def _runs_workflow(is_ours: bool, value: Fields) -> bool:
    """Whether a node runs a workflow."""
    return is_ours and bool(value.get("workflow_id"))


def _node(
    name: str, task_id: str, workflow_id: str | None, value: Fields, names: dict[str, str]
) -> Node:
    """`names` are those of the nodes of our own recipe; others have no sources of arguments."""
    fields = {key: value[key] for key in ("join", "retry") if value.get(key) is not None}
    fields["arguments"] = [
        _source(source, names) for source in list_in(value, "arguments") if names
    ]
    fields |= {"task_id": task_id} if workflow_id is None else {"workflow_id": workflow_id}
    try:
        return msgspec.convert({"id": name, "position": _position(value), **fields}, Node)
    except msgspec.ValidationError as fault:
        raise invalid_recipe(f"The node {name!r} cannot be read: {fault}.") from None


def _source(source: object, names: dict[str, str]) -> object:
    """Names the node as in the new graph."""
    if not isinstance(source, dict) or not source.get("node"):
        return source
    return {**source, "node": names.get(str(source["node"]), source["node"])}


def _is_task(value: Fields) -> bool:
    return str(value.get("_type", "")).endswith("Task")


def _names(labels: dict[str, str]) -> dict[str, str]:
    """A unique, readable name for each node."""
    names: dict[str, str] = {}
    used: set[str] = set()
    # The last number of each stem, so that many nodes with the same name stay cheap.
    numbers: dict[str, int] = {}
    for v, name in labels.items():
        stem = name.strip()[:100] or "task"
        number = numbers.get(stem, 0) + 1
        while (name := stem if number == 1 else f"{stem} {number}") in used:
            number += 1
        numbers[stem] = number
        used.add(name)
        names[v] = name
    return names


def _position(value: Fields) -> Position | None:
    position = dict_in(value, "position")
    x, y = position.get("x"), position.get("y")
    if isinstance(x, int | float) and isinstance(y, int | float):
        return Position(float(x), float(y))
    return None


def _edges(
    graph_source: Fields, values: dict[str, Fields], names: dict[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Edges between tasks. Older graphs have events as nodes in between: they name the edge."""
    edges = [
        (str(edge["v"]), str(edge["w"]), edge.get("value"))
        for edge in _graph_rows(graph_source, "edges", "v", "w")
    ]
    targets_of_event: dict[str, list[str]] = {}
    for source, target, _ in edges:
        if source not in names and target in names:
            targets_of_event.setdefault(source, []).append(target)
    for source, target, on in edges:
        if source not in names:
            continue
        if target in names:
            yield source, target, on if isinstance(on, str) and on else "success"
            continue
        event = values.get(target, {}).get("name")
        for last in targets_of_event.get(target, ()):
            yield source, last, event if isinstance(event, str) and event else "success"


def _bounds(graph_source: Fields) -> dict[tuple[str, str, str], int]:
    """How often edges may be followed, which TheEye does not have."""
    bounds = {}
    for edge in _graph_rows(graph_source, "edges", "v", "w"):
        bound = edge.get("max_visits")
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int)):
            raise invalid_recipe("max_visits of an edge must be an integer.")
        if bound is not None:
            bounds[str(edge["v"]), str(edge["w"]), str(edge.get("value") or "success")] = bound
    return bounds


def _graph_rows(graph_source: Fields, key: str, *needed: str) -> list[Fields]:
    rows = list_in(graph_source, key)
    if not all(isinstance(row, dict) and all(name in row for name in needed) for row in rows):
        raise invalid_recipe(f"The graph's {key} are not in the format of graphlib.")
    return rows
