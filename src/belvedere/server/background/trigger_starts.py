"""Starts tasks and workflows by triggers: the consumer of `trigger.fired`."""

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
from belvedere.jobs.lifecycle.create import JobRequest
from belvedere.triggers import sources, store
from belvedere.triggers.store import Trigger
from belvedere.workflows import start as workflows
from belvedere.workflows.execution import step_store
from belvedere.workflows.start import WorkflowJobRequest


def start(tx: Tx, event: Event) -> None:
    """Start the targets of the triggers. One that is refused does not stop the others."""
    data = msgspec.json.decode(event.data)
    customer = service.find(tx, event.customer_id)
    if not customer.enabled:
        return
    people = starters.for_source(tx, customer.id, data["job_id"]) if "job_id" in data else ()
    name = sources.name_of(tx, customer.id, data["source"], event.object_id)
    source = f"{data['source']} {event.object_id} {name}"
    actor = trigger_actor(customer.id, customer.name, starters=people, source=source)
    arguments = _arguments(tx, customer.id, data)
    for trigger in store.for_source(
        tx, customer.id, data["source"], event.object_id, data["event_name"]
    ):
        refusal = _unapproved(tx, customer.id, data, trigger)
        refusal = refusal or STARTERS[trigger.target](tx, actor, trigger.target_id, arguments)
        if refusal is not None:
            refusal_data = {
                "target": trigger.target,
                "target_id": trigger.target_id,
                "event_id": trigger.event_id,
            }
            refusal_data |= {"code": refusal.code, "message": refusal.message}
            events.append(tx, customer.id, "trigger.refused", event.object_id, refusal_data)


def _arguments(tx: Tx, customer_id: str, data: dict[str, Any]) -> list[Any]:
    """The arguments of the event, or the output of the job that ended."""
    if "job_id" not in data:
        arguments: list[Any] = data["arguments"]
        return arguments
    if data["source"] == "workflow":
        return step_store.output_of(tx, data["job_id"])
    output = tx.value("select output from jobs where id = ?", data["job_id"])
    values: list[Any] = msgspec.json.decode(output or "[]")
    return sealed_values.open_values(tx.sealer, customer_id, values)


def _unapproved(tx: Tx, customer_id: str, data: dict[str, Any], trigger: Trigger) -> Refused | None:
    """An approval starts only what was approved, as it was then."""
    if "job_id" not in data or trigger.event_name != "success":
        return None
    try:
        plan.check_triggered(tx, customer_id, data["job_id"], trigger)
    except Refused as refusal:
        return refusal
    return None


def _start_task(tx: Tx, actor: Actor, task_id: str, arguments: list[Any]) -> Refused | None:
    request = JobRequest(actor, task_id, arguments, origin="trigger_by", by_index=True)
    result = create.create(tx, [request])[0]
    if isinstance(result, Exception) and not isinstance(result, Refused):
        raise result
    return result if isinstance(result, Refused) else None


def _start_workflow(tx: Tx, actor: Actor, workflow_id: str, arguments: list[Any]) -> Refused | None:
    request = WorkflowJobRequest(actor, workflow_id, arguments, origin="trigger_by", by_index=True)
    answer = workflows.run(tx, [request])[0]
    return answer if isinstance(answer, Refused) else None


# Targets of a trigger.
STARTERS: dict[str, Callable[[Tx, Actor, str, list[Any]], Refused | None]] = {
    "task": _start_task,
    "workflow": _start_workflow,
}
