"""Exports a task, or a workflow with its tasks, as a recipe."""

import base64
from typing import Any

import msgspec

from belvedere import files
from belvedere.access import Actor, Level, require
from belvedere.base.errors import Invalid
from belvedere.db import Tx
from belvedere.files.store import size_of
from belvedere.rest.response_budget import Budget
from belvedere.tasks import store as tasks
from belvedere.tasks.definition.masking import shown_spec, without_credentials
from belvedere.tasks.model import KIND_NAMES, TaskSpec, Type
from belvedere.tasks.store import Runnable
from belvedere.workflow_specs import store
from belvedere.workflow_specs.model import WorkflowSpec, decode
from belvedere.workflow_specs.store import TaskName
from belvedere.workflows.graphlib_format import to_graphlib
from belvedere.workflows.recipes.source import EXPORTER, Fields

MODES = ("deep", "shallow")
# Bytes of scripts in one recipe; a single script may always be as large as a file.
MAX_SCRIPT_BYTES = 32 << 20
# Specific to this server: people, hosts, and ids of files.
_NOT_EXPORTED = ("host_id", "script_id", "approvers", "assigned_users", "user_inputs_members")


def export_task(tx: Tx, actor: Actor, task_id: str, mode: str = "deep") -> Fields:
    """The task and its script; without the content of the script if `mode` is shallow."""
    _check(actor, mode)
    task = tasks.runnable(tx, actor.customer_id, task_id)
    if task is None:
        raise tasks.not_found()
    recipe = {"exporter": EXPORTER, "task": _task(task)}
    if task.type == Type.SCRIPT:
        recipe["file"] = _file(tx, task, mode, Budget(MAX_SCRIPT_BYTES))
    return recipe


def export_workflow(tx: Tx, actor: Actor, workflow_id: str, mode: str = "deep") -> Fields:
    """The workflow with its tasks, each once with its script, and the workflows that it runs, each
    once and after those that it runs itself."""
    _check(actor, mode)
    row = store.find(tx, actor.customer_id, workflow_id)
    inner: dict[str, Fields] = {}
    budget = Budget(MAX_SCRIPT_BYTES)
    _collect(tx, actor, decode(row.spec), mode, inner, budget)
    recipe = _workflow(tx, actor, decode(row.spec), mode, budget)
    return {**recipe, "workflows": list(inner.values())} if inner else recipe


def _collect(
    tx: Tx,
    actor: Actor,
    spec: WorkflowSpec,
    mode: str,
    nested: dict[str, Fields],
    budget: Budget,
) -> None:
    for workflow_id in sorted(spec.graph.workflows - nested.keys()):
        inner = decode(store.find(tx, actor.customer_id, workflow_id).spec)
        _collect(tx, actor, inner, mode, nested, budget)
        nested[workflow_id] = {"id": workflow_id, **_workflow(tx, actor, inner, mode, budget)}


def _workflow(tx: Tx, actor: Actor, spec: WorkflowSpec, mode: str, budget: Budget) -> Fields:
    rows = {
        task_id: tasks.runnable(tx, actor.customer_id, task_id, also_deleted=True)
        for task_id in dict.fromkeys(node.task_id for node in spec.graph.nodes if node.task_id)
    }
    tasks_by_id = {task_id: task for task_id, task in rows.items() if task is not None}
    return {
        "exporter": EXPORTER,
        "_type": "Workflow",
        **_fields(spec),
        "start_task_id": spec.graph.node(spec.start).task_id,
        "graph": _graph(spec, tasks_by_id),
        "tasks": [_task_with_script(tx, task, mode, budget) for task in tasks_by_id.values()],
    }


def _check(actor: Actor, mode: str) -> None:
    require(actor, Level.ADMIN)
    if mode not in MODES:
        raise Invalid(
            f"mode must be {' or '.join(MODES)}, not {mode[:64]!r}.", code="invalid_query"
        )


def _task(task: Runnable) -> Fields:
    spec = msgspec.structs.replace(
        shown_spec(task.spec),
        task_arguments=_arguments(task.spec),
        env=without_credentials(task.spec.env),
    )
    all_fields: Fields = msgspec.to_builtins(spec)
    fields = {field: value for field, value in all_fields.items() if field not in _NOT_EXPORTED}
    return {"id": task.id, "_type": KIND_NAMES[spec.type], **fields}


def _arguments(spec: TaskSpec) -> list[Any]:
    """Arguments without masked values, which are never exported."""
    return [
        msgspec.structs.replace(argument, value=None) if argument.masked else argument
        for argument in spec.task_arguments
    ]


def _check_size(tx: Tx, sha256: str, budget: Budget) -> None:
    if not budget.takes(size_of(tx, sha256) or 0):
        raise Invalid(
            f"The scripts of this recipe have more than {MAX_SCRIPT_BYTES} bytes; export it with"
            " mode=shallow and download the scripts one by one.",
            code="recipe_too_large",
        )


def _file(tx: Tx, task: Runnable, mode: str, budget: Budget) -> Fields:
    fields: Fields = {"filename": task.script_filename or "script.sh"}
    if mode == "deep":
        _check_size(tx, task.script_sha256 or "", budget)
        content = files.content_of(tx, task.script_sha256 or "") or b""
        fields["data"] = base64.b64encode(content).decode()
    return fields


def _task_with_script(tx: Tx, task: Runnable, mode: str, budget: Budget) -> Fields:
    if task.type != Type.SCRIPT:
        return _task(task)
    return {**_task(task), "script": _file(tx, task, mode, budget)}


def _fields(spec: WorkflowSpec) -> Fields:
    constants = without_credentials(spec.global_constants)
    all_fields: Fields = msgspec.to_builtins(
        msgspec.structs.replace(spec, global_constants=constants)
    )
    return {field: value for field, value in all_fields.items() if field != "graph"}


def _graph(spec: WorkflowSpec, tasks_by_id: dict[str, Runnable]) -> Fields:
    names = [TaskName(task.id, task.name, task.type) for task in tasks_by_id.values()]
    graph: Fields = msgspec.to_builtins(to_graphlib(spec.graph, names))
    return graph
