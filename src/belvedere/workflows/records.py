"""A workflow as the interface shows it."""

import msgspec

from belvedere.access import Actor
from belvedere.base.clock import iso
from belvedere.workflow_specs.model import Graph, Step, WorkflowRow, decode
from belvedere.workflow_specs.nesting import WorkflowName
from belvedere.workflow_specs.store import TaskName
from belvedere.workflows.engine.visits import causes_of


class WorkflowRecord(msgspec.Struct):
    id: str
    kind: str = msgspec.field(name="_type")
    name: str
    description: str
    short_description: str
    icon_color: str
    icon_image: str
    graph: Graph
    # The node that it begins with, and the task that gets the arguments.
    start: str
    start_task_id: str
    # The tasks of its nodes, each once.
    tasks: list[TaskName]
    # The workflows of its nodes, each once.
    workflows: list[WorkflowName]
    enable: bool
    multitasking: bool
    expires: int
    tags: list[str]
    # Only to those who may edit it.
    global_constants: dict[str, str]
    acl: list[str]
    # Ids of the events that start it; GET /event lists them.
    triggers: list[str]
    version: int
    customer_id: str
    customer_name: str
    creation_date: str
    last_update: str


class CauseRecord(msgspec.Struct):
    """A visit that ended and was followed."""

    node_id: str
    visit: int


class StepRecord(msgspec.Struct):
    """A node of a workflow's job that was reached; once for each visit."""

    node_id: str
    # Its newest job; after a restart perhaps one of the job before.
    job_id: str
    # open, lost or ended
    state: str
    trigger_name: str | None
    # Whether it ended in the state normal or success.
    is_good: bool
    # How often the node's own retry has run it again.
    tries: int
    # 1, and more where edges lead round in a circle.
    visit: int
    # The visits whose ends let it begin.
    causes: list[CauseRecord]


def step(found: Step) -> StepRecord:
    return StepRecord(
        found.node_id,
        found.job_id,
        found.state,
        found.trigger_name,
        bool(found.is_good),
        found.tries,
        found.visit,
        [CauseRecord(*key) for key in causes_of(found)],
    )


class Shown(msgspec.Struct):
    """A workflow with what stands in other tables."""

    row: WorkflowRow
    acl: list[str]
    triggers: list[str]
    tasks: list[TaskName]
    workflows: list[WorkflowName]
    start_task_id: str


def record(shown: Shown, actor: Actor) -> WorkflowRecord:
    row, spec = shown.row, decode(shown.row.spec)
    return WorkflowRecord(
        id=row.id,
        kind="Workflow",
        name=spec.name,
        description=spec.description,
        short_description=spec.short_description,
        icon_color=spec.icon_color,
        icon_image=spec.icon_image,
        graph=spec.graph,
        start=spec.start,
        start_task_id=shown.start_task_id,
        tasks=shown.tasks,
        workflows=shown.workflows,
        enable=spec.enable,
        multitasking=spec.multitasking,
        expires=spec.expires,
        tags=spec.tags,
        global_constants=spec.global_constants if actor.runs_all else {},
        acl=shown.acl if actor.sees_all else [],
        triggers=shown.triggers,
        version=row.version,
        customer_id=row.customer_id,
        customer_name=actor.customer_name,
        creation_date=iso(row.created_at),
        last_update=iso(row.updated_at),
    )
