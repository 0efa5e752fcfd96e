"""PostgreSQL's timeline: a promoted standby, like a restored backup, continues on a timeline of its
own, perhaps without the last commits of the one before.

Values assigned by those commits (fences, versions, numbers of events) are then assigned again.
"""

import logging
from collections.abc import Callable

import psycopg

from belvedere.db.interface import Tx
from belvedere.db.postgres.connection import PostgresConnection
from belvedere.db.postgres.transaction import PostgresTx

TIMELINE = "select substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
OTHER_TIMELINE = (
    "PostgreSQL failover or restored backup detected; the last commits may be lost, the epoch of"
    " the fences was raised and agents reconnect timeline=%s"
)
log = logging.getLogger("belvedere.db")
# Stores the timeline; returns whether another one was stored before.
Record = Callable[[Tx, str], bool]


class Timeline:
    """The timeline that this server works on. `record` runs before anything else on another one."""

    def __init__(self, record: Record, clock: Callable[[], int]) -> None:
        self.name = ""
        self._record = record
        self._clock = clock

    def follow(
        self, connection: PostgresConnection, on_other: Callable[[], None] = lambda: None
    ) -> None:
        """If this connection is on another timeline than the last one, `on_other` is called before
        others on this timeline are taken for known."""
        name = current(connection)
        if name in ("", self.name):
            return
        connection.begin()
        try:
            is_other = self._record(PostgresTx(connection, self._clock(), {}), name)
            connection.commit()
        finally:
            connection.rollback()
        if is_other:
            log.warning(OTHER_TIMELINE, name)
        if self.name:
            on_other()
        self.name = name


def check_connection(connection: PostgresConnection, check: Callable[[Tx], None] | None) -> None:
    """Check every new connection: a server that was disconnected for long must not continue with a
    database that was moved away meanwhile."""
    if check is not None:
        check(PostgresTx(connection, 0, {}))


def current(connection: PostgresConnection) -> str:
    """Empty if PostgreSQL does not report it, as with some managed services."""
    try:
        return str(connection.rows(TIMELINE)[0][0])
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.FeatureNotSupported):
        return ""
