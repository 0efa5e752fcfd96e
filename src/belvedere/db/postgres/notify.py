"""LISTEN/NOTIFY between the servers of one PostgreSQL: a ring, never a message to rely on.

A ring costs a tenth of a job, so a server that is alone does not ring. Each one says that it is
there: when it begins to listen, and every few seconds.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable

import psycopg

from belvedere.db.postgres.database import CHANNEL, Postgres

log = logging.getLogger("belvedere.doorbell")
# NOTIFY carries at most 8,000 bytes; a longer ring is split.
MOST_TOPICS = 100
# Said by a server that begins to listen, and by the others in answer and all the while.
HELLO, HERE = "hello", "here"
HERE_S = 5.0
# So long after its last word another server may still be listening.
COMPANY_S = 3 * HERE_S


class PostgresNotifier:
    """Rings the other servers after our commits, and tells us when they ring."""

    def __init__(
        self,
        db: Postgres,
        heard: Callable[[set[str]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._db = db
        self._heard = heard
        self._clock = clock
        # Whoever is there has not been heard yet.
        self._alone_at = clock() + HERE_S
        self._waiting: set[str] = set()
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._own_pid = 0
        self._threads = [
            threading.Thread(target=self._run, args=(work,), daemon=True, name=work.__name__)
            for work in (self._listen, self._notify)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._wake.set()
        for thread in self._threads:
            thread.join(3)

    def ring(self, topics: set[str]) -> None:
        if self._clock() < self._alone_at:
            self._say_soon(topics)

    def _say_soon(self, topics: set[str]) -> None:
        with self._lock:
            self._waiting |= topics
        self._wake.set()

    def _run(self, work: Callable[[psycopg.Connection[tuple[object, ...]]], None]) -> None:
        while not self._stopped.is_set():
            try:
                with contextlib.closing(self._db.connect(autocommit=True)) as connection:
                    work(connection)
            except psycopg.Error as fault:
                # Polling goes on meanwhile; a missed ring costs a second, never a job.
                log.warning("the doorbell is away: %s", fault)
                self._stopped.wait(1.0)

    def _listen(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        connection.execute(f"listen {CHANNEL}")
        self._say_soon({HELLO})
        heard_at = self._clock()
        while not self._stopped.is_set():
            for notice in connection.notifies(timeout=1.0):
                heard_at = self._clock()
                if notice.pid != self._own_pid:
                    self._hear(set(notice.payload.split(",")))
            # Not even our own signal, sent every few seconds: this connection is dead.
            if self._clock() - heard_at > COMPANY_S:
                raise psycopg.OperationalError("no notification arrives any more")

    def _hear(self, topics: set[str]) -> None:
        self._alone_at = self._clock() + COMPANY_S
        if HELLO in topics:
            self._say_soon({HERE})
        if rung := topics - {HELLO, HERE}:
            self._heard(rung)

    def _notify(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        self._own_pid = connection.info.backend_pid
        while not self._stopped.is_set():
            self._wake.wait(HERE_S)
            self._wake.clear()
            with self._lock:
                topics, self._waiting = sorted(self._waiting) or [HERE], set()
            for start in range(0, len(topics), MOST_TOPICS):
                self._send(connection, ",".join(topics[start : start + MOST_TOPICS]))

    def _send(self, connection: psycopg.Connection[tuple[object, ...]], payload: str) -> None:
        self._db.deadline.begin(connection.pgconn)
        try:
            _say(connection, payload)
        finally:
            self._db.deadline.end(connection.pgconn)


def _say(connection: psycopg.Connection[tuple[object, ...]], payload: str) -> None:
    """Below the driver's cursors, which cost several times the statement."""
    sql, params = b"select pg_notify($1, $2)", [CHANNEL.encode(), payload.encode()]
    result = connection.pgconn.exec_params(sql, params)
    if result.status != psycopg.pq.ExecStatus.TUPLES_OK:
        raise psycopg.errors.error_from_result(result)
