"""What follows from what happened, as a table: reaction, events, verb.

Each reaction has a cursor in the event log; the cursor moves in the transaction of the effect, so
that every event has its effect once, whichever server runs it and whenever it dies.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from belvedere.base.errors import Unavailable
from belvedere.db import Tx
from belvedere.db.signals import event_recorded
from belvedere.definitions import rollout
from belvedere.events import Event, cursors
from belvedere.jobs.lifecycle import timeouts
from belvedere.monitors import agent_config, housekeeping
from belvedere.schedules import service as schedules
from belvedere.secrets import service as secrets
from belvedere.server import notices as telling
from belvedere.server.background import trigger_starts
from belvedere.server.runtime import ServerRuntime
from belvedere.server.setup.first_start import show_demo
from belvedere.workflows.engine import advance

log = logging.getLogger("belvedere.reactions")
POLL_S = 10.0
RETRY_S = 1.0
TRIES = 5
TOGETHER = 500


@dataclass(frozen=True, slots=True)
class EventConsumer:
    name: str
    kinds: frozenset[str]
    verb: Callable[[Tx, ServerRuntime, Event], object]
    # Where there is much to read and little to do: all that waits at once, instead of one by one.
    together: Callable[[Tx, ServerRuntime, Sequence[Event]], None] | None = None
    # So long it lets events gather after the bell: reading every job's must not slow the jobs.
    gathers_s: float = 0.0


REACTIONS = (
    EventConsumer(
        "jobs of deleted hosts expire",
        frozenset({"host.deleted"}),
        lambda tx, _, event: timeouts.abandon(tx, "host_id", event.object_id),
    ),
    EventConsumer(
        "jobs of deleted tasks expire",
        frozenset({"task.deleted"}),
        lambda tx, _, event: timeouts.abandon(tx, "task_id", event.object_id),
    ),
    EventConsumer(
        "approvals of what has changed are void",
        frozenset(
            {"task.changed", "task.deleted", "task.triggers_changed"}
            | {"workflow.changed", "workflow.deleted", "workflow.triggers_changed"}
            | {"file.changed", "file.deleted", "host.deleted"}
        ),
        lambda tx, _, event: timeouts.look_again(tx, event.object_id),
    ),
    EventConsumer(
        "triggers start tasks and workflows",
        frozenset({"trigger.fired"}),
        lambda tx, _, event: trigger_starts.start(tx, event),
    ),
    EventConsumer(
        "workflows go on",
        frozenset({"workflow.step"}),
        lambda tx, _, event: advance.consume(tx, event),
    ),
    EventConsumer(
        "a host has a monitor of its own",
        frozenset({"host.connected"}),
        lambda tx, _, event: housekeeping.on_host_connected(tx, event.customer_id, event.object_id),
    ),
    EventConsumer(
        "monitors of deleted hosts go",
        frozenset({"host.deleted"}),
        lambda tx, _, event: housekeeping.on_host_deleted(tx, event.object_id),
    ),
    EventConsumer(
        "agents hear whether they may look inside",
        frozenset({"customer.changed"}),
        lambda tx, _, event: agent_config.on_customer_changed(tx, event.customer_id),
    ),
    EventConsumer(
        "agents get the scripts of their monitors anew",
        frozenset({"file.changed", "file.deleted"}),
        lambda tx, _, event: agent_config.on_script_changed(tx, event.customer_id, event.object_id),
    ),
    EventConsumer(
        "agents get the secrets of their web checks",
        frozenset({"secret.changed", "secret.deleted"}),
        lambda tx, _, event: agent_config.on_secret_changed(tx, event.customer_id),
    ),
    EventConsumer(
        "secrets of deleted tasks go",
        frozenset({"task.deleted"}),
        lambda tx, _, event: secrets.task_went(tx, event.customer_id, event.object_id),
    ),
    EventConsumer(
        "schedules of deleted tasks and workflows go",
        frozenset({"task.deleted", "workflow.deleted"}),
        lambda tx, _, event: schedules.delete_for_target(tx, event.customer_id, event.object_id),
    ),
    EventConsumer(
        "people are told",
        telling.KINDS,
        lambda tx, runtime, event: telling.tell(tx, runtime, [event]),
        telling.tell,
        gathers_s=1.0,
    ),
    EventConsumer(
        "definitions and hosts stay in step",
        frozenset(
            {"host.created", "host.changed", "host.deleted"}
            | {"definition.created", "definition.changed"}
        ),
        lambda tx, runtime, event: rollout.roll_out_all(tx, runtime.keyring, event.customer_id),
    ),
    EventConsumer("the first host gets the demo", frozenset({"host.connected"}), show_demo),
)


def react(tx: Tx, runtime: ServerRuntime, reaction: EventConsumer) -> int:
    """Take what waits; one bad event undoes the whole turn and is found by going one by one."""
    if reaction.together is not None:
        return react_together(tx, runtime, reaction)
    found = cursors.take(tx, reaction.name, reaction.kinds)
    for event in found:
        reaction.verb(tx, runtime, event)
        cursors.move(tx, reaction.name, event)
    return len(found)


def react_together(tx: Tx, runtime: ServerRuntime, reaction: EventConsumer) -> int:
    assert reaction.together is not None
    found = cursors.take(tx, reaction.name, reaction.kinds, limit=TOGETHER)
    if found:
        reaction.together(tx, runtime, found)
        cursors.move(tx, reaction.name, found[-1])
    return len(found)


def react_to_one(tx: Tx, runtime: ServerRuntime, reaction: EventConsumer) -> None:
    for event in cursors.take(tx, reaction.name, reaction.kinds, limit=1):
        reaction.verb(tx, runtime, event)
        cursors.move(tx, reaction.name, event)


def park_one(tx: Tx, reaction: EventConsumer, fault: str) -> None:
    for event in cursors.take(tx, reaction.name, reaction.kinds, limit=1):
        cursors.park(tx, reaction.name, event, fault)


async def run(reaction: EventConsumer, runtime: ServerRuntime) -> None:
    """Woken by the doorbell, else every few seconds."""
    rang = asyncio.Event()
    for kind in reaction.kinds:
        runtime.signals.subscribe(event_recorded(kind), lambda _: rang.set())
    tries = 0
    while True:
        pause_s = RETRY_S
        try:
            await catch_up(reaction, runtime)
            tries, pause_s = 0, POLL_S
        except Unavailable as fault:
            # No fault of the event: it waits for the database however long that takes.
            log.warning("consumer waits for the database name=%r error=%s", reaction.name, fault)
        except Exception as fault:
            # Our own mistake: try again, then set the event aside.
            tries += 1
            log.exception("the reaction %r stumbled (try %s)", reaction.name, tries)
            if tries >= TRIES:
                await _set_aside(reaction, runtime, fault)
                tries, pause_s = 0, POLL_S
        with contextlib.suppress(TimeoutError):
            # Not wait_for, which may swallow a cancel that comes with the ring.
            async with asyncio.timeout(pause_s):
                await rang.wait()
        await asyncio.sleep(reaction.gathers_s)
        rang.clear()


async def catch_up(reaction: EventConsumer, runtime: ServerRuntime) -> None:
    waits, lags = await runtime.db.read(cursors.outlook, reaction.name, reaction.kinds)
    while waits:
        try:
            await runtime.db.write(react, runtime, reaction)
        except Exception:
            await runtime.db.write(react_to_one, runtime, reaction)
        waits, lags = await runtime.db.read(cursors.outlook, reaction.name, reaction.kinds)
    if lags:
        await runtime.db.write(cursors.skip, reaction.name, reaction.kinds)


async def _set_aside(reaction: EventConsumer, runtime: ServerRuntime, fault: Exception) -> None:
    with contextlib.suppress(Exception):
        await runtime.db.write(park_one, reaction, repr(fault)[:500])


def start(runtime: ServerRuntime) -> list["asyncio.Task[None]"]:
    return [
        asyncio.create_task(run(reaction, runtime), name=reaction.name) for reaction in REACTIONS
    ]
