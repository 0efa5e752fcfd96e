"""PostgreSQL's timeline: a promoted standby, like a restored backup, continues on a timeline of its
own, perhaps without the last commits of the one before.

What those commits had given out (fences, versions, numbers of events) is given out again then.
"""

import logging
from collections.abc import Callable

import psycopg

from belvedere.db.interface import Tx
from belvedere.db.postgres.connection import Wire
from belvedere.db.postgres.transaction import PostgresTx

TIMELINE = "select substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
OTHER_TIMELINE = (
    "Another PostgreSQL took over (a failover or a restored backup); commits of the last moments"
    " may be lost. The epoch of the fences was raised, and agents connect again. timeline=%s"
)
log = logging.getLogger("belvedere.db")
# Stores the timeline; whether it was another one until now.
Record = Callable[[Tx, str], bool]


class Timeline:
    """The timeline that this server works on. `record` runs before anything else on another one."""

    def __init__(self, record: Record, clock: Callable[[], int]) -> None:
        self.name = ""
        self._record = record
        self._clock = clock

    def follow(self, wire: Wire) -> bool:
        """Whether this connection leads to another timeline than the last one."""
        name = current(wire)
        if name in ("", self.name):
            return False
        wire.begin()
        try:
            is_other = self._record(PostgresTx(wire, self._clock(), {}), name)
            wire.commit()
        finally:
            wire.undo()
        if is_other:
            log.warning(OTHER_TIMELINE, name)
        is_first, self.name = self.name == "", name
        return not is_first


def current(wire: Wire) -> str:
    """Empty where PostgreSQL does not show it, as some managed ones do."""
    try:
        return str(wire.rows(TIMELINE)[0][0])
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.FeatureNotSupported):
        return ""
