"""The event consumers of the server, as a table: name, kinds of events, operation.

Each consumer has a cursor in the event log. The cursor moves in the transaction of the effect, so
that every event has its effect once, whichever server processes it and whenever that one crashes.
"""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from belvedere.base.errors import StatementTimeout
from belvedere.db import Tx, is_database_fault
from belvedere.db.signals import event_recorded
from belvedere.definitions import rollout
from belvedere.events import Event, cursors, newest
from belvedere.jobs.lifecycle import timeouts
from belvedere.jobs.search import progress
from belvedere.monitors import agent_config, housekeeping
from belvedere.schedules import service as schedules
from belvedere.secrets import service as secrets
from belvedere.server import notices
from belvedere.server.background import job_publishing, trigger_starts
from belvedere.server.background.search_index import Pace, merge_parts
from belvedere.server.runtime import ServerRuntime
from belvedere.server.setup.first_start import show_demo, show_demo_to_first
from belvedere.workflows.execution import advance

log = logging.getLogger("belvedere.reactions")
POLL_S = 10.0
# One of so many polls asks all consumers: a failover may have moved cursors back.
COMPLETE_POLL = 6
RETRY_S = 1.0
MAX_TRIES = 5
# Half an hour of statements that are too slow. Waits for locks end earlier, and never count.
MAX_TIMEOUTS = 150
BATCH_SIZE = 500


@dataclass(frozen=True, slots=True)
class EventConsumer:
    name: str
    kinds: frozenset[str]
    consume: Callable[[Tx, ServerRuntime, Event], object]
    # For many events with little work each: all that wait, instead of one by one.
    consume_batch: Callable[[Tx, ServerRuntime, Sequence[Event]], None] | None = None
    # Wait this long after a signal, so that reading every event of a job does not slow the jobs.
    delay_s: float = 0.0
    batch_size: int = BATCH_SIZE
    # It writes the search index, for which nobody waits: it proceeds slowly while others write.
    writes_index: bool = False


# Hosts that connect within this time are processed together: after a restart thousands do.
HOSTS_S = 0.1

CONSUMERS = (
    EventConsumer(
        "jobs of deleted hosts expire",
        frozenset({"host.deleted"}),
        lambda tx, _, event: timeouts.expire_for(tx, "host_id", event.object_id),
    ),
    EventConsumer(
        "jobs of deleted tasks expire",
        frozenset({"task.deleted"}),
        lambda tx, _, event: timeouts.expire_for(tx, "task_id", event.object_id),
    ),
    EventConsumer(
        "approvals of what has changed are void",
        frozenset(
            {"task.changed", "task.deleted", "task.triggers_changed"}
            | {"workflow.changed", "workflow.deleted", "workflow.triggers_changed"}
            | {"file.changed", "file.deleted", "host.deleted"}
        ),
        lambda tx, _, event: timeouts.recheck_approvals(tx, event.object_id),
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
        lambda tx, _, batch: housekeeping.on_hosts_connected(
            tx, [(event.customer_id, event.object_id) for event in batch]
        ),
        delay_s=HOSTS_S,
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
        lambda tx, _, event: agent_config.on_file_changed(tx, event.customer_id, event.object_id),
    ),
    EventConsumer(
        "agents get the secrets of their web checks",
        frozenset({"secret.changed", "secret.deleted"}),
        lambda tx, _, event: agent_config.on_secret_changed(tx, event.customer_id),
    ),
    EventConsumer(
        "secrets of deleted tasks go",
        frozenset({"task.deleted"}),
        lambda tx, _, event: secrets.delete_for_task(tx, event.customer_id, event.object_id),
    ),
    EventConsumer(
        "schedules of deleted tasks and workflows go",
        frozenset({"task.deleted", "workflow.deleted"}),
        lambda tx, _, event: schedules.delete_for_target(tx, event.customer_id, event.object_id),
    ),
    EventConsumer(
        "people are told",
        notices.KINDS,
        lambda tx, runtime, event: notices.notify(tx, runtime, [event]),
        notices.notify,
        delay_s=1.0,
    ),
    EventConsumer(
        "definitions and hosts stay in step",
        frozenset(
            {"host.created", "host.changed", "host.deleted"}
            | {"definition.created", "definition.changed"}
        ),
        lambda tx, runtime, event: rollout.roll_out_all(tx, runtime.keyring, event.customer_id),
    ),
    EventConsumer(
        "the first host gets the demo",
        frozenset({"host.connected"}),
        show_demo,
        show_demo_to_first,
        delay_s=HOSTS_S,
    ),
    EventConsumer(
        progress.CONSUMER,
        progress.KINDS,
        lambda tx, _, event: progress.add_changed(tx, [event]),
        lambda tx, _, batch: progress.add_changed(tx, batch),
        delay_s=1.0,
        batch_size=progress.EVENT_BATCH_SIZE,
        writes_index=True,
    ),
)

# Only if the setting `redis` is set.
REDIS = EventConsumer(
    job_publishing.NAME,
    job_publishing.KINDS,
    lambda tx, runtime, event: job_publishing.publish(tx, runtime, [event]),
    job_publishing.publish,
    delay_s=0.1,
)


def active(*, has_redis: bool) -> tuple[EventConsumer, ...]:
    """Those of this installation: no event is deleted before all of them have processed it. Without
    the setting `redis` its cursor stays where it is."""
    return (*CONSUMERS, REDIS) if has_redis else CONSUMERS


def job_readers(*, has_redis: bool) -> dict[str, frozenset[str]]:
    """Name and kinds of those that read the job of an event, so it is not deleted before. (The
    search index, which is slow, does not need deleted jobs.)"""
    return {
        consumer.name: consumer.kinds
        for consumer in active(has_redis=has_redis)
        if not consumer.writes_index
        and any(kind.startswith(("job.", "trigger.")) for kind in consumer.kinds)
    }


def run_batch(tx: Tx, runtime: ServerRuntime, consumer: EventConsumer) -> int:
    """Process what waits. A failing event rolls back the batch and is then found one by one."""
    if consumer.consume_batch is not None:
        return _run_whole_batch(tx, runtime, consumer)
    batch = cursors.take(tx, consumer.name, consumer.kinds)
    for event in batch:
        consumer.consume(tx, runtime, event)
        cursors.move(tx, consumer.name, event)
    return len(batch)


def _run_whole_batch(tx: Tx, runtime: ServerRuntime, consumer: EventConsumer) -> int:
    assert consumer.consume_batch is not None
    batch = cursors.take(tx, consumer.name, consumer.kinds, limit=consumer.batch_size)
    if batch:
        consumer.consume_batch(tx, runtime, batch)
        cursors.move(tx, consumer.name, batch[-1])
    return len(batch)


@dataclass(slots=True)
class Failures:
    """Failed attempts of one event. Outages of the database do not count."""

    # None: no event has failed alone, so none is set aside.
    event_id: int | None = None
    errors: int = 0
    timeouts: int = 0

    def begin(self, event_id: int | None) -> None:
        """From now on, failures are those of this event."""
        if event_id != self.event_id:
            self.event_id, self.errors, self.timeouts = event_id, 0, 0

    @property
    def is_last(self) -> bool:
        return self.errors >= MAX_TRIES or self.timeouts >= MAX_TIMEOUTS


def run_first(tx: Tx, runtime: ServerRuntime, consumer: EventConsumer, failures: Failures) -> None:
    for event in cursors.take(tx, consumer.name, consumer.kinds, limit=1):
        failures.begin(event.id)
        consumer.consume(tx, runtime, event)
        cursors.move(tx, consumer.name, event)


def set_aside_first(tx: Tx, consumer: EventConsumer, event_id: int | None, fault: str) -> None:
    """Set this event aside, unless another server has done so: the next event may be valid."""
    for event in cursors.take(tx, consumer.name, consumer.kinds, limit=1):
        if event.id == event_id:
            cursors.set_aside(tx, consumer.name, event, fault)


async def run(consumer: EventConsumer, runtime: ServerRuntime) -> None:
    """Woken by signals; after a failure also by the clock."""
    signalled = asyncio.Event()
    for kind in consumer.kinds:
        runtime.signals.subscribe(event_recorded(kind), lambda _: signalled.set())
    failures = Failures()
    while True:
        retry_s = None
        try:
            await catch_up(consumer, runtime, failures)
            failures = Failures()
        except Exception as fault:
            retry_s = RETRY_S
            await _count_failure(consumer, runtime, failures, fault)
            if failures.is_last:
                await _set_aside(consumer, runtime, failures, fault)
                failures = Failures()
        with contextlib.suppress(TimeoutError):
            # Not wait_for, which may swallow a cancellation that arrives with the signal.
            async with asyncio.timeout(retry_s):
                await signalled.wait()
        await asyncio.sleep(consumer.delay_s)
        signalled.clear()


async def poll(runtime: ServerRuntime, consumers: Sequence[EventConsumer]) -> None:
    """Signals can be lost, so look for events every few seconds: for all consumers together, and in
    an idle server with a single statement."""
    processed: tuple[int, int] | None = None
    for number in itertools.count():
        await asyncio.sleep(POLL_S)
        if number % COMPLETE_POLL == 0:
            processed = None
        waiting = consumers
        try:
            end, waiting = await runtime.db.read(_find_waiting, consumers, processed)
            processed = None if waiting else end
        except Exception as fault:
            # A part of it may be too slow: each consumer looks for itself.
            log.warning("cannot look for events of all consumers error=%s", fault)
            processed = None
        runtime.signals.emit({event_recorded(min(consumer.kinds)) for consumer in waiting})


def _find_waiting(
    tx: Tx, consumers: Sequence[EventConsumer], processed: tuple[int, int] | None
) -> tuple[tuple[int, int], Sequence[EventConsumer]]:
    """The newest event, and the consumers for which there is one, unless nothing is newer than what
    all have processed."""
    end = newest(tx)
    if end == processed:
        return end, []
    return end, [item for item in consumers if any(cursors.backlog(tx, item.name, item.kinds))]


async def _count_failure(
    consumer: EventConsumer, runtime: ServerRuntime, failures: Failures, fault: Exception
) -> None:
    if isinstance(fault, StatementTimeout) and await _can_read(consumer, runtime):
        failures.timeouts += 1
        log.warning("consumer is too slow name=%r try=%s", consumer.name, failures.timeouts)
    elif is_database_fault(fault):
        # Not a fault of the event: it waits for the database, however long that takes.
        log.warning("consumer waits for the database name=%r error=%s", consumer.name, fault)
    else:
        # A fault of the server: try again, then set the event aside.
        failures.errors += 1
        log.error("consumer failed name=%r try=%s", consumer.name, failures.errors, exc_info=fault)


async def _can_read(consumer: EventConsumer, runtime: ServerRuntime) -> bool:
    """Whether the database works, so that a timeout is the event's own."""
    try:
        await runtime.db.read(cursors.backlog, consumer.name, consumer.kinds)
    except Exception:
        return False
    return True


async def catch_up(
    consumer: EventConsumer, runtime: ServerRuntime, failures: Failures | None = None
) -> None:
    failures = failures or Failures()
    has_events, is_behind = await runtime.db.read(cursors.backlog, consumer.name, consumer.kinds)
    pace = Pace(runtime.db) if consumer.writes_index else None
    while has_events:
        async with pace or contextlib.nullcontext():
            try:
                await runtime.db.write(run_batch, runtime, consumer)
            except Exception:
                await runtime.db.write(run_first, runtime, consumer, failures)
            failures.begin(None)
            if pace is not None:
                await merge_parts(runtime, pace)
        has_events, is_behind = await runtime.db.read(
            cursors.backlog, consumer.name, consumer.kinds
        )
    if is_behind:
        await runtime.db.write(cursors.skip, consumer.name, consumer.kinds)


async def _set_aside(
    consumer: EventConsumer, runtime: ServerRuntime, failures: Failures, fault: Exception
) -> None:
    with contextlib.suppress(Exception):
        await runtime.db.write(set_aside_first, consumer, failures.event_id, repr(fault)[:500])


def start(runtime: ServerRuntime) -> list["asyncio.Task[None]"]:
    consumers = active(has_redis=runtime.redis is not None)
    tasks = [
        asyncio.create_task(run(consumer, runtime), name=consumer.name) for consumer in consumers
    ]
    tasks.append(asyncio.create_task(poll(runtime, consumers), name="look for events"))
    if runtime.redis is not None:
        tasks.append(asyncio.create_task(runtime.redis.run(), name="redis"))
    return tasks
