"""Workflows and steps as responses show them."""

import msgspec

from belvedere.access import Acl, Actor
from belvedere.base.clock import iso
from belvedere.workflow_specs.model import Graph, StepRow, WorkflowRow, decode
from belvedere.workflow_specs.nesting import WorkflowName
from belvedere.workflow_specs.store import TaskName
from belvedere.workflows.execution.visits import causes_of


class WorkflowRecord(msgspec.Struct):
    id: str
    kind: str = msgspec.field(name="_type")
    name: str
    description: str
    short_description: str
    icon_color: str
    icon_image: str
    graph: Graph
    # The node that it starts with, and the task that gets the arguments.
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
    # Only for those who may edit the workflow.
    global_constants: dict[str, str]
    acl: list[str]
    # E-mail addresses in the ACL that no member has yet.
    acl_pending: list[str]
    # Ids of the events that start it; GET /event lists them.
    triggers: list[str]
    version: int
    customer_id: str
    customer_name: str
    creation_date: str
    last_update: str


class CauseRecord(msgspec.Struct):
    """A visit that ended and started another."""

    node_id: str
    visit: int


class StepRecord(msgspec.Struct):
    """A visit of a node of a workflow job."""

    node_id: str
    # Its latest job; after a restart possibly a job of the earlier workflow job.
    job_id: str
    # open, lost or ended
    state: str
    trigger_name: str | None
    # Whether it ended in the state normal or success.
    is_good: bool
    # How often the node's own retry has repeated it.
    tries: int
    # 1, or higher on a cycle.
    visit: int
    # The visits whose ends started it.
    causes: list[CauseRecord]


def to_step_record(row: StepRow) -> StepRecord:
    return StepRecord(
        row.node_id,
        row.job_id,
        row.state,
        row.trigger_name,
        bool(row.is_good),
        row.tries,
        row.visit,
        [CauseRecord(*key) for key in causes_of(row)],
    )


class WorkflowView(msgspec.Struct):
    """A workflow with what its record needs from other tables."""

    row: WorkflowRow
    acl: Acl
    triggers: list[str]
    tasks: list[TaskName]
    workflows: list[WorkflowName]
    start_task_id: str


def to_record(view: WorkflowView, actor: Actor) -> WorkflowRecord:
    row, spec = view.row, decode(view.row.spec)
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
        start_task_id=view.start_task_id,
        tasks=view.tasks,
        workflows=view.workflows,
        enable=spec.enable,
        multitasking=spec.multitasking,
        expires=spec.expires,
        tags=spec.tags,
        global_constants=spec.global_constants if actor.runs_all else {},
        acl=view.acl.entries if actor.sees_all else [],
        acl_pending=view.acl.pending if actor.sees_all else [],
        triggers=view.triggers,
        version=row.version,
        customer_id=row.customer_id,
        customer_name=actor.customer_name,
        creation_date=iso(row.created_at),
        last_update=iso(row.updated_at),
    )
