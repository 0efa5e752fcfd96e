"""What the loops of a server do about silent hosts, without waiting: the wall clock is right."""

from belvedere.db import Database
from belvedere.hosts import presence
from belvedere.jobs.lifecycle import timeouts
from belvedere.jobs.model import UNREACHABLE_AFTER


def mark_silent(db: Database) -> list[str]:
    """The hosts that were marked."""
    silent = db.write_blocking(presence.silent_ids, UNREACHABLE_AFTER)
    return db.write_blocking(presence.mark_unreachable, UNREACHABLE_AFTER, silent)


def lose_overdue(db: Database) -> int:
    """How many jobs were marked as lost."""
    late = db.write_blocking(timeouts.overdue)
    return db.write_blocking(timeouts.mark_lost, [item.fence for item in late])
