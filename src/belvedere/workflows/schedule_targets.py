"""What a schedule can start: one entry for each kind of target."""

from typing import Any

from belvedere.access import Actor
from belvedere.base.errors import Refused
from belvedere.db import Tx
from belvedere.schedules.targets import TASK, ScheduleTarget
from belvedere.workflow_specs import store
from belvedere.workflow_specs.nesting import first_task
from belvedere.workflows import start
from belvedere.workflows.execution import step_store
from belvedere.workflows.start import WorkflowJobRequest


def _check(tx: Tx, customer_id: str, workflow_id: str, arguments: list[Any] | None) -> None:
    """Arguments are those of the first step."""
    TASK.check(tx, customer_id, first_task(tx, customer_id, workflow_id), arguments)


def _masked(tx: Tx, customer_id: str, workflow_id: str) -> set[int]:
    return TASK.masked(tx, customer_id, first_task(tx, customer_id, workflow_id))


def _busy(tx: Tx, customer_id: str, workflow_id: str) -> str | None:
    """A job of the workflow that is running or waiting."""
    job_ids = [*step_store.running_ids(tx, workflow_id), *step_store.waiting_ids(tx, workflow_id)]
    return job_ids[0] if job_ids else None


def _start(tx: Tx, actor: Actor, workflow_id: str, arguments: list[Any] | None) -> str | Refused:
    (answer,) = start.run(
        tx, [WorkflowJobRequest(actor, workflow_id, arguments, origin="scheduler")]
    )
    if isinstance(answer, Refused):
        return answer
    if isinstance(answer, Exception):
        raise answer
    return answer.job.id


TARGETS: dict[str, ScheduleTarget] = {
    "task": TASK,
    "workflow": ScheduleTarget(store.find, _check, _masked, _busy, _start),
}
