"""What the server does by itself, as a table: verb, how often, how long after the start."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar

from belvedere import access, hosts
from belvedere.access.limits import failed_attempts
from belvedere.db import Tx, clock_steps
from belvedere.files import blob_sweep
from belvedere.indicators import aging
from belvedere.indicators.store import has_newly_stale
from belvedere.jobs.history import limits, retention, unused_contents
from belvedere.jobs.lifecycle import claim, timeouts
from belvedere.jobs.model import UNREACHABLE_AFTER
from belvedere.monitors import retention as monitor_retention
from belvedere.monitors import watch_changes
from belvedere.monitors.evaluation import rollups, watchdog
from belvedere.notifications import inbox as notices
from belvedere.notifications.delivery import dispatcher, messages
from belvedere.schedules import firing, run_history
from belvedere.schedules import store as schedules
from belvedere.server import clock
from belvedere.server.agents.connection import BEAT_MS
from belvedere.server.background import consumers as reactions
from belvedere.server.encryption import sealing
from belvedere.server.runtime import ServerRuntime
from belvedere.webhooks.deliveries import store
from belvedere.workflows.engine import advance
from belvedere.workflows.schedule_targets import TARGETS

log = logging.getLogger("belvedere.loops")
P = ParamSpec("P")
R = TypeVar("R")

# After a start every agent gets one full term to come back before it counts as silent.
TERM_S = UNREACHABLE_AFTER / 1_000
# A host that misses a beat is watched; when it stays silent for the rest of the term it is gone.
SILENT_S = (UNREACHABLE_AFTER - BEAT_MS) / 1_000
FIRE_EVERY_S = 2.0
FIRED_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Loop:
    name: str
    every_s: float
    work: Callable[[ServerRuntime], Awaitable[object]]
    wait_s: float = 0.0


async def judge(
    runtime: ServerRuntime, verb: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
) -> R | None:
    """Run an operation that ends something because of the time; None where the clock was set
    meanwhile. The next pass repeats it, with deadlines that belong to the clock."""
    try:
        return await runtime.db.write(
            clock_steps.run_with_steady_clock, runtime.db.clock, verb, *a, **k
        )
    except clock_steps.ClockStepped:
        log.info("the clock was set during a pass; the next pass repeats it")
        return None


async def wake_waiting(runtime: ServerRuntime) -> None:
    """The backstop of the doorbell: work starts within a second or two without it."""
    if not len(runtime.agents):
        return
    for host_id in await runtime.db.read(claim.waiting_hosts):
        if runtime.agents.for_host(host_id) is not None:
            await runtime.db.write_batched(claim.wake, host_id)


async def tell_cancels(runtime: ServerRuntime) -> None:
    """The same for what shall be stopped."""
    if not len(runtime.agents):
        return
    for host_id, fence in await runtime.db.read(claim.to_cancel):
        connection = runtime.agents.for_host(host_id)
        if connection is not None:
            connection.cancel([fence])


async def settle_doubts(runtime: ServerRuntime) -> None:
    """An agent that comes back tells what it has; what it has not goes back into the queue."""
    for connection in runtime.agents.unconfirmed(runtime.clock()):
        connection.close(4503, "an order may not have reached you; come back")


async def note_seen(runtime: ServerRuntime) -> None:
    accepted = runtime.agents.take_accepted()
    if accepted:
        await runtime.db.write(hosts.note_accepted, accepted)
    seen = runtime.agents.take_seen()
    if not seen:
        return
    for host_id, session in await runtime.db.write(hosts.seen, seen):
        connection = runtime.agents.for_host(host_id)
        if connection is not None and connection.session == session:
            connection.close(4409, "another connection of this host took over")


async def note_uses(runtime: ServerRuntime) -> None:
    used = runtime.credentials.take_used()
    if used:
        await runtime.db.write(access.touch, used)


async def note_failures(runtime: ServerRuntime) -> None:
    """Failed sign-ins of the last minute, gathered, into the log and the audit."""
    found = runtime.limits.failures.take()
    if found:
        failed_attempts.log_repeated(found)
        await runtime.db.write(failed_attempts.write_audit, found)


async def note_proxies(runtime: ServerRuntime) -> None:
    """Peers that send forwarded headers without being declared, for `doctor` and the next start."""
    if runtime.proxies.undeclared():
        await runtime.db.write(runtime.proxies.keep)


async def mark_silent(runtime: ServerRuntime) -> None:
    silent = runtime.silent.update(await runtime.db.read(hosts.silent, BEAT_MS))
    gone = [host_id for host_id, seconds in silent.items() if seconds >= SILENT_S]
    if gone:
        await judge(runtime, hosts.gone_quiet, UNREACHABLE_AFTER, gone)
    cut_off, back = await runtime.db.read(_marks_due)
    if cut_off:
        await runtime.db.write(timeouts.mark_unreachable)
    if back:
        await runtime.db.write(timeouts.mark_reachable)


def _marks_due(tx: Tx) -> tuple[bool, bool]:
    return timeouts.any_unreachable(tx), timeouts.any_reachable(tx)


async def lose_overdue(runtime: ServerRuntime) -> None:
    late = {found.fence: found for found in await runtime.db.read(timeouts.overdue)}
    seconds = runtime.overdue.update(late)
    lost = [fence for fence in late if seconds[fence] * 1_000 >= late[fence].patience]
    if lost:
        await judge(runtime, timeouts.lose, lost)


async def expire(runtime: ServerRuntime) -> None:
    while await runtime.db.read(timeouts.any_expired):
        if await judge(runtime, timeouts.expire) is None:
            return


async def forget_old(runtime: ServerRuntime) -> None:
    """Retention, in small batches with a breath between them."""
    for verb in (timeouts.forget_keys, retention.purge):
        while await runtime.db.write(verb):
            await asyncio.sleep(0)
    consumers = [reaction.name for reaction in reactions.REACTIONS]
    while await runtime.db.write(retention.forget_events, consumers):
        await asyncio.sleep(0)
    while job_ids := await runtime.db.read(retention.dropped):
        await runtime.logs.write(retention.forget_logs, job_ids)
        await runtime.db.write(retention.logs_forgotten, job_ids)


async def look_again(runtime: ServerRuntime) -> None:
    await runtime.db.write(limits.start_over)


async def forget_credentials(runtime: ServerRuntime) -> None:
    while await runtime.db.write(access.purge_expired):
        await asyncio.sleep(0)


async def tell_stale(runtime: ServerRuntime) -> None:
    # Nothing told: another server is at it.
    while await runtime.db.read(has_newly_stale) and await judge(runtime, aging.publish_stale):
        await asyncio.sleep(0)


async def forget_values(runtime: ServerRuntime) -> None:
    while await runtime.db.write(aging.purge_old):
        await asyncio.sleep(0)


async def watch_monitors(runtime: ServerRuntime) -> None:
    """Silence, dead hosts, nested ones, pauses that are over."""
    if await runtime.db.read(watchdog.has_work):
        await judge(runtime, watchdog.run)


async def tell_watches(runtime: ServerRuntime) -> None:
    """The backstop of the doorbell for what agents shall check."""
    connections = runtime.agents.connections()
    if not connections:
        return
    numbers = await runtime.db.read(
        watch_changes.numbers, [connection.host_id for connection in connections]
    )
    for connection in connections:
        if numbers.get(connection.host_id, 0) > connection.monitor_sync.number:
            connection.monitor_sync.on_signal()


async def forget_samples(runtime: ServerRuntime) -> None:
    """Old samples, and all of those whose monitor is gone."""
    for verb in (rollups.purge_old, monitor_retention.purge):
        while await runtime.db.write(verb):
            await asyncio.sleep(0)


async def send_messages(runtime: ServerRuntime) -> None:
    await dispatcher.send_due(runtime.db, runtime.keyring, runtime.egress)


async def forget_messages(runtime: ServerRuntime) -> None:
    for verb in (messages.purge_old, notices.purge_old):
        while await runtime.db.write(verb):
            await asyncio.sleep(0)


async def forget_deliveries(runtime: ServerRuntime) -> None:
    while await runtime.db.write(store.purge_old):
        await asyncio.sleep(0)
    webhook_id: str | None = ""
    while webhook_id is not None:
        webhook_id = await runtime.db.write(store.purge_excess, webhook_id)


async def fire_schedules(runtime: ServerRuntime) -> None:
    """What is due now, or before the next look: to the moment."""
    soonest = await runtime.db.read(schedules.next_due_at)
    ahead_s = FIRE_EVERY_S if soonest is None else (soonest - runtime.clock()) / 1_000
    if ahead_s >= FIRE_EVERY_S:
        return
    await asyncio.sleep(max(0.0, ahead_s))
    while due := await runtime.db.read(schedules.due_ids, FIRED_AT_ONCE):
        fired = await asyncio.gather(*(_fire(runtime, schedule_id) for schedule_id in due))
        # Nothing fired: other servers are at it.
        if not any(fired):
            return


async def _fire(runtime: ServerRuntime, schedule_id: str) -> bool:
    try:
        return bool(await judge(runtime, firing.fire, TARGETS, schedule_id))
    except Exception:
        log.exception("the schedule %s could not be started; the instant is missed", schedule_id)
    await runtime.db.write(firing.skip_failed, schedule_id)
    return True


async def forget_runs(runtime: ServerRuntime) -> None:
    while await runtime.db.write(run_history.purge_old):
        await asyncio.sleep(0)
    schedule_id: str | None = ""
    while schedule_id is not None:
        schedule_id = await runtime.db.write(run_history.purge_surplus, schedule_id)


async def give_up_lost(runtime: ServerRuntime) -> None:
    """Workflows wait for the truth about a lost job, but not for ever."""
    while await runtime.db.read(advance.has_overdue):
        if await judge(runtime, advance.abandon_lost) is None:
            return


async def measure_storage(runtime: ServerRuntime) -> None:
    await runtime.storage.measure(runtime)


async def delete_unused_contents(server: ServerRuntime) -> None:
    """A part of the sweep; it goes on at the next turn."""
    if not await server.db.read(blob_sweep.is_due):
        return
    for _ in range(unused_contents.MAX_STEPS):
        if not await server.db.write(unused_contents.step):
            return
        await asyncio.sleep(0)


async def follow_keys(runtime: ServerRuntime) -> None:
    """Another server may have begun to seal with another key."""
    await runtime.db.read(runtime.keyring.load_current_key)


async def seal_old_rows(runtime: ServerRuntime) -> None:
    """What versions before this one wrote in clear, a few batches at a time."""
    batches = sealing.MAX_BATCHES
    for place in await runtime.db.read(sealing.pending):
        while batches and await runtime.db.write(sealing.seal_batch, place) == sealing.BATCH:
            batches -= 1
            await asyncio.sleep(0)


LOOPS = (
    Loop("seal values of older versions", 10.0, seal_old_rows, 5.0),
    Loop("seal with the key of the day", 10.0, follow_keys),
    Loop("follow the clock", 2.0, clock.follow),
    Loop("start what is scheduled", FIRE_EVERY_S, fire_schedules),
    Loop("forget old lines of ledgers", 300.0, forget_runs, 90.0),
    Loop("wake waiting hosts", 1.0, wake_waiting),
    Loop("tell agents what to stop", 2.0, tell_cancels),
    Loop("settle orders in doubt", 2.0, settle_doubts),
    Loop("note what agents were seen", 5.0, note_seen),
    Loop("note uses of credentials", 60.0, note_uses),
    Loop("write failed sign-ins to the audit", 60.0, note_failures),
    Loop("note undeclared proxies", 60.0, note_proxies, 60.0),
    Loop("mark silent hosts and their jobs", 5.0, mark_silent, TERM_S - SILENT_S),
    Loop("give up overdue jobs as lost", 5.0, lose_overdue, TERM_S),
    Loop("expire what waited too long", 5.0, expire),
    Loop("give up lost steps of workflows", 60.0, give_up_lost, 30.0),
    Loop("forget old history", 30.0, forget_old, 10.0),
    Loop("look at all history again", 86_400.0, look_again, 3_600.0),
    Loop("tell of stale indicators", 5.0, tell_stale, TERM_S),
    Loop("thin values of indicators", 300.0, forget_values, 60.0),
    Loop("forget old deliveries", 60.0, forget_deliveries, 30.0),
    Loop("send messages", 2.0, send_messages),
    Loop("forget old messages", 300.0, forget_messages, 120.0),
    Loop("forget old credentials", 3_600.0, forget_credentials, 60.0),
    Loop("watch the monitors", 5.0, watch_monitors, TERM_S),
    Loop("tell agents what to check", 5.0, tell_watches),
    Loop("forget old samples", 60.0, forget_samples, 30.0),
    Loop("measure what organizations store", 60.0, measure_storage, 5.0),
    Loop("delete contents that nothing uses", 60.0, delete_unused_contents, 120.0),
)


async def run(loop: Loop, runtime: ServerRuntime) -> None:
    await asyncio.sleep(loop.wait_s)
    while True:
        try:
            await loop.work(runtime)
        except Exception:
            # One bad turn (the database restarts, a full disk) must not end the loop for good.
            log.exception("the loop %r stumbled; it goes on", loop.name)
        await asyncio.sleep(loop.every_s)


def start(runtime: ServerRuntime) -> list[asyncio.Task[None]]:
    return [asyncio.create_task(run(loop, runtime), name=loop.name) for loop in LOOPS]
