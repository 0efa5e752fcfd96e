"""What a webhook can start: one row for each kind of target."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from belvedere.access import Actor
from belvedere.db import Tx
from belvedere.jobs.lifecycle import create
from belvedere.jobs.lifecycle.create import Created, NewJob, Tasks
from belvedere.tasks import store as tasks
from belvedere.webhooks.model import StartedJob
from belvedere.workflow_specs import store as workflows
from belvedere.workflow_specs.nesting import first_task
from belvedere.workflows import start
from belvedere.workflows.start import PreparedWorkflowJob, WorkflowJobRequest


class Ready(Protocol):
    """Something that can be started: checked, and not yet written."""

    @property
    def started(self) -> StartedJob: ...


# What was read once for several calls.
Memory = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """How one kind of target is found, checked, started, and what of a payload it hides."""

    # (tx, customer_id, target_id, hold=True); raises NotFound
    find: Callable[..., object]
    # Raises whatever is wrong; starts nothing.
    prepare: Callable[[Tx, Actor, str, list[Any], Memory], Ready]
    write: Callable[[Tx, Sequence[Any]], None]
    # Places of the payload that nobody may see again.
    masked: Callable[[Tx, str, str, Memory], list[int]]


@dataclass(frozen=True, slots=True)
class ReadyTask:
    wanted: NewJob
    made: Created

    @property
    def started(self) -> StartedJob:
        return StartedJob(self.made.job.id, task_id=self.made.task.id)


@dataclass(frozen=True, slots=True)
class ReadyWorkflow:
    made: PreparedWorkflowJob

    @property
    def started(self) -> StartedJob:
        return StartedJob(self.made.job.id, workflow_id=self.made.job.workflow_id)


def _prepare_task(
    tx: Tx, actor: Actor, task_id: str, payload: list[Any], memory: Memory
) -> ReadyTask:
    wanted = NewJob(actor, task_id, payload, origin="trigger_by", by_index=True)
    known: Tasks = memory.setdefault("task", {})
    return ReadyTask(wanted, create.prepare(tx, wanted, known))


def _write_tasks(tx: Tx, ready: Sequence[ReadyTask]) -> None:
    create.write(tx, [(one.wanted, one.made) for one in ready])


def _masked_of_task(tx: Tx, customer_id: str, task_id: str, memory: Memory) -> list[int]:
    known: Tasks = memory.setdefault("task", {})
    found = known.get((customer_id, task_id))
    task = found[0] if found else tasks.runnable(tx, customer_id, task_id)
    if task is None:
        return []
    return [n for n, one in enumerate(task.spec.task_arguments) if one.masked]


def _prepare_workflow(
    tx: Tx, actor: Actor, workflow_id: str, payload: list[Any], memory: Memory
) -> ReadyWorkflow:
    wanted = WorkflowJobRequest(actor, workflow_id, payload, origin="trigger_by", by_index=True)
    return ReadyWorkflow(start.prepare(tx, wanted, memory.setdefault("task", {})))


def _write_workflows(tx: Tx, ready: Sequence[ReadyWorkflow]) -> None:
    start.write(tx, [one.made for one in ready])


def _masked_of_workflow(tx: Tx, customer_id: str, workflow_id: str, memory: Memory) -> list[int]:
    """The payload goes to the first step."""
    if workflows.look_up(tx, customer_id, workflow_id) is None:
        return []
    return _masked_of_task(tx, customer_id, first_task(tx, customer_id, workflow_id), memory)


TARGETS = {
    "task": Target(tasks.find, _prepare_task, _write_tasks, _masked_of_task),
    "workflow": Target(workflows.find, _prepare_workflow, _write_workflows, _masked_of_workflow),
}
