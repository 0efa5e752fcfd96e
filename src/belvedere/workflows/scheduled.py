"""What a schedule can start: one row for each kind of target."""

from typing import Any

from belvedere.access import Actor
from belvedere.base.errors import Refused
from belvedere.db import Tx
from belvedere.schedules.targets import TASK, Target
from belvedere.workflow_specs import store
from belvedere.workflow_specs.nesting import first_task
from belvedere.workflows import start
from belvedere.workflows.engine import step_store
from belvedere.workflows.start import NewWorkflowJob


def _check(tx: Tx, customer_id: str, workflow_id: str, given: list[Any] | None) -> None:
    """Arguments go to the first step."""
    TASK.check(tx, customer_id, first_task(tx, customer_id, workflow_id), given)


def _masked(tx: Tx, customer_id: str, workflow_id: str) -> set[int]:
    return TASK.masked(tx, customer_id, first_task(tx, customer_id, workflow_id))


def _busy(tx: Tx, customer_id: str, workflow_id: str) -> str | None:
    """One that has begun, or waits for its turn."""
    found = [*step_store.begun(tx, workflow_id), *step_store.waiting(tx, workflow_id)]
    return found[0] if found else None


def _start(tx: Tx, actor: Actor, workflow_id: str, given: list[Any] | None) -> str | Refused:
    (answer,) = start.run(tx, [NewWorkflowJob(actor, workflow_id, given, origin="scheduler")])
    if isinstance(answer, Refused):
        return answer
    if isinstance(answer, Exception):
        raise answer
    return answer.job.id


TARGETS: dict[str, Target] = {
    "task": TASK,
    "workflow": Target(store.find, _check, _masked, _busy, _start),
}
