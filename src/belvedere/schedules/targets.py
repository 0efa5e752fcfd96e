"""What a schedule can start. Workflows lie above this floor: the server hands in their row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from belvedere.access import Actor
from belvedere.base.errors import Refused
from belvedere.db import Tx
from belvedere.jobs.lifecycle import create
from belvedere.jobs.lifecycle.create import NewJob
from belvedere.jobs.model import FINAL
from belvedere.tasks import store as tasks
from belvedere.tasks.definition import argument_values

# An open job is looked for among so many of the newest.
RECENT = 100


@dataclass(frozen=True, slots=True)
class Target:
    """How one kind of target is found, checked and started."""

    # (tx, customer_id, target_id, hold=True): something with a name; raises NotFound
    find: Callable[..., Any]
    # Raises Invalid where the arguments cannot be what it takes; None is none given.
    check: Callable[[Tx, str, str, list[Any] | None], None]
    # Places of the arguments that nobody may see again.
    masked: Callable[[Tx, str, str], set[int]]
    # The id of a job of it that is not over yet.
    busy: Callable[[Tx, str, str], str | None]
    # The id of the new job, or why there is none.
    start: Callable[[Tx, Actor, str, list[Any] | None], str | Refused]


Targets = Mapping[str, Target]


def _check_task(tx: Tx, customer_id: str, task_id: str, given: list[Any] | None) -> None:
    task = tasks.runnable(tx, customer_id, task_id)
    if task is None:
        raise tasks.missing()
    asks_people = task.spec.user_inputs or task.type == "dummy"
    if given is not None or not asks_people:
        argument_values.fit(task.spec.task_arguments, given or [])


def _masked_of_task(tx: Tx, customer_id: str, task_id: str) -> set[int]:
    task = tasks.runnable(tx, customer_id, task_id)
    if task is None:
        return set()
    definitions = task.spec.task_arguments
    free = [one for one in definitions if one.type != "fixed"]
    places = {n for n, one in enumerate(free) if one.masked}
    # Given in full, they stand at other places; whatever may be masked is.
    return places | {n for n, one in enumerate(definitions) if one.masked}


def _busy_task(tx: Tx, customer_id: str, task_id: str) -> str | None:
    marks = ", ".join("?" for _ in FINAL)
    found: str | None = tx.value(
        "select id from (select id, lifecycle from jobs where task_id = ? and customer_id = ?"
        f" order by id desc limit ?) recent where lifecycle not in ({marks}) limit 1",
        task_id,
        customer_id,
        RECENT,
        *sorted(FINAL),
    )
    return found


def _start_task(tx: Tx, actor: Actor, task_id: str, given: list[Any] | None) -> str | Refused:
    (answer,) = create.create(tx, [NewJob(actor, task_id, given, origin="scheduler")])
    if isinstance(answer, Refused):
        return answer
    if isinstance(answer, Exception):
        raise answer
    return answer.job.id


TASK = Target(tasks.find, _check_task, _masked_of_task, _busy_task, _start_task)
