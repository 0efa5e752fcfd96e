"""The periodic work of the server, as a table: name, interval, operation, delay after the start."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar

from belvedere import access, hosts
from belvedere.access.limits import failed_attempts
from belvedere.base.errors import StatementTimeout
from belvedere.db import Tx, clock_steps, is_database_fault
from belvedere.files import blob_sweep
from belvedere.indicators import service as indicators
from belvedere.indicators.store import has_newly_stale
from belvedere.jobs.history import unused_contents
from belvedere.jobs.lifecycle import claim, timeouts
from belvedere.jobs.model import UNREACHABLE_AFTER
from belvedere.monitors import housekeeping, watch_changes
from belvedere.monitors.evaluation import host_samples, rollups, watchdog
from belvedere.notifications import inbox
from belvedere.notifications.delivery import dispatcher, messages
from belvedere.schedules import firing, run_history
from belvedere.schedules import store as schedules
from belvedere.schedules.model import Reason
from belvedere.server import clock
from belvedere.server.agents.connection import BEAT_MS
from belvedere.server.agents.registry import TAKEN_OVER
from belvedere.server.background import history, search_index
from belvedere.server.background.consumers import MAX_TIMEOUTS
from belvedere.server.encryption import sealing
from belvedere.server.runtime import ServerRuntime
from belvedere.statuspages import mailings
from belvedere.webhooks.deliveries import store
from belvedere.workflows.execution import advance
from belvedere.workflows.schedule_targets import TARGETS

log = logging.getLogger("belvedere.loops")
P = ParamSpec("P")
R = TypeVar("R")

# After a start every agent has this long to reconnect before it counts as silent.
TERM_S = UNREACHABLE_AFTER / 1_000
# A host that misses a heartbeat counts as gone when it stays silent for the rest of that time.
SILENT_S = (UNREACHABLE_AFTER - BEAT_MS) / 1_000
FIRE_EVERY_S = 2.0
FIRE_BATCH = 64
# Steps of one pass over the monitors; the rest follows in the next pass.
MAX_MONITOR_STEPS = 500
# Loops of this interval and shorter ones run together.
MAX_ALIGNED_S = 5.0
_OFFSET_S = random.random() * MAX_ALIGNED_S


@dataclass(frozen=True, slots=True)
class Loop:
    name: str
    every_s: float
    work: Callable[[ServerRuntime], Awaitable[object]]
    wait_s: float = 0.0


async def run_deadline(
    runtime: ServerRuntime, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
) -> R | None:
    """Run an operation that ends something because of a deadline; None if the clock was set
    meanwhile. The next pass repeats it with the moved deadlines."""
    try:
        return await runtime.db.write(
            clock_steps.run_with_steady_clock, runtime.db.clock, operation, *a, **k
        )
    except clock_steps.ClockStepped:
        log.info("clock was set during a pass; the next pass repeats it")
        return None


async def signal_waiting_hosts(runtime: ServerRuntime) -> None:
    """In case a signal was lost: work still starts within a second or two."""
    if not len(runtime.agents):
        return
    for host_id in await runtime.db.read(claim.hosts_with_ready_jobs):
        if runtime.agents.for_host(host_id) is not None:
            await runtime.db.write_batched(claim.signal_hosts, host_id)


async def send_cancels(runtime: ServerRuntime) -> None:
    """The same for cancel requests."""
    if not len(runtime.agents):
        return
    for host_id, fence in await runtime.db.read(claim.cancel_requests):
        connection = runtime.agents.for_host(host_id)
        if connection is not None:
            connection.cancel([fence])


async def close_unconfirmed(runtime: ServerRuntime) -> None:
    """An agent that reconnects reports the orders that it has; the others are queued again."""
    for connection in runtime.agents.unconfirmed(runtime.clock()):
        connection.close(4503, "an order may not have reached the agent; reconnect")


async def record_seen(runtime: ServerRuntime) -> None:
    accepted = runtime.agents.take_accepted()
    if accepted:
        await runtime.db.write(hosts.note_accepted, accepted)
    times = runtime.agents.take_contact_times()
    if not times:
        return
    for host_id, session in await runtime.db.write(hosts.record_heartbeats, times):
        connection = runtime.agents.for_host(host_id)
        if connection is not None and connection.session == session:
            connection.close(*TAKEN_OVER)


async def end_silent(runtime: ServerRuntime) -> None:
    runtime.agents.end_silent(asyncio.get_running_loop().time())


async def record_uses(runtime: ServerRuntime) -> None:
    if used := runtime.credentials.take_used():
        await runtime.db.write(access.touch, used)


async def record_failures(runtime: ServerRuntime) -> None:
    """Write the failed sign-ins of the last minute to the log and the audit."""
    if failures := runtime.limits.failures.take():
        failed_attempts.log_repeated(failures)
        await runtime.db.write(failed_attempts.write_audit, failures)


async def record_proxies(runtime: ServerRuntime) -> None:
    """Store peers that send forwarded headers without being declared, for `doctor`."""
    if runtime.proxies.undeclared():
        await runtime.db.write(runtime.proxies.save)


async def mark_silent(runtime: ServerRuntime) -> None:
    silent = runtime.silent.update(await runtime.db.read(hosts.silent_ids, BEAT_MS))
    gone = [host_id for host_id, seconds in silent.items() if seconds >= SILENT_S]
    if gone:
        await run_deadline(runtime, hosts.mark_unreachable, UNREACHABLE_AFTER, gone)
    cut_off, back = await runtime.db.read(_marks_due)
    if cut_off:
        await runtime.db.write(timeouts.mark_unreachable)
    if back:
        await runtime.db.write(timeouts.mark_reachable)


def _marks_due(tx: Tx) -> tuple[bool, bool]:
    return timeouts.any_unreachable(tx), timeouts.any_reachable(tx)


async def mark_overdue_lost(runtime: ServerRuntime) -> None:
    late = {attempt.fence: attempt for attempt in await runtime.db.read(timeouts.overdue)}
    seconds = runtime.overdue.update(late)
    lost = [fence for fence in late if seconds[fence] * 1_000 >= late[fence].grace]
    if lost:
        await run_deadline(runtime, timeouts.mark_lost, lost)


async def expire(runtime: ServerRuntime) -> None:
    while await runtime.db.read(timeouts.any_expired):
        if await run_deadline(runtime, timeouts.expire) is None:
            return


async def purge_credentials(runtime: ServerRuntime) -> None:
    while await runtime.db.write(access.purge_expired):
        await asyncio.sleep(0)


async def mark_stale(runtime: ServerRuntime) -> None:
    # No result: another server is doing it.
    while await runtime.db.read(has_newly_stale) and await run_deadline(
        runtime, indicators.publish_stale
    ):
        await asyncio.sleep(0)


async def downsample_values(runtime: ServerRuntime) -> None:
    while await runtime.db.write(indicators.purge_old):
        await asyncio.sleep(0)


async def watch_monitors(runtime: ServerRuntime) -> None:
    """Missing samples, offline hosts, nested monitors, pauses that have ended."""
    if not await runtime.db.read(watchdog.has_work):
        return
    for _ in range(MAX_MONITOR_STEPS):
        if not await run_deadline(runtime, watchdog.run):
            return


async def record_hosts_up(runtime: ServerRuntime) -> None:
    """The samples of hosts that stay up."""
    after: str | None = "" if await runtime.db.read(host_samples.is_due) else None
    while after is not None:
        after = await run_deadline(runtime, host_samples.record, after)


async def send_monitor_changes(runtime: ServerRuntime) -> None:
    """In case a signal about monitors was lost, or came while a session was being opened. There is
    nothing to compare until an agent connects, or the list of some host changes."""
    connections, added = runtime.agents.connections(), runtime.agents.added
    if not connections:
        return
    lists = await runtime.db.read(watch_changes.fingerprint), added
    if lists == runtime.agents.compared_lists:
        return
    numbers = await runtime.db.read(
        watch_changes.numbers, [connection.host_id for connection in connections]
    )
    behind = [
        connection
        for connection in connections
        if numbers.get(connection.host_id, 0) > connection.monitor_sync.number
    ]
    for connection in behind:
        connection.monitor_sync.on_signal()
    runtime.agents.compared_lists = None if behind else lists


async def purge_samples(runtime: ServerRuntime) -> None:
    """Old samples, and all samples of deleted monitors."""
    for operation in (rollups.purge_old, housekeeping.purge, housekeeping.purge_trials):
        while await runtime.db.write(operation):
            await asyncio.sleep(0)


async def send_messages(runtime: ServerRuntime) -> None:
    await dispatcher.send_due(runtime.db, runtime.keyring, runtime.egress)


async def queue_status_mails(runtime: ServerRuntime) -> None:
    """Mails about incidents for the subscribers of status pages."""
    if not runtime.settings.mail:
        return
    if await runtime.db.read(mailings.any_mailing):
        await runtime.db.write(mailings.queue_mails, runtime.keyring, runtime.settings.base_url)


async def purge_messages(runtime: ServerRuntime) -> None:
    for operation in (messages.purge_old, inbox.purge_old):
        while await runtime.db.write(operation):
            await asyncio.sleep(0)


async def purge_deliveries(runtime: ServerRuntime) -> None:
    while await runtime.db.write(store.purge_old):
        await asyncio.sleep(0)
    webhook_id: str | None = ""
    while webhook_id is not None:
        webhook_id = await runtime.db.write(store.purge_excess, webhook_id)


async def fire_schedules(runtime: ServerRuntime) -> None:
    """Start what is due now or before the next pass, on time."""
    soonest = await runtime.db.read(schedules.next_due_at)
    ahead_s = FIRE_EVERY_S if soonest is None else (soonest - runtime.clock()) / 1_000
    if ahead_s >= FIRE_EVERY_S:
        return
    await asyncio.sleep(max(0.0, ahead_s))
    while due := await runtime.db.read(schedules.due_ids, FIRE_BATCH):
        starts = [_fire(runtime, schedule_id) for schedule_id in due]
        fired = await asyncio.gather(*starts, return_exceptions=True)
        if faults := [result for result in fired if isinstance(result, BaseException)]:
            raise faults[0]
        # Nothing fired: other servers are doing it.
        if not any(fired):
            return


async def _fire(runtime: ServerRuntime, schedule_id: str) -> bool:
    try:
        has_fired = bool(await run_deadline(runtime, firing.fire, TARGETS, schedule_id))
    except Exception as fault:
        if is_database_fault(fault) and not _is_too_slow(runtime, schedule_id, fault):
            # It stays due: the next pass starts it.
            raise
        log.exception("schedule could not be started; this run is skipped schedule=%s", schedule_id)
        reason = Reason.TOO_SLOW if isinstance(fault, StatementTimeout) else Reason.FAULT
        await runtime.db.write(firing.skip_failed, schedule_id, reason)
        has_fired = True
    runtime.slow_schedules.pop(schedule_id, None)
    return has_fired


def _is_too_slow(runtime: ServerRuntime, schedule_id: str, fault: Exception) -> bool:
    """Whether this schedule exceeds the time limit again and again, although the database works: it
    has just been read."""
    if not isinstance(fault, StatementTimeout):
        return False
    runtime.slow_schedules[schedule_id] += 1
    return runtime.slow_schedules[schedule_id] >= MAX_TIMEOUTS


async def purge_runs(runtime: ServerRuntime) -> None:
    while await runtime.db.write(run_history.purge_old):
        await asyncio.sleep(0)
    schedule_id: str | None = ""
    while schedule_id is not None:
        schedule_id = await runtime.db.write(run_history.purge_surplus, schedule_id)


async def abandon_lost_steps(runtime: ServerRuntime) -> None:
    """Workflows wait for the result of a lost job, but not forever."""
    while await runtime.db.read(advance.has_overdue):
        if await run_deadline(runtime, advance.abandon_lost) is None:
            return


async def measure_storage(runtime: ServerRuntime) -> None:
    await runtime.storage.measure(runtime.db, runtime.logs)


async def delete_unused_contents(server: ServerRuntime) -> None:
    """One part of the sweep; the next pass continues."""
    if not await server.db.read(blob_sweep.is_due):
        return
    for _ in range(unused_contents.MAX_STEPS):
        if not await server.db.write(unused_contents.step):
            return
        await asyncio.sleep(0)


async def follow_keys(runtime: ServerRuntime) -> None:
    """Another server may have rotated the key."""
    await runtime.db.read(runtime.keyring.load_current_key)


async def seal_old_rows(runtime: ServerRuntime) -> None:
    """Seal what earlier versions stored in plain text, a few batches at a time."""
    batches = sealing.MAX_BATCHES
    for place in await runtime.db.read(sealing.pending):
        while batches and await runtime.db.write(sealing.seal_batch, place) == sealing.BATCH:
            batches -= 1
            await asyncio.sleep(0)


LOOPS = (
    Loop("encrypt values of older versions", 10.0, seal_old_rows, 5.0),
    Loop("load rotated keys", 10.0, follow_keys),
    Loop("detect clock steps", 2.0, clock.follow),
    Loop("start schedules", FIRE_EVERY_S, fire_schedules),
    Loop("delete old schedule runs", 300.0, purge_runs, 90.0),
    Loop("wake waiting hosts", 1.0, signal_waiting_hosts),
    Loop("send cancel requests to agents", 2.0, send_cancels),
    Loop("close connections with unconfirmed orders", 2.0, close_unconfirmed),
    Loop("record when agents were seen", 5.0, record_seen),
    Loop("end silent connections of agents", 2.0, end_silent),
    Loop("record uses of credentials", 60.0, record_uses),
    Loop("write failed sign-ins to the audit log", 60.0, record_failures),
    Loop("record undeclared proxies", 60.0, record_proxies, 60.0),
    Loop("mark silent hosts and their jobs", 5.0, mark_silent, TERM_S - SILENT_S),
    Loop("mark overdue jobs as lost", 5.0, mark_overdue_lost, TERM_S),
    Loop("expire jobs that waited too long", 5.0, expire),
    Loop("abandon lost steps of workflows", 60.0, abandon_lost_steps, 30.0),
    Loop("delete old history", 30.0, history.purge_old, 10.0),
    Loop("delete history on request", 2.0, history.delete_requested),
    Loop("check the whole history for deletions", 86_400.0, history.recheck, 3_600.0),
    Loop("mark stale indicators", 5.0, mark_stale, TERM_S),
    Loop("reduce the history of indicators", 300.0, downsample_values, 60.0),
    Loop("delete old deliveries", 60.0, purge_deliveries, 30.0),
    Loop("send messages", 2.0, send_messages),
    Loop("queue mails about incidents", 5.0, queue_status_mails),
    Loop("delete old messages", 300.0, purge_messages, 120.0),
    Loop("delete old credentials", 3_600.0, purge_credentials, 60.0),
    Loop("check monitors for missing samples", 5.0, watch_monitors, TERM_S),
    Loop("record samples of hosts that are up", 5.0, record_hosts_up, TERM_S),
    Loop("send monitor changes to agents", 5.0, send_monitor_changes),
    Loop("delete old samples", 60.0, purge_samples, 30.0),
    Loop("measure what organizations store", 60.0, measure_storage, 5.0),
    Loop("delete contents that nothing uses", 60.0, delete_unused_contents, 120.0),
    Loop("add older jobs to the search index", 60.0, search_index.add_older_jobs, 5.0),
)


async def run(loop: Loop, runtime: ServerRuntime) -> None:
    await asyncio.sleep(loop.wait_s)
    while True:
        try:
            await loop.work(runtime)
        except Exception:
            # One failed pass (a database restart, a full disk) must not end the loop for good.
            log.exception("background loop failed; retrying name=%r", loop.name)
        await asyncio.sleep(pause_s(loop.every_s, asyncio.get_running_loop().time()))


def pause_s(every_s: float, now: float) -> float:
    """Short loops run together, at multiples of their interval: each wake-up of an idle process
    costs more than most passes. After a pass that took long, the next multiple is skipped."""
    if every_s > MAX_ALIGNED_S:
        return every_s
    pause = every_s - (now + _OFFSET_S) % every_s
    return pause if pause >= every_s / 4 else pause + every_s


def start(runtime: ServerRuntime) -> list[asyncio.Task[None]]:
    return [asyncio.create_task(run(loop, runtime), name=loop.name) for loop in LOOPS]
