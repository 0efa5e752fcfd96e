"""Something happened that starts tasks or workflows: the reaction to `trigger.fired`."""

from collections.abc import Callable
from typing import Any

import msgspec

from belvedere import events
from belvedere.access import Actor
from belvedere.access.actor import trigger_actor
from belvedere.access.crypto import sealed_values
from belvedere.access.customers import service
from belvedere.base.errors import Refused
from belvedere.db import Tx
from belvedere.events import Event
from belvedere.jobs import starters
from belvedere.jobs.approvals import plan
from belvedere.jobs.lifecycle import create
from belvedere.jobs.lifecycle.create import NewJob
from belvedere.triggers import store
from belvedere.triggers.store import Trigger
from belvedere.workflows import start as workflows
from belvedere.workflows.engine import step_store
from belvedere.workflows.start import WorkflowJobRequest


def start(tx: Tx, event: Event) -> None:
    """Start what is attached now. One that cannot run harms no other, and is told."""
    data = msgspec.json.decode(event.data)
    customer = service.find(tx, event.customer_id)
    if not customer.enabled:
        return
    people = starters.of_source(tx, customer.id, data["job_id"]) if "job_id" in data else ()
    actor = trigger_actor(customer.id, customer.name, starters=people)
    given = _arguments(tx, customer.id, data)
    for one in store.for_source(
        tx, customer.id, data["source"], event.object_id, data["event_name"]
    ):
        refusal = _unapproved(tx, customer.id, data, one)
        refusal = refusal or START[one.target](tx, actor, one.target_id, given)
        if refusal is not None:
            told = {"target": one.target, "target_id": one.target_id, "event_id": one.event_id}
            told |= {"code": refusal.code, "message": refusal.message}
            events.append(tx, customer.id, "trigger.refused", event.object_id, told)


def _arguments(tx: Tx, customer_id: str, data: dict[str, Any]) -> list[Any]:
    """What the event brings, or the output of what ended."""
    if "job_id" not in data:
        given: list[Any] = data["arguments"]
        return given
    if data["source"] == "workflow":
        return step_store.output_of(tx, data["job_id"])
    output = tx.value("select output from jobs where id = ?", data["job_id"])
    found: list[Any] = msgspec.json.decode(output or "[]")
    return sealed_values.open_values(tx.sealer, customer_id, found)


def _unapproved(tx: Tx, customer_id: str, data: dict[str, Any], one: Trigger) -> Refused | None:
    """An approval starts what was approved, as it was then."""
    if "job_id" not in data or one.event_name != "success":
        return None
    try:
        plan.check_triggered(tx, customer_id, data["job_id"], one)
    except Refused as refusal:
        return refusal
    return None


def _start_task(tx: Tx, actor: Actor, task_id: str, given: list[Any]) -> Refused | None:
    wanted = NewJob(actor, task_id, given, origin="trigger_by", by_index=True)
    answer = create.create(tx, [wanted])[0]
    if isinstance(answer, Exception) and not isinstance(answer, Refused):
        raise answer
    return answer if isinstance(answer, Refused) else None


def _start_workflow(tx: Tx, actor: Actor, workflow_id: str, given: list[Any]) -> Refused | None:
    wanted = WorkflowJobRequest(actor, workflow_id, given, origin="trigger_by", by_index=True)
    answer = workflows.run(tx, [wanted])[0]
    return answer if isinstance(answer, Refused) else None


# What a trigger can start.
START: dict[str, Callable[[Tx, Actor, str, list[Any]], Refused | None]] = {
    "task": _start_task,
    "workflow": _start_workflow,
}
