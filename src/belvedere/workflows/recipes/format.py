"""Recipes, those of the original system and our own: exported tasks and workflows. Pure."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from belvedere.base.errors import Invalid
from belvedere.tasks.definition.validation import env_faults
from belvedere.tasks.model import MASK, TaskSpec
from belvedere.workflow_specs.model import Edge, Graph, Node, Position
from belvedere.workflows.bodies import texts_of

Fields = dict[str, Any]

# What belongs to the place that a recipe comes from, or has another meaning here.
_LEFT_OUT = frozenset({"host_id", "script_id", "approvers", "timeout", "history", "retry", "type"})
_KEPT = frozenset(
    field.encode_name
    for field in msgspec.structs.fields(TaskSpec)
    if field.encode_name not in _LEFT_OUT
)
# Members of a list in a recipe: tasks, workflows, nodes, edges. Older graphs draw events as nodes.
MAX_MEMBERS = 2_000
# People and members of another organization.
_FOREIGN = frozenset({"assigned_users", "user_inputs_members"})
# Known only here; in a recipe of ours they mean what they say.
_OURS = ("retry", "history")
EXPORTER = "belvedere"
_WORKFLOW = (
    *("description", "short_description", "icon_color", "icon_image"),
    *("enable", "multitasking", "expires"),
)


class Recipe(msgspec.Struct):
    """What a file holds: tasks by the ids that its graph uses, and the workflow, if it is one."""

    tasks: dict[str, Fields]
    workflow: Fields | None = None
    # By its name in the graph, with the task as the recipe calls it, in the order of the graph.
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    # What a person should look at.
    notes: list[str] = []
    # The workflows that it runs, each after those that it runs itself, by the ids of its graph.
    inner: "dict[str, Recipe]" = {}


def bad(message: str) -> Invalid:
    return Invalid(message, code="invalid_recipe")


def read(said: Any) -> Recipe:
    """A task recipe has `task` and perhaps `file`, a workflow recipe `graph` and `tasks`."""
    if isinstance(said, dict) and isinstance(said.get("task"), dict):
        notes: list[str] = []
        is_ours = said.get("exporter") == EXPORTER
        return Recipe({"": _task(said["task"], said.get("file"), notes, is_ours)}, notes=notes)
    if isinstance(said, dict) and isinstance(said.get("graph"), dict):
        recipe = _workflow(said)
        recipe.inner = _inner(said)
        return recipe
    raise bad("This is no recipe: it has neither a task nor a graph.")


def _inner(said: Fields) -> "dict[str, Recipe]":
    given = _list(said, "workflows") if said.get("exporter") == EXPORTER else []
    if not all(isinstance(one, dict) and isinstance(one.get("graph"), dict) for one in given):
        raise bad("A workflow that the recipe holds has no graph.")
    return {str(one.get("id")): _workflow(one) for one in given}


def graph_of(recipe: Recipe, task_ids: dict[str, str], workflow_ids: dict[str, str]) -> Graph:
    """The graph, once its tasks and the workflows that it runs are made."""
    for node in recipe.nodes.values():
        if node.workflow_id and node.workflow_id not in workflow_ids:
            raise bad(f"The recipe does not hold the workflow that {node.id!r} runs.")
    nodes = [
        msgspec.structs.replace(node, workflow_id=workflow_ids[node.workflow_id])
        if node.workflow_id
        else msgspec.structs.replace(node, task_id=task_ids[node.task_id])
        for node in recipe.nodes.values()
    ]
    return Graph(nodes, recipe.edges)


def _task(said: Fields, file: Any, notes: list[str], is_ours: bool) -> Fields:
    """The body that makes it here."""
    name = str(said.get("name") or "")
    kind = "script" if said.get("type") == "nodejs" else said.get("type")
    made = {
        field: value
        for field, value in said.items()
        if field in _KEPT and field not in _FOREIGN and value is not None
    }
    made |= {"name": name, "type": kind, "timeout": said.get("timeout") or None}
    made["task_arguments"] = [_argument(one) for one in _list(said, "task_arguments")]
    made |= {field: said[field] for field in _OURS if is_ours and field in said}
    if isinstance(said.get("multitasking"), bool):
        made["multitasking"] = said["multitasking"]
    if kind == "script":
        made["script"] = _script(file or said.get("script"), name)
        made["env"] = texts_of(_dict(said, "env"))
        if said.get("type") == "nodejs" and not said.get("script_runas"):
            made["script_runas"] = "node %script%"
    if kind == "approval" and said.get("approvals_target", "fixed") == "fixed":
        notes.append(f"{name}: you are the approver; name others with: belvedere task edit")
    if said.get("arguments_type") == "json":
        notes.append(f"{name}: its arguments arrive as plain text, not as JSON texts")
    if any(_is_lost(one) for one in made["task_arguments"]):
        notes.append(f"{name}: give its masked fixed arguments their values anew")
    if places := _masks_in(made):
        notes.append(f"{name}: set the credentials in its {', '.join(places)} again")
    return made


def _masks_in(made: Fields) -> list[str]:
    """Fields with credentials that stayed where the recipe comes from."""
    texts = {field: made.get(field) for field in ("url", "body")}
    texts |= _dict(made, "headers") | _dict(made, "env")
    return sorted(field for field, text in texts.items() if isinstance(text, str) and MASK in text)


def _is_lost(argument: Fields) -> bool:
    """Masked values stay where they are."""
    return bool(argument.get("masked")) and argument.get("type") == "fixed"


def _argument(said: Any) -> Fields:
    if not isinstance(said, dict):
        raise bad("An argument of a task is no object.")
    kept = {key: value for key, value in said.items() if value is not None and key != "charset"}
    # There, no limit is written as 0.
    for limit in ("charsmin", "charsmax"):
        if not kept.get(limit):
            kept.pop(limit, None)
    kept["id"] = None
    return kept


def _script(file: Any, task: str) -> Fields:
    if not isinstance(file, dict) or not isinstance(file.get("data"), str):
        raise bad(f"The script of the task {task!r} is missing; export it with mode=deep.")
    # With or without `data:text/plain;base64,` in front.
    data = file["data"].rpartition(",")[2]
    return {"filename": str(file.get("filename") or "script.sh"), "data": data}


def _workflow(said: Fields) -> Recipe:
    notes: list[str] = []
    is_ours = said.get("exporter") == EXPORTER
    tasks = {
        str(one.get("id") or one.get("_id")): _task(one, None, notes, is_ours)
        for one in _list(said, "tasks")
        if isinstance(one, dict)
    }
    drawn = _dict(said, "graph")
    values = {str(node["v"]): _dict(node, "value") for node in _drawn(drawn, "nodes", "v")}
    # In ours the same task may stand in several nodes, so that each says which it is.
    runs = {v: str((is_ours and value.get("task_id")) or v) for v, value in values.items()}
    for known, value in values.items():
        if _is_task(value) and runs[known] not in tasks:
            raise bad(f"The graph has a task that the recipe does not hold: {known}.")
    # Ours alone has nodes that run workflows.
    flows = {v: str(value["workflow_id"]) for v, value in values.items() if _runs(is_ours, value)}
    called = {
        v: v if v in flows or runs[v] != v else tasks[v]["name"]
        for v in values
        if v in flows or runs[v] in tasks
    }
    names = _names(called)
    nodes = {v: _node(name, runs[v], flows.get(v), values[v]) for v, name in names.items()}
    bounds = _bounds(drawn) if is_ours else {}
    distinct = dict.fromkeys(islice(_edges(drawn, values, names), MAX_MEMBERS + 1))
    if len(distinct) > MAX_MEMBERS:
        raise bad(f"The recipe has more than {MAX_MEMBERS} edges between tasks.")
    edges = [Edge(names[v], names[w], on, bounds.get((v, w, on))) for v, w, on in distinct]
    start = names.get(str(said.get("start") or said.get("start_task_id")), "")
    fields = {"name": said.get("name"), "start": start, "tags": said.get("tags")}
    fields |= {key: said[key] for key in _WORKFLOW if said.get(key) is not None}
    fields["global_constants"] = _constants(_dict(said, "global_constants"), notes)
    return Recipe(tasks, fields, nodes, edges, notes)


def _constants(said: Fields, notes: list[str]) -> dict[str, str]:
    """There, any name will do; here it must be one that a script can be given."""
    found = texts_of(said)
    for name in [name for name, value in found.items() if [*env_faults("", {name: value})]]:
        notes.append(f"The global constant {name!r} is left out: no script can be given it.")
        del found[name]
    if hidden := sorted(name for name, value in found.items() if value == MASK):
        notes.append(f"Set the global constants {', '.join(hidden)} again.")
    return found


def _runs(is_ours: bool, value: Fields) -> bool:
    """Whether a node runs a workflow."""
    return is_ours and bool(value.get("workflow_id"))


def _node(name: str, task: str, flow: str | None, value: Fields) -> Node:
    more = {key: value[key] for key in ("join", "retry") if value.get(key) is not None}
    more |= {"task_id": task} if flow is None else {"workflow_id": flow}
    try:
        return msgspec.convert({"id": name, "position": _at(value), **more}, Node)
    except msgspec.ValidationError as fault:
        raise bad(f"The node {name!r} cannot be read: {fault}.") from None


def _is_task(value: Fields) -> bool:
    return str(value.get("_type", "")).endswith("Task")


def _names(called: dict[str, str]) -> dict[str, str]:
    """A name for each node that tells people which it is, each once."""
    found: dict[str, str] = {}
    used: set[str] = set()
    # The last number of each stem, so that a hundred nodes of one name are not counted a
    # hundred times.
    numbers: dict[str, int] = {}
    for known, name in called.items():
        stem = name.strip()[:100] or "task"
        number = numbers.get(stem, 0) + 1
        while (name := stem if number == 1 else f"{stem} {number}") in used:
            number += 1
        numbers[stem] = number
        used.add(name)
        found[known] = name
    return found


def _at(value: Fields) -> Position | None:
    at = _dict(value, "position")
    x, y = at.get("x"), at.get("y")
    if isinstance(x, int | float) and isinstance(y, int | float):
        return Position(float(x), float(y))
    return None


def _edges(
    drawn: Fields, values: dict[str, Fields], names: dict[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Between tasks. Older graphs have events as nodes in between: they name the edge."""
    given = [
        (str(edge["v"]), str(edge["w"]), edge.get("value"))
        for edge in _drawn(drawn, "edges", "v", "w")
    ]
    behind: dict[str, list[str]] = {}
    for source, target, _ in given:
        if source not in names and target in names:
            behind.setdefault(source, []).append(target)
    for source, target, on in given:
        if source not in names:
            continue
        if target in names:
            yield source, target, on if isinstance(on, str) and on else "success"
            continue
        event = values.get(target, {}).get("name")
        for last in behind.get(target, ()):
            yield source, last, event if isinstance(event, str) and event else "success"


def _bounds(drawn: Fields) -> dict[tuple[str, str, str], int]:
    """How often edges may be followed; known only here."""
    found = {}
    for edge in _drawn(drawn, "edges", "v", "w"):
        bound = edge.get("max_visits")
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int)):
            raise bad("max_visits of an edge is no whole number.")
        if bound is not None:
            found[str(edge["v"]), str(edge["w"]), str(edge.get("value") or "success")] = bound
    return found


def _drawn(drawn: Fields, key: str, *needed: str) -> list[Fields]:
    found = _list(drawn, key)
    if not all(isinstance(one, dict) and all(name in one for name in needed) for one in found):
        raise bad(f"The graph's {key} are not as graphlib writes them.")
    return found


def _list(said: Fields, key: str) -> list[Any]:
    found = said.get(key)
    if isinstance(found, list) and len(found) > MAX_MEMBERS:
        raise bad(f"The recipe has {len(found)} {key}; at most {MAX_MEMBERS} can be read.")
    return found if isinstance(found, list) else []


def _dict(said: Fields, key: str) -> Fields:
    found = said.get(key)
    return found if isinstance(found, dict) else {}
