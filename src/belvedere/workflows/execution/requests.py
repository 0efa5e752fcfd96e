"""Requests to run a node of a workflow job, and the jobs prepared for them."""

from typing import Any

import msgspec

from belvedere.base.clock import Millis
from belvedere.jobs.lifecycle.create import CreatedJob, JobRequest
from belvedere.jobs.model import JobRow
from belvedere.workflow_specs.model import Node, WorkflowJobRow, WorkflowRow
from belvedere.workflows.execution.visits import VisitKey


class RunContext(msgspec.Struct):
    """What the steps of a workflow job take over from it."""

    id: str
    workflow_id: str | None
    customer_id: str
    user_id: str
    username: str
    email: str
    # Levels of nested workflows, including this one.
    depth: int = 1
    # Who counts as having started it, if no person did.
    starters: tuple[str, ...] = ()
    # User ids of the people to whom it is assigned.
    assignees: tuple[str, ...] = ()
    # What started it, if no person did (`Actor.source`).
    source: str = ""
    # The trace context of the request that started it.
    traceparent: str | None = None


class StepRequest(msgspec.Struct):
    """A node that is to start, on behalf of the person who started the workflow."""

    parent: RunContext | JobRow
    node: Node
    values: list[Any]
    origin: str = "workflow"
    by_index: bool = True
    # Values beyond the definitions are removed instead of refused.
    ignores_extra: bool = False
    # If a job is repeated: the task version that its arguments fit, and the stored arguments.
    stored_arguments: tuple[int | None, str] | None = None
    restarted_from: str | None = None
    delay: Millis = 0
    # The number of the visit, and the visits whose ends started it.
    visit: int = 1
    causes: tuple[VisitKey, ...] = ()


class WorkflowRun(msgspec.Struct):
    """A workflow job, checked and not yet written. Without a first step it has failed."""

    job: JobRow
    workflow: WorkflowRow
    workflow_job: WorkflowJobRow
    first_step: "StepJob | None" = None
    # User ids.
    assignees: tuple[str, ...] = ()


class StepJob(msgspec.Struct):
    """The job of a node, checked and not yet written: of its task, or of its workflow."""

    request: StepRequest
    task_job: tuple[JobRequest, CreatedJob] | None = None
    run: WorkflowRun | None = None

    @property
    def job(self) -> JobRow:
        if self.run is not None:
            return self.run.job
        assert self.task_job is not None
        return self.task_job[1].job
