"""Recovery after the database lost commits (a restored backup or a failover), before any agent
connects.

Events and schedules whose processing was lost create their jobs again. That happens before journals
are compared: only jobs that exist then can be held.
"""

import asyncio
import logging

from belvedere.base.errors import Unavailable
from belvedere.db.backup.copy import Location
from belvedere.events import cursors
from belvedere.jobs.recovery import restore
from belvedere.server import database_mark
from belvedere.server.background import consumers, loops
from belvedere.server.runtime import ServerRuntime

log = logging.getLogger("belvedere.restore")
# They create jobs from events.
_JOB_CREATORS = ("triggers start tasks and workflows", "workflows go on")
RETRY_S = 1.0


async def start(runtime: ServerRuntime) -> None:
    """At the start. A database whose file was replaced counts as restored."""
    location = Location(runtime.settings.database_url, runtime.settings.folder)
    if await database_mark.is_replaced(runtime.db, location):
        log.warning("the database file was replaced since the last start; it counts as restored")
        await runtime.db.write(restore.mark_unless_marked)
    await hold_jobs(runtime)
    await database_mark.renew(runtime.db, location)


async def hold_jobs(runtime: ServerRuntime) -> None:
    """Hold jobs that may have run since the backup. Jobs that are created later run at once."""
    count = await runtime.db.write(cursors.renumber)
    if count:
        log.warning("events were renumbered for this PostgreSQL cluster count=%s", count)
    if await runtime.db.write(restore.was_restored):
        await _create_due_jobs(runtime)
        await runtime.db.write(restore.hold_after_restore)


def recover(runtime: ServerRuntime) -> None:
    """After a failover, while the server runs."""
    if runtime.recovery is not None:
        runtime.recovery.cancel()
    runtime.admits_agents = False
    runtime.recovery = asyncio.create_task(_recover(runtime))


async def _recover(runtime: ServerRuntime) -> None:
    while True:
        try:
            await _create_due_jobs(runtime)
            runtime.admits_agents = True
            return
        except Unavailable as refusal:
            log.warning("waiting for the database after a failover reason=%r", refusal.message)
        except Exception:
            # Not the end: without this no agent could connect until the server is restarted.
            log.exception(
                "recovery after a failover failed; retrying; until then agents cannot connect"
            )
        await asyncio.sleep(RETRY_S)


async def _create_due_jobs(runtime: ServerRuntime) -> None:
    await loops.fire_schedules(runtime)
    for consumer in consumers.CONSUMERS:
        if consumer.name in _JOB_CREATORS:
            await _catch_up(runtime, consumer)


async def _catch_up(runtime: ServerRuntime, consumer: consumers.EventConsumer) -> None:
    try:
        await consumers.catch_up(consumer, runtime)
    except Unavailable:
        # Also if the event is too slow: a job that is created after agents connect is not held.
        raise
    except Exception:
        # The consumer itself tries again and sets the event aside.
        log.exception("event could not be processed consumer=%r", consumer.name)
