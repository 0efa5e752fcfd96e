"""Periodic work on the history: retention, deletions on request, the event log."""

import asyncio
import time

from belvedere.events import budget
from belvedere.jobs.history import deletion_steps, limits, retention
from belvedere.jobs.lifecycle import timeouts
from belvedere.server.background import consumers
from belvedere.server.runtime import ServerRuntime


async def purge_old(runtime: ServerRuntime) -> None:
    """Retention, in small batches that let other writes in between."""
    while await runtime.db.write(timeouts.purge_old_keys):
        await asyncio.sleep(0)
    readers = _job_readers(runtime)
    while await runtime.db.write(retention.purge, readers):
        await asyncio.sleep(0)
    await purge_events(runtime)
    while job_ids := await runtime.db.read(retention.jobs_with_leftover_logs):
        await runtime.logs.write(retention.delete_logs, job_ids)
        await runtime.db.write(retention.confirm_logs_deleted, job_ids)


async def purge_events(runtime: ServerRuntime) -> None:
    """By age, and over the budget of each organization and object."""
    active = consumers.active(has_redis=runtime.redis is not None)
    names = [consumer.name for consumer in active]
    while await runtime.db.write(budget.count_step):
        await asyncio.sleep(0)
    while await runtime.db.write(retention.purge_old_events, names):
        await asyncio.sleep(0)
    limit = runtime.settings.event_budget
    for pair in await runtime.db.read(budget.over_budget, limit) if limit else []:
        while await runtime.db.write(retention.purge_excess_events, names, *pair, limit):
            await asyncio.sleep(0)


async def delete_requested(runtime: ServerRuntime) -> None:
    """What people have deleted. After each step other writers have as much time as it took."""
    if not await runtime.db.read(deletion_steps.is_due):
        return
    started_at = time.monotonic()
    readers = _job_readers(runtime)
    while await runtime.db.write(deletion_steps.run_next, readers):
        await asyncio.sleep(time.monotonic() - started_at)
        started_at = time.monotonic()


async def recheck(runtime: ServerRuntime) -> None:
    await runtime.db.write(limits.start_over)
    await runtime.db.write(budget.start_over)


def _job_readers(runtime: ServerRuntime) -> dict[str, frozenset[str]]:
    return consumers.job_readers(has_redis=runtime.redis is not None)
