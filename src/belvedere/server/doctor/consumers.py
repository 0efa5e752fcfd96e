"""Checks of the event consumers: events that were set aside, and consumers without progress."""

from collections.abc import Iterable

from belvedere.base.clock import DAY, MINUTE, Millis, iso
from belvedere.db import Tx
from belvedere.events import cursors
from belvedere.server.background import consumers
from belvedere.server.background.consumers import EventConsumer
from belvedere.server.doctor.environment import is_running
from belvedere.server.doctor.model import Finding, Installation, notice, ok, problem, problems

# How long an event waits at most while a server runs; one of the search index, which lets other
# work go first, may wait longer.
MAX_WAIT: Millis = 10 * MINUTE
MAX_SLOW_WAIT: Millis = DAY


def parked(installation: Installation) -> Iterable[Finding]:
    rows = installation.db.read(
        lambda tx: tx.rows(
            "select reaction, event_id, at, fault, kind, object_id from parked order by at"
        )
    )
    advice = (
        "Do by hand what the consumer could not do, then delete the row from the table `parked`,"
        " which has a copy of the event; the server's log of that time has the details."
    )
    faults = [
        f"The consumer {consumer!r} failed on event {event_id}"
        f"{kind and f' ({kind} of {object_id})'} of {iso(at)}: {fault}"
        for consumer, event_id, at, fault, kind, object_id in rows
    ]
    yield from problems("reactions", faults, advice)
    if not faults:
        yield ok("reactions", "No event was set aside.")


def progress(installation: Installation) -> Iterable[Finding]:
    """Consumers that do not process their events: these events and their jobs cannot be deleted."""
    active = consumers.active(has_redis=bool(installation.settings.redis))
    waiting = installation.db.read(_waiting_too_long, active, installation.now)
    for name, at in waiting:
        yield _without_progress(installation, name, at)
    if not waiting:
        yield ok("consumers", "Every event consumer processes its events.")


def _waiting_too_long(
    tx: Tx, active: Iterable[EventConsumer], now: Millis
) -> list[tuple[str, Millis]]:
    """The consumers, each with the time of the first event that it has not processed."""
    times = [(item, cursors.oldest_waiting(tx, item.name, item.kinds)) for item in active]
    return [
        (item.name, at)
        for item, at in times
        if at is not None and now - at > (MAX_SLOW_WAIT if item.writes_index else MAX_WAIT)
    ]


def _without_progress(installation: Installation, name: str, at: Millis) -> Finding:
    message = f"The consumer {name!r} has not processed an event of {iso(at)}."
    if not is_running(installation):
        # The event is from the last moment before the server stopped, or before the backup.
        return notice("consumers", message, "It continues when the server starts.")
    return problem(
        "consumers",
        f"{message} Later events and jobs that ended since are not deleted until it has.",
        f"If the server has just started, wait a minute. Else search its log for {name!r}, and"
        " restart it if there are no such lines.",
    )
