"""What starts a task besides people: events of webhooks, indicators, monitors, other tasks."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor, audit
from belvedere.base.errors import Conflict, Fault, Invalid
from belvedere.db import Tx
from belvedere.events import sources, triggers
from belvedere.events.triggers import Trigger
from belvedere.tasks.definition import refusal

MAX_TRIGGERS = 100


class EventBody(msgspec.Struct):
    """An event as GET /event shows it; only its id counts."""

    id: str | None = None
    also_id: str | None = msgspec.field(name="_id", default=None)


def of_tasks(tx: Tx, customer_id: str, task_ids: Sequence[str]) -> dict[str, list[str]]:
    """The ids of the events that start each."""
    found = triggers.of_targets(tx, customer_id, "task", task_ids)
    return {task_id: [one.event_id for one in ones] for task_id, ones in found.items()}


def replace(tx: Tx, actor: Actor, task_id: str, given: Sequence[str | EventBody]) -> None:
    """Exactly these events start it from now on."""
    # Two who close a ring from both ends at once: the second must see what the first has done.
    tx.row(f"select id from customers where id = ?{tx.sql.lock_rows}", actor.customer_id)
    before = of_tasks(tx, actor.customer_id, [task_id])[task_id]
    wanted = _resolved(tx, actor, task_id, given, before)
    after = [one.event_id for one in wanted]
    if sorted(after) == sorted(before):
        return
    _refuse_rings(tx, actor, task_id, wanted)
    triggers.replace_of_target(tx, actor.customer_id, "task", task_id, wanted)
    told: dict[str, Any] = {"triggers": after}
    audit.record(tx, actor, "task.triggers", "task", task_id, {"triggers": before}, told)
    events.append(tx, actor.customer_id, "task.triggers_changed", task_id, told)


def _resolved(
    tx: Tx, actor: Actor, task_id: str, given: Sequence[str | EventBody], known: Sequence[str]
) -> list[Trigger]:
    """Each event once; what already starts the task needs no look."""
    if len(given) > MAX_TRIGGERS:
        raise refusal([Fault("triggers", f"Give at most {MAX_TRIGGERS} events.")])
    found: dict[str, Trigger] = {}
    faults: list[Fault] = []
    for n, one in enumerate(given):
        text = one if isinstance(one, str) else one.id or one.also_id or ""
        cause = sources.parse(text)
        if cause is None or (
            text not in known
            and not sources.is_there(tx, actor.customer_id, cause.source, cause.source_id)
        ):
            faults.append(Fault(f"triggers[{n}]", "There is no such event; GET /event lists them."))
        else:
            found[text] = Trigger(cause.source, cause.source_id, cause.event_name, "task", task_id)
    if faults:
        raise refusal(faults)
    return list(found.values())


def _refuse_rings(tx: Tx, actor: Actor, task_id: str, wanted: Sequence[Trigger]) -> None:
    """A task that starts itself, over however many others, would never stop."""
    reached, fresh = {task_id}, [task_id]
    while fresh:
        started = triggers.of_sources(tx, actor.customer_id, "task", fresh)
        fresh = [
            one.target_id
            for ones in started.values()
            for one in ones
            if one.target == "task" and one.target_id not in reached
        ]
        reached |= set(fresh)
    for one in wanted:
        if one.source == "task" and one.source_id in reached:
            raise Invalid("The task would start itself again and again.", code="trigger_ring")


def forget(tx: Tx, actor: Actor, task_id: str) -> None:
    """For a task that is being deleted; a webhook that runs it must let go of it first."""
    for one in triggers.of_target(tx, actor.customer_id, "task", task_id):
        if one.source == "webhook":
            raise Conflict(
                f"The webhook {one.source_id} runs this task; detach it first.", code="task_in_use"
            )
    task = ("task", task_id)
    triggers.forget(tx, actor.customer_id, source=task, target=task)
