"""A time limit for every wait for PostgreSQL: a machine without power sends no response or reset.

TCP keepalives do not detect a dead peer behind a proxy or a firewall that drops packets, and the
driver waits in C code that cannot be interrupted. So one thread checks all waits and shuts down
the socket of one that takes too long, which ends it with an error.
"""

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

from psycopg import pq

from belvedere.db.postgres.loop_waits import wait_for

Connection = pq.abc.PGconn
# A response on another connection within this part of the limit shows that the database works.
RECENT = 0.25
# The driver limits each attempt to connect, but neither the look-up of the name, which takes 20 s
# if the name servers do not respond, nor the attempts for all addresses together.
OPEN_S = 8.0


class Closable(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


class Wait(NamedTuple):
    connection: Connection
    since: float
    # The process of PostgreSQL behind the connection; empty if it is not known.
    process: str


class Deadline:
    """Ends waits that take longer than `limit_s`. `on_cut` is called if no other connection gets
    responses either: then the database does not respond, not only one of its processes."""

    def __init__(self, limit_s: float, on_cut: Callable[[], None]) -> None:
        self._limit_s = limit_s
        self._on_cut = on_cut
        self._waits: dict[int, Wait] = {}
        self._answered_at = 0.0
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, connection: Connection, process: str = "") -> None:
        """This connection waits for a response from now on."""
        self._waits[id(connection)] = Wait(connection, time.monotonic(), process)

    def end(self, connection: Connection) -> None:
        if self._waits.pop(id(connection), None) and connection.status == pq.ConnStatus.OK:
            self._answered_at = time.monotonic()

    @property
    def is_started(self) -> bool:
        return self._thread is not None

    @property
    def is_waiting(self) -> bool:
        return bool(self._waits)

    def list_waits(self, age_s: float) -> list[Wait]:
        """Those of this age or older whose process is known."""
        latest = time.monotonic() - age_s
        return [wait for wait in list(self._waits.values()) if wait.process and wait.since < latest]

    def start(self) -> None:
        """Check waits until `stop`; a second call has no effect."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True, name="deadline")
            self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(self._limit_s / 8):
            oldest = time.monotonic() - self._limit_s
            late = [wait for wait in list(self._waits.values()) if wait.since < oldest]
            if late and time.monotonic() - self._answered_at > self._limit_s * RECENT:
                self._on_cut()
            for wait in late:
                self.cut(wait)

    def cut(self, wait: Wait) -> None:
        """End this wait, unless it has ended."""
        connection = wait.connection
        if self._waits.get(id(connection)) is not wait:
            return
        self._waits.pop(id(connection), None)
        # It may be closed meanwhile; a copy of the descriptor cannot belong to another connection.
        with (
            contextlib.suppress(Exception),
            socket.socket(fileno=os.dup(connection.socket)) as copy,
        ):
            copy.shutdown(socket.SHUT_RDWR)


class Openings:
    """Opens connections on threads."""

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="connect")

    def run(self, open_connection: Callable[[], C], idle: list[C]) -> C:
        """A new connection; TimeoutError after the limit. One that is opened later is added to the
        idle ones."""
        opening = self._threads.submit(open_connection)
        try:
            return wait_for(opening, OPEN_S)
        except TimeoutError:
            # One that has not begun would open a connection that nobody needs.
            if not opening.cancel():
                opening.add_done_callback(partial(_keep, idle))
            raise

    def shutdown(self) -> None:
        self._threads.shutdown()


def _keep(idle: list[C], opening: Future[C]) -> None:
    """At most one: the operations for which they were opened have ended."""
    if opening.exception() is not None:
        return
    if idle:
        opening.result().close()
    else:
        idle.append(opening.result())
