"""What the demo has made, how it was then, and how each kind of it is deleted."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from belvedere.access import Actor
from belvedere.base.errors import Conflict
from belvedere.db import Tx
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
from belvedere.tasks.store import Runnable, missing, runnable
from belvedere.triggers import store
from belvedere.webhooks import service as webhooks
from belvedere.webhooks import store as webhook_rows
from belvedere.workflow_specs import store as workflow_rows
from belvedere.workflows import service as workflows
from belvedere.workflows.schedule_targets import TARGETS


class Thing(msgspec.Struct, frozen=True):
    """One record of the demo."""

    object: str
    id: str
    name: str
    # Another one than the record has now: somebody changed it.
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    # The row, by organization and id; NotFound where it is deleted.
    find: Callable[..., Any]
    delete: Callable[[Tx, ServerRuntime, Actor, str], object]
    mark: Callable[[Any], str] = lambda row: str(row.version)


def _task(tx: Tx, customer_id: str, task_id: str) -> Runnable:
    """With its script: who has changed that has changed the task."""
    found = runnable(tx, customer_id, task_id)
    if found is None:
        raise missing()
    return found


# In the order in which they can go: what uses others before what is used.
KINDS = {
    "schedule": Kind(
        schedule_rows.find,
        lambda tx, runtime, actor, id_: schedules.delete(tx, TARGETS, actor, id_),
    ),
    "webhook": Kind(webhook_rows.find, lambda tx, _, actor, id_: webhooks.delete(tx, actor, id_)),
    "workflow": Kind(
        workflow_rows.find, lambda tx, _, actor, id_: workflows.delete(tx, actor, id_)
    ),
    "monitor": Kind(monitor_rows.find, lambda tx, _, actor, id_: monitors.delete(tx, actor, id_)),
    "indicator": Kind(
        indicator_rows.find,
        lambda tx, _, actor, id_: indicators.delete(tx, actor, id_),
        # To count with it is what it is there for.
        lambda row: f"{row.title} {row.type} {row.description} {row.tags}",
    ),
    "task": Kind(
        _task,
        lambda tx, _, actor, id_: tasks.delete(tx, actor, id_),
        lambda row: f"{row.version} {row.script_sha256}",
    ),
    "file": Kind(
        file_rows.find,
        lambda tx, _, actor, id_: files.delete(tx, actor, id_),
        lambda row: row.sha256,
    ),
}


def write_down(tx: Tx, customer_id: str, made: Iterable[Thing]) -> None:
    """Remember what was made, each as it is now."""
    marked = [msgspec.structs.replace(one, mark=_mark(tx, customer_id, one)) for one in made]
    tx.execute(
        "insert into meta (name, value) values (?, ?)"
        " on conflict (name) do update set value = excluded.value",
        f"demo:{customer_id}",
        msgspec.json.encode(marked).decode(),
    )


def made(tx: Tx, customer_id: str) -> list[Thing]:
    text = tx.value("select value from meta where name = ?", f"demo:{customer_id}")
    found = msgspec.json.decode(text or "[]", type=list[Thing])
    return sorted(found, key=lambda one: list(KINDS).index(one.object))


def forget(tx: Tx, customer_id: str) -> None:
    tx.execute("delete from meta where name = ?", f"demo:{customer_id}")


def delete(tx: Tx, runtime: ServerRuntime, actor: Actor, one: Thing, even_changed: bool) -> None:
    """Refused where it is no longer only the demo's; NotFound where somebody was faster."""
    is_changed = _mark(tx, actor.customer_id, one) != one.mark
    if is_changed and not even_changed:
        raise Conflict("Somebody has changed it.", code="demo_changed")
    _check_unused(tx, actor, one)
    KINDS[one.object].delete(tx, runtime, actor, one.id)


def _mark(tx: Tx, customer_id: str, one: Thing) -> str:
    kind = KINDS[one.object]
    return kind.mark(kind.find(tx, customer_id, one.id))


def _check_unused(tx: Tx, actor: Actor, one: Thing) -> None:
    """What people have built on it would silently go with it."""
    if one.object not in ("task", "workflow"):
        return
    customer_id, found = actor.customer_id, (one.object, one.id)
    is_used = (
        schedule_rows.for_target(tx, customer_id, one.id)
        or store.for_source(tx, customer_id, *found)
        or store.for_target(tx, customer_id, *found)
    )
    if is_used:
        raise Conflict("A schedule or a trigger uses it.", code="demo_in_use")
