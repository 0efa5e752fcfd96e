"""What a schedule can start. The entry for workflows comes from `workflows`, above."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from belvedere.access import Actor
from belvedere.base.errors import Refused
from belvedere.db import Tx
from belvedere.jobs.lifecycle import create
from belvedere.jobs.lifecycle.create import JobRequest
from belvedere.jobs.model import FINAL
from belvedere.tasks import store as tasks
from belvedere.tasks.definition import argument_values

# How many of the latest jobs are searched for an unfinished one.
MAX_RECENT_JOBS = 100


@dataclass(frozen=True, slots=True)
class ScheduleTarget:
    """How one kind of target is found, checked and started."""

    # (tx, customer_id, target_id, lock=True): something with a name; raises NotFound
    find: Callable[..., Any]
    # Raises Invalid if the arguments do not fit; None: there are none.
    check: Callable[[Tx, str, str, list[Any] | None], None]
    # Positions of the arguments that are never shown again.
    masked: Callable[[Tx, str, str], set[int]]
    # The id of an unfinished job of the target.
    busy: Callable[[Tx, str, str], str | None]
    # The id of the new job, or the error.
    start: Callable[[Tx, Actor, str, list[Any] | None], str | Refused]


Targets = Mapping[str, ScheduleTarget]


@dataclass(frozen=True, slots=True)
class ScheduleServices:
    targets: Targets


def _check_task(tx: Tx, customer_id: str, task_id: str, arguments: list[Any] | None) -> None:
    task = tasks.runnable(tx, customer_id, task_id)
    if task is None:
        raise tasks.not_found()
    asks_people = task.spec.user_inputs or task.type == "dummy"
    if arguments is not None or not asks_people:
        argument_values.fit(task.spec.task_arguments, arguments or [])


def _masked_of_task(tx: Tx, customer_id: str, task_id: str) -> set[int]:
    task = tasks.runnable(tx, customer_id, task_id)
    if task is None:
        return set()
    definitions = task.spec.task_arguments
    free = [argument for argument in definitions if argument.type != "fixed"]
    positions = {n for n, argument in enumerate(free) if argument.masked}
    # A full list has them at other positions; mask both.
    return positions | {n for n, argument in enumerate(definitions) if argument.masked}


def _busy_task(tx: Tx, customer_id: str, task_id: str) -> str | None:
    marks = ", ".join("?" for _ in FINAL)
    job_id: str | None = tx.value(
        "select id from (select id, lifecycle from jobs where task_id = ? and customer_id = ?"
        f" order by id desc limit ?) recent where lifecycle not in ({marks}) limit 1",
        task_id,
        customer_id,
        MAX_RECENT_JOBS,
        *sorted(FINAL),
    )
    return job_id


def _start_task(tx: Tx, actor: Actor, task_id: str, arguments: list[Any] | None) -> str | Refused:
    (answer,) = create.create(tx, [JobRequest(actor, task_id, arguments, origin="scheduler")])
    if isinstance(answer, Refused):
        return answer
    if isinstance(answer, Exception):
        raise answer
    return answer.job.id


TASK = ScheduleTarget(tasks.find, _check_task, _masked_of_task, _busy_task, _start_task)
