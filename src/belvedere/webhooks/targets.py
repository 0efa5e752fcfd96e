"""What a webhook can start: one row for each kind of target."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from belvedere.access import Actor
from belvedere.db import Tx
from belvedere.jobs.lifecycle import create
from belvedere.jobs.lifecycle.create import CreatedJob, JobRequest, TaskCache
from belvedere.tasks import store as tasks
from belvedere.webhooks.model import StartedJob
from belvedere.workflow_specs import store as workflows
from belvedere.workflow_specs.nesting import first_task
from belvedere.workflows import start
from belvedere.workflows.start import PreparedWorkflowJob, WorkflowJobRequest


class PreparedTarget(Protocol):
    """A job that was checked and is not yet written."""

    @property
    def started(self) -> StartedJob: ...


# What was read once for several calls of one transaction.
TargetCache = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """How one kind of target is found, checked and started, and what it masks in a payload."""

    # (tx, customer_id, target_id, lock=True); raises NotFound
    find: Callable[..., object]
    # Raises if the target cannot run; starts nothing.
    prepare: Callable[[Tx, Actor, str, list[Any], TargetCache], PreparedTarget]
    write: Callable[[Tx, Sequence[Any]], None]
    # Places of the payload that are masked.
    masked: Callable[[Tx, str, str, TargetCache], list[int]]


@dataclass(frozen=True, slots=True)
class PreparedTask:
    request: JobRequest
    created: CreatedJob

    @property
    def started(self) -> StartedJob:
        return StartedJob(self.created.job.id, task_id=self.created.task.id)


@dataclass(frozen=True, slots=True)
class PreparedWorkflow:
    prepared: PreparedWorkflowJob

    @property
    def started(self) -> StartedJob:
        return StartedJob(self.prepared.job.id, workflow_id=self.prepared.job.workflow_id)


def _prepare_task(
    tx: Tx, actor: Actor, task_id: str, payload: list[Any], cache: TargetCache
) -> PreparedTask:
    job_request = JobRequest(actor, task_id, payload, origin="trigger_by", by_index=True)
    tasks_by_id: TaskCache = cache.setdefault("task", {})
    return PreparedTask(job_request, create.prepare(tx, job_request, tasks_by_id))


def _write_tasks(tx: Tx, ready: Sequence[PreparedTask]) -> None:
    create.write(tx, [(task.request, task.created) for task in ready])


def _masked_places_of_task(tx: Tx, customer_id: str, task_id: str, cache: TargetCache) -> list[int]:
    tasks_by_id: TaskCache = cache.setdefault("task", {})
    entry = tasks_by_id.get((customer_id, task_id))
    task = entry[0] if entry else tasks.runnable(tx, customer_id, task_id)
    if task is None:
        return []
    return [n for n, argument in enumerate(task.spec.task_arguments) if argument.masked]


def _prepare_workflow(
    tx: Tx, actor: Actor, workflow_id: str, payload: list[Any], cache: TargetCache
) -> PreparedWorkflow:
    job_request = WorkflowJobRequest(
        actor, workflow_id, payload, origin="trigger_by", by_index=True
    )
    return PreparedWorkflow(start.prepare(tx, job_request, cache.setdefault("task", {})))


def _write_workflows(tx: Tx, ready: Sequence[PreparedWorkflow]) -> None:
    start.write(tx, [workflow.prepared for workflow in ready])


def _masked_places_of_workflow(
    tx: Tx, customer_id: str, workflow_id: str, cache: TargetCache
) -> list[int]:
    """The payload becomes the arguments of the first step."""
    if workflows.look_up(tx, customer_id, workflow_id) is None:
        return []
    return _masked_places_of_task(tx, customer_id, first_task(tx, customer_id, workflow_id), cache)


TARGETS = {
    "task": Target(tasks.find, _prepare_task, _write_tasks, _masked_places_of_task),
    "workflow": Target(
        workflows.find, _prepare_workflow, _write_workflows, _masked_places_of_workflow
    ),
}
