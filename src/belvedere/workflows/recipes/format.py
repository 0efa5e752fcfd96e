"""Reads recipes, those of TheEye and our own: exported tasks and workflows. Pure."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from belvedere.base.errors import Invalid
from belvedere.tasks.definition.validation import env_faults
from belvedere.tasks.model import MASK, TaskSpec
from belvedere.workflow_specs.model import Edge, Graph, Node, Position
from belvedere.workflows.bodies import to_texts

Fields = dict[str, Any]

# Specific to the server that a recipe comes from, or with another meaning in TheEye.
_NOT_IMPORTED = frozenset(
    {"host_id", "script_id", "approvers", "timeout", "history", "retry", "type"}
)
_IMPORTED = frozenset(
    field.encode_name
    for field in msgspec.structs.fields(TaskSpec)
    if field.encode_name not in _NOT_IMPORTED
)
# Entries of a list: tasks, workflows, nodes, edges. Older graphs have events as nodes.
MAX_MEMBERS = 2_000
# People of another organization.
_FOREIGN = frozenset({"assigned_users", "user_inputs_members"})
# Fields that TheEye does not have; they are read from our own recipes only.
_OUR_FIELDS = ("retry", "history")
EXPORTER = "belvedere"
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
    # What a person should check.
    notes: list[str] = []
    # The workflows that it runs, by the ids of its graph, each after those that it runs itself.
    inner: "dict[str, Recipe]" = {}


def invalid_recipe(message: str) -> Invalid:
    return Invalid(message, code="invalid_recipe")


def read(source: object) -> Recipe:
    """A task recipe has `task` and optionally `file`, a workflow recipe `graph` and `tasks`."""
    if isinstance(source, dict) and isinstance(source.get("task"), dict):
        notes: list[str] = []
        is_ours = source.get("exporter") == EXPORTER
        return Recipe({"": _task(source["task"], source.get("file"), notes, is_ours)}, notes=notes)
    if isinstance(source, dict) and isinstance(source.get("graph"), dict):
        recipe = _workflow(source)
        recipe.inner = _inner(source)
        return recipe
    raise invalid_recipe("This is not a recipe: it has neither a task nor a graph.")


def _inner(source: Fields) -> "dict[str, Recipe]":
    workflows = _list(source, "workflows") if source.get("exporter") == EXPORTER else []
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


def _task(source: Fields, file: object, notes: list[str], is_ours: bool) -> Fields:
    """The body that creates the task."""
    name = str(source.get("name") or "")
    kind = "script" if source.get("type") == "nodejs" else source.get("type")
    body = {
        field: value
        for field, value in source.items()
        if field in _IMPORTED and field not in _FOREIGN and value is not None
    }
    body |= {"name": name, "type": kind, "timeout": source.get("timeout") or None}
    body["task_arguments"] = [_argument(argument) for argument in _list(source, "task_arguments")]
    body |= {field: source[field] for field in _OUR_FIELDS if is_ours and field in source}
    if isinstance(source.get("multitasking"), bool):
        body["multitasking"] = source["multitasking"]
    if kind == "script":
        body["script"] = _script(file or source.get("script"), name)
        body["env"] = to_texts(_dict(source, "env"))
        if source.get("type") == "nodejs" and not source.get("script_runas"):
            body["script_runas"] = "node %script%"
    if kind == "approval" and source.get("approvals_target", "fixed") == "fixed":
        notes.append(f"{name}: you are the approver; set others with: belvedere task edit")
    if source.get("arguments_type") == "json":
        notes.append(f"{name}: its arguments are passed as plain text, not as JSON")
    if any(_lacks_value(argument) for argument in body["task_arguments"]):
        notes.append(f"{name}: set the values of its masked fixed arguments again")
    if places := _masks_in(body):
        notes.append(f"{name}: set the credentials in its {', '.join(places)} again")
    return body


def _masks_in(body: Fields) -> list[str]:
    """Fields whose credentials were masked by the export."""
    texts = {field: body.get(field) for field in ("url", "body")}
    texts |= _dict(body, "headers") | _dict(body, "env")
    return sorted(field for field, text in texts.items() if isinstance(text, str) and MASK in text)


def _lacks_value(argument: Fields) -> bool:
    """Whether the value is missing because masked values are not exported."""
    return bool(argument.get("masked")) and argument.get("type") == "fixed"


def _argument(source: object) -> Fields:
    if not isinstance(source, dict):
        raise invalid_recipe("An argument of a task is not an object.")
    fields = {key: value for key, value in source.items() if value is not None and key != "charset"}
    # TheEye writes 0 for no limit.
    for limit in ("charsmin", "charsmax"):
        if not fields.get(limit):
            fields.pop(limit, None)
    fields["id"] = None
    return fields


def _script(file: object, task: str) -> Fields:
    if not isinstance(file, dict) or not isinstance(file.get("data"), str):
        raise invalid_recipe(
            f"The script of the task {task!r} is missing; export it with mode=deep."
        )
    # With or without the prefix `data:text/plain;base64,`.
    data = file["data"].rpartition(",")[2]
    return {"filename": str(file.get("filename") or "script.sh"), "data": data}


def _workflow(source: Fields) -> Recipe:
    notes: list[str] = []
    is_ours = source.get("exporter") == EXPORTER
    tasks = {
        str(task.get("id") or task.get("_id")): _task(task, None, notes, is_ours)
        for task in _list(source, "tasks")
        if isinstance(task, dict)
    }
    graph_source = _dict(source, "graph")
    values = {
        str(node["v"]): _dict(node, "value") for node in _graph_rows(graph_source, "nodes", "v")
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
    start = names.get(str(source.get("start") or source.get("start_task_id")), "")
    fields = {"name": source.get("name"), "start": start, "tags": source.get("tags")}
    fields |= {key: source[key] for key in _WORKFLOW_FIELDS if source.get(key) is not None}
    fields["global_constants"] = _constants(_dict(source, "global_constants"), notes)
    return Recipe(tasks, fields, nodes, edges, notes)


def _constants(source: Fields, notes: list[str]) -> dict[str, str]:
    """TheEye allows any name; ours must be a valid name of an environment variable."""
    constants = to_texts(source)
    for name in [name for name, value in constants.items() if [*env_faults("", {name: value})]]:
        notes.append(
            f"The global constant {name!r} is skipped: it is no valid environment variable."
        )
        del constants[name]
    if hidden := sorted(name for name, value in constants.items() if value == MASK):
        notes.append(f"Set the global constants {', '.join(hidden)} again.")
    return constants


def _runs_workflow(is_ours: bool, value: Fields) -> bool:
    """Whether a node runs a workflow."""
    return is_ours and bool(value.get("workflow_id"))


def _node(
    name: str, task_id: str, workflow_id: str | None, value: Fields, names: dict[str, str]
) -> Node:
    """`names` are those of the nodes of our own recipe; others have no sources of arguments."""
    fields = {key: value[key] for key in ("join", "retry") if value.get(key) is not None}
    fields["arguments"] = [_source(source, names) for source in _list(value, "arguments") if names]
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
    position = _dict(value, "position")
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
    rows = _list(graph_source, key)
    if not all(isinstance(row, dict) and all(name in row for name in needed) for row in rows):
        raise invalid_recipe(f"The graph's {key} are not in the format of graphlib.")
    return rows


def _list(source: Fields, key: str) -> list[Any]:
    values = source.get(key)
    if isinstance(values, list) and len(values) > MAX_MEMBERS:
        raise invalid_recipe(
            f"The recipe has {len(values)} {key}; at most {MAX_MEMBERS} can be read."
        )
    return values if isinstance(values, list) else []


def _dict(source: Fields, key: str) -> Fields:
    value = source.get(key)
    return value if isinstance(value, dict) else {}
