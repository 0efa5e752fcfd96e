"""A workflow as clients send it, and the validation of the resulting definition."""

from typing import Any

import msgspec

from belvedere.access import Actor
from belvedere.base.clock import DAY, SECOND, Millis, range_text
from belvedere.base.errors import Fault, NotFound
from belvedere.base.ids import is_id
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.rest import text_fields
from belvedere.tasks import store as tasks
from belvedere.tasks.definition.validation import env_faults
from belvedere.triggers.service import EventBody
from belvedere.workflow_specs import graph_validation as graph
from belvedere.workflow_specs import nesting
from belvedere.workflow_specs.model import Graph, WorkflowSpec
from belvedere.workflows.graphlib_format import GraphBody, to_graph

LINES = ("short_description", "icon_color", "icon_image")


class WorkflowFields(msgspec.Struct):
    """A workflow without its graph, or any part of it; null is the same as leaving a field out."""

    name: str | None = None
    start: str | None = None
    # TheEye's field: the task of the node to start with.
    start_task_id: str | None = None
    enable: bool | None = None
    description: str | None = None
    short_description: str | None = None
    icon_color: str | None = None
    icon_image: str | None = None
    tags: list[str] | None = None
    # Values that are not strings are converted to JSON text.
    global_constants: dict[str, Any] | None = None
    multitasking: bool | None = None
    expires: Millis | None = None
    acl: list[str] | None = None
    triggers: list[str | EventBody] | None = None


class WorkflowBody(WorkflowFields):
    graph: Graph | None = None


class WorkflowRequest(WorkflowFields):
    """A workflow's definition as clients send it: the graph may have the format of graphlib."""

    graph: GraphBody | None = None


def read(request: WorkflowRequest) -> WorkflowBody:
    fields = {name: getattr(request, name) for name in WorkflowFields.__struct_fields__}
    graph = None if request.graph is None else to_graph(request.graph)
    return WorkflowBody(**fields, graph=graph)


def spec_of(body: WorkflowBody, old: WorkflowSpec) -> WorkflowSpec:
    """The definition with the fields of the body; other fields keep their values."""
    fields: dict[str, Any] = {
        name: value
        for name in WorkflowSpec.__struct_fields__
        if (value := getattr(body, name)) is not None
    }
    if body.global_constants is not None:
        fields["global_constants"] = to_texts(body.global_constants)
    if body.graph is not None and body.start is None:
        # The new graph may not have the old start node; then the start follows from the graph.
        ids = {node.id for node in body.graph.nodes}
        fields["start"] = _by_task(body) or (old.start if old.start in ids else "")
    spec = msgspec.structs.replace(old, **fields)
    return msgspec.structs.replace(spec, start=graph.start_of(spec.graph, spec.start))


def to_texts(values: dict[str, Any]) -> dict[str, str]:
    return {
        name: value if isinstance(value, str) else json_text.compact(value)
        for name, value in values.items()
    }


def _by_task(body: WorkflowBody) -> str:
    assert body.graph is not None
    task_id = body.start_task_id
    if not task_id:
        return ""
    return next((n.id for n in body.graph.nodes if task_id in (n.id, n.task_id)), "")


def validate(
    tx: Tx,
    actor: Actor,
    spec: WorkflowSpec,
    current_tasks: set[str],
    workflow_id: str | None = None,
) -> WorkflowSpec:
    """The normalized definition. `current_tasks` were in it before and are not looked up."""
    faults = graph.faults_of(spec.graph, spec.start)
    if graph.is_too_large(spec.graph):
        # Nothing is looked up for it, which would take a query for each node.
        raise graph.invalid_workflow(faults)
    if not SECOND <= spec.expires <= 365 * DAY:
        faults.append(Fault("expires", f"Must be {range_text(SECOND, 365 * DAY)}."))
    faults += env_faults("global_constants", spec.global_constants)
    faults += _missing_tasks(tx, actor, spec, current_tasks)
    faults += nesting.faults_of(tx, actor.customer_id, workflow_id, spec.graph)
    if faults:
        raise graph.invalid_workflow(faults)
    lines = {name: text_fields.line(name, getattr(spec, name)) for name in LINES}
    return msgspec.structs.replace(
        spec,
        name=text_fields.line("name", spec.name, least=1),
        description=text_fields.prose("description", spec.description),
        tags=text_fields.tags("tags", spec.tags),
        **lines,
    )


def _missing_tasks(
    tx: Tx, actor: Actor, spec: WorkflowSpec, current_tasks: set[str]
) -> list[Fault]:
    new_tasks = spec.graph.tasks - current_tasks
    missing = {task_id for task_id in sorted(new_tasks) if not _exists(tx, actor, task_id)}
    return [
        Fault(f"graph.nodes[{n}].task_id", "No such task.")
        for n, node in enumerate(spec.graph.nodes)
        if node.task_id in missing
    ]


def _exists(tx: Tx, actor: Actor, task_id: str) -> bool:
    if not is_id(task_id):
        return False
    try:
        # Locked: a task that is being deleted must not get a new user.
        tasks.find(tx, actor.customer_id, task_id, lock=True)
    except NotFound:
        return False
    return True
