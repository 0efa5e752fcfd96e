"""Recipes of the original system: its exported tasks and workflows, told in our words. Pure."""

from collections.abc import Iterator
from typing import Any

import msgspec

from belvedere.base import text
from belvedere.base.errors import Invalid
from belvedere.tasks.model import TaskSpec
from belvedere.workflows.model import Edge, Graph, Node, Position

Fields = dict[str, Any]

# What belongs to the place that a recipe comes from, or has another meaning here.
_LEFT_OUT = frozenset({"host_id", "script_id", "approvers", "timeout", "history", "retry", "type"})
_KEPT = frozenset(
    field.encode_name
    for field in msgspec.structs.fields(TaskSpec)
    if field.encode_name not in _LEFT_OUT
)
# People and members of another organization.
_FOREIGN = frozenset({"assigned_users", "user_inputs_members"})


class Recipe(msgspec.Struct):
    """What a file holds: tasks by the ids that its graph uses, and the workflow, if it is one."""

    tasks: dict[str, Fields]
    workflow: Fields | None = None
    # Task id to node, in the order of the graph.
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    # What a person should look at.
    notes: list[str] = []


def bad(message: str) -> Invalid:
    return Invalid(message, code="invalid_recipe")


def read(said: Any) -> Recipe:
    """A task recipe has `task` and perhaps `file`, a workflow recipe `graph` and `tasks`."""
    if isinstance(said, dict) and isinstance(said.get("task"), dict):
        notes: list[str] = []
        return Recipe({"": _task(said["task"], said.get("file"), notes)}, notes=notes)
    if isinstance(said, dict) and isinstance(said.get("graph"), dict):
        return _workflow(said)
    raise bad("This is no recipe: it has neither a task nor a graph.")


def graph_of(recipe: Recipe, task_ids: dict[str, str]) -> Graph:
    """The graph, once its tasks are made."""
    nodes = [
        msgspec.structs.replace(node, task_id=task_ids[known])
        for known, node in recipe.nodes.items()
    ]
    return Graph(nodes, recipe.edges)


def _task(said: Fields, file: Any, notes: list[str]) -> Fields:
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
    if isinstance(said.get("multitasking"), bool):
        made["multitasking"] = said["multitasking"]
    if kind == "script":
        made["script"] = _script(file or said.get("script"), name)
        made["env"] = {key: _word(value) for key, value in _dict(said, "env").items()}
        if said.get("type") == "nodejs" and not said.get("script_runas"):
            made["script_runas"] = "node %script%"
    if kind == "approval" and said.get("approvals_target", "fixed") == "fixed":
        notes.append(f"{name}: you are the approver; name others with: belvedere task edit")
    if said.get("arguments_type") == "json":
        notes.append(f"{name}: its arguments arrive as plain text, not as JSON texts")
    return made


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


def _word(value: Any) -> str:
    return value if isinstance(value, str) else text.compact(value)


def _workflow(said: Fields) -> Recipe:
    notes: list[str] = []
    tasks = {
        str(one.get("id") or one.get("_id")): _task(one, None, notes)
        for one in _list(said, "tasks")
        if isinstance(one, dict)
    }
    drawn = _dict(said, "graph")
    values = {str(node["v"]): _dict(node, "value") for node in _drawn(drawn, "nodes", "v")}
    lacking = [known for known, value in values.items() if _is_task(value) and known not in tasks]
    if lacking:
        raise bad(f"The graph has a task that the recipe does not hold: {lacking[0]}.")
    names = _names({known: tasks[known]["name"] for known in values if known in tasks})
    nodes = {known: Node(name, "", position=_at(values[known])) for known, name in names.items()}
    edges = [Edge(names[v], names[w], on) for v, w, on in _edges(drawn, values, names)]
    if _dict(said, "global_constants"):
        notes.append("Its global constants are left out; give them to the tasks as --env.")
    start = names.get(str(said.get("start_task_id")), "")
    fields = {"name": said.get("name"), "start": start, "tags": said.get("tags")}
    fields |= {key: said.get(key) for key in ("description", "short_description", "multitasking")}
    return Recipe(tasks, fields, nodes, list(dict.fromkeys(edges)), notes)


def _is_task(value: Fields) -> bool:
    return str(value.get("_type", "")).endswith("Task")


def _names(called: dict[str, str]) -> dict[str, str]:
    """A name for each node that tells people which it is, each once."""
    found: dict[str, str] = {}
    for known, name in called.items():
        stem, number = name.strip()[:100] or "task", 1
        while (name := stem if number == 1 else f"{stem} {number}") in found.values():
            number += 1
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
    for source, target, on in given:
        if source not in names:
            continue
        if target in names:
            yield source, target, on if isinstance(on, str) and on else "success"
            continue
        event = values.get(target, {}).get("name")
        for between, last, _ in given:
            if between == target and last in names:
                yield source, last, event if isinstance(event, str) and event else "success"


def _drawn(drawn: Fields, key: str, *needed: str) -> list[Fields]:
    found = _list(drawn, key)
    if not all(isinstance(one, dict) and all(name in one for name in needed) for one in found):
        raise bad(f"The graph's {key} are not as graphlib writes them.")
    return found


def _list(said: Fields, key: str) -> list[Any]:
    found = said.get(key)
    return found if isinstance(found, list) else []


def _dict(said: Fields, key: str) -> Fields:
    found = said.get(key)
    return found if isinstance(found, dict) else {}
