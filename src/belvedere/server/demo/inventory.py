"""The objects of the demo, how they were created, and how each kind is deleted."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from belvedere.access import Actor
from belvedere.base.errors import Conflict
from belvedere.db import Tx, installation
from belvedere.files import service as files
from belvedere.files import store as file_rows
from belvedere.indicators import service as indicators
from belvedere.indicators import store as indicator_rows
from belvedere.monitors import service as monitors
from belvedere.monitors import store as monitor_rows
from belvedere.schedules import service as schedules
from belvedere.schedules import store as schedule_rows
from belvedere.server.runtime import ServerRuntime
from belvedere.tasks import service as tasks
from belvedere.tasks.store import Runnable, not_found, runnable
from belvedere.triggers import store
from belvedere.webhooks import service as webhooks
from belvedere.webhooks import store as webhook_rows
from belvedere.workflow_specs import store as workflow_rows
from belvedere.workflows import service as workflows
from belvedere.workflows.schedule_targets import TARGETS


class DemoObject(msgspec.Struct, frozen=True):
    """One object of the demo."""

    object: str
    id: str
    name: str
    # Differs from the mark of the row when somebody has changed the object.
    mark: str = ""


@dataclass(frozen=True, slots=True)
class DemoKind:
    # The row, by organization and id; NotFound where it is deleted.
    find: Callable[..., Any]
    delete: Callable[[Tx, ServerRuntime, Actor, str], object]
    mark: Callable[[Any], str] = lambda row: str(row.version)


def _task(tx: Tx, customer_id: str, task_id: str) -> Runnable:
    """With its script: a changed script counts as a changed task."""
    task = runnable(tx, customer_id, task_id)
    if task is None:
        raise not_found()
    return task


# In the order of deletion: an object before those that it uses.
KINDS = {
    "schedule": DemoKind(
        schedule_rows.find,
        lambda tx, runtime, actor, id_: schedules.delete(tx, TARGETS, actor, id_),
    ),
    "webhook": DemoKind(
        webhook_rows.find, lambda tx, _, actor, id_: webhooks.delete(tx, actor, id_)
    ),
    "workflow": DemoKind(
        workflow_rows.find, lambda tx, _, actor, id_: workflows.delete(tx, actor, id_)
    ),
    "monitor": DemoKind(
        monitor_rows.find, lambda tx, _, actor, id_: monitors.delete(tx, actor, id_)
    ),
    "indicator": DemoKind(
        indicator_rows.find,
        lambda tx, _, actor, id_: indicators.delete(tx, actor, id_),
        # Without the value: it is there to be changed.
        lambda row: f"{row.title} {row.type} {row.description} {row.tags}",
    ),
    "task": DemoKind(
        _task,
        lambda tx, _, actor, id_: tasks.delete(tx, actor, id_),
        lambda row: f"{row.version} {row.script_sha256}",
    ),
    "file": DemoKind(
        file_rows.find,
        lambda tx, _, actor, id_: files.delete(tx, actor, id_),
        lambda row: row.sha256,
    ),
}


def record(tx: Tx, customer_id: str, objects: Iterable[DemoObject]) -> None:
    """Store the objects, each with its present mark."""
    marked_objects = [
        msgspec.structs.replace(demo_object, mark=_mark(tx, customer_id, demo_object))
        for demo_object in objects
    ]
    installation.write(tx, f"demo:{customer_id}", msgspec.json.encode(marked_objects).decode())


def recorded(tx: Tx, customer_id: str) -> list[DemoObject]:
    text = installation.read(tx, f"demo:{customer_id}")
    objects = msgspec.json.decode(text or "[]", type=list[DemoObject])
    return sorted(objects, key=lambda demo_object: list(KINDS).index(demo_object.object))


def forget(tx: Tx, customer_id: str) -> None:
    installation.delete(tx, f"demo:{customer_id}")


def delete(
    tx: Tx, runtime: ServerRuntime, actor: Actor, demo_object: DemoObject, even_changed: bool
) -> None:
    """Refused if it was changed or is in use; NotFound if somebody has deleted it."""
    is_changed = _mark(tx, actor.customer_id, demo_object) != demo_object.mark
    if is_changed and not even_changed:
        raise Conflict("It was changed after the demo was created.", code="demo_changed")
    _check_unused(tx, actor, demo_object)
    KINDS[demo_object.object].delete(tx, runtime, actor, demo_object.id)


def _mark(tx: Tx, customer_id: str, demo_object: DemoObject) -> str:
    kind = KINDS[demo_object.object]
    return kind.mark(kind.find(tx, customer_id, demo_object.id))


def _check_unused(tx: Tx, actor: Actor, demo_object: DemoObject) -> None:
    """Schedules and triggers that use it would be deleted with it."""
    if demo_object.object not in ("task", "workflow"):
        return
    customer_id, object_key = actor.customer_id, (demo_object.object, demo_object.id)
    is_used = (
        schedule_rows.for_target(tx, customer_id, demo_object.id)
        or store.for_source(tx, customer_id, *object_key)
        or store.for_target(tx, customer_id, *object_key)
    )
    if is_used:
        raise Conflict("A schedule or a trigger uses it.", code="demo_in_use")
