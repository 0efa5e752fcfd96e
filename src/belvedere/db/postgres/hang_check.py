"""Finds connections that wait for a response which will never arrive, before their time limit.

A machine that was lost, or a firewall that drops packets, closes no connection. But PostgreSQL
knows which of its processes execute a statement. If new connections work, and the process behind
a connection that waits executes nothing, then the request or the response was lost.
"""

import contextlib
import fcntl
import select
import sys
import termios
import threading
from collections.abc import Callable

import psycopg

from belvedere.db.postgres.connection import PostgresConnection
from belvedere.db.postgres.deadlines import Connection, Deadline, Wait

# The time of the start belongs to it: another server may have a process with the same number.
NAME = "pid || ' ' || backend_start"
OWN_PROCESS = f"select pid, {NAME} from pg_stat_activity where pid = pg_backend_pid()"
# All that may execute a statement: a role without permission does not see the state.
BUSY_PROCESSES = f"select {NAME} from pg_stat_activity where coalesce(state, '') not like 'idle%'"
# Parts of the limit of a wait: from this age it is checked, so often.
AGE, PERIOD = 1 / 4, 1 / 16


def own_process(connection: PostgresConnection) -> str:
    """The process behind a connection; empty behind a pooler, which may use another one next."""
    rows = connection.rows(OWN_PROCESS)
    is_direct = bool(rows) and rows[0][0] == connection.connection.info.backend_pid
    return str(rows[0][1]) if is_direct else ""


def busy_processes(connection: PostgresConnection) -> set[str]:
    return {str(name) for (name,) in connection.rows(BUSY_PROCESSES)}


def _has_unread_data(connection: Connection) -> bool:
    """Whether the response has arrived, and only this program is too busy to read it."""
    readable = select.poll()
    readable.register(connection.socket, select.POLLIN)
    return bool(readable.poll(0))


def _unsent_bytes(connection: Connection) -> int:
    """How much of what was sent has not arrived at PostgreSQL's machine."""
    with contextlib.suppress(OSError):
        size = fcntl.ioctl(connection.socket, termios.TIOCOUTQ, bytes(4))
        return int.from_bytes(size, sys.byteorder)
    return 0


class HangCheck:
    """Ends waits on connections whose process is idle. `list_busy` opens a new connection."""

    def __init__(
        self, deadline: Deadline, list_busy: Callable[[], set[str]], limit_s: float
    ) -> None:
        self._deadline = deadline
        self._list_busy = list_busy
        self._limit_s = limit_s
        # With its unsent bytes. A response may be on its way, or a large statement: a wait ends if
        # its process is idle twice in a row and nothing was sent in between.
        self._suspects: set[tuple[Wait, int]] = set()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """A second call has no effect."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True, name="hang check")
            self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(self._limit_s * PERIOD):
            self.check()

    def check(self) -> None:
        waits = self._deadline.list_waits(self._limit_s * AGE)
        suspects: set[tuple[Wait, int]] = set()
        # Without a new connection nothing is known; the limit of the wait still applies.
        with contextlib.suppress(psycopg.Error):
            if waits:
                busy = self._list_busy()
                suspects = {
                    (wait, _unsent_bytes(wait.connection))
                    for wait in waits
                    if wait.process not in busy and not _has_unread_data(wait.connection)
                }
        for wait, _ in suspects & self._suspects:
            self._deadline.cut(wait)
        self._suspects = suspects
