"""Signals between the servers of one PostgreSQL, by LISTEN and NOTIFY. One may be lost.

A notification costs a tenth of a job, so a server sends none while it runs alone, and those of each
job and event only while another server requests them. Each server announces itself, with the topics
that it requests, when it starts to listen, when they change, and every few seconds.
"""

import contextlib
import logging
import math
import select
import threading
import time
from collections.abc import Callable, Iterable, Iterator

import psycopg

from belvedere.db.postgres.database import Postgres
from belvedere.db.signals import ON_REQUEST, Signal, Topic, decode

log = logging.getLogger("belvedere.doorbell")
CHANNEL = "belvedere"
# NOTIFY carries at most 8,000 bytes; more signals are split.
MAX_SIGNALS = 100
# A notification wakes every server, so those of one period are sent together. The first after a
# pause is sent at once.
COALESCE_S = 0.01
# How often an idle listener checks whether to stop.
LISTEN_S = 1.0
# After a lost connection.
RETRY_S = 1.0
# Sent by a server that starts to listen. REQUESTS is the reply and the heartbeat, with the topics
# that the server requests. Servers of earlier versions send HERE instead, and get every topic.
HELLO, HERE, REQUESTS = "hello", "here", "requests:"
HERE_S = 5.0
# A server that sent nothing for this long has gone, and so have its requests.
PEER_TIMEOUT_S = 3 * HERE_S


class PostgresNotifier:
    """Sends our signals to the other servers after each commit, and receives theirs."""

    def __init__(
        self,
        db: Postgres,
        receive: Callable[[set[Signal]], None],
        requested_topics: Callable[[], Iterable[Topic]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._db = db
        self._receive = receive
        self._requested_topics = requested_topics
        self._clock = clock
        # When each of the other servers counts as gone, by the process of its connection.
        self._gone_at: dict[int, float] = {}
        # Other servers have not announced themselves yet.
        self._alone_at = clock() + HERE_S
        # When the requests of other servers end, by topic.
        self._requested_until = dict.fromkeys(ON_REQUEST, self._alone_at)
        self._announced_at = -math.inf
        self._queue: set[str] = set()
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._own_pid = 0
        self._threads = [
            threading.Thread(target=self._run, args=(work,), daemon=True, name=work.__name__)
            for work in (self._listen, self._send_queue)
        ]

    def start(self) -> None:
        self._db.deadline.start()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._wake.set()
        for thread in self._threads:
            thread.join(3)

    def notify(self, signals: set[Signal]) -> None:
        now = self._clock()
        if now < self._alone_at:
            self._enqueue(
                {
                    signal.encode()
                    for signal in signals
                    if now < self._requested_until.get(signal.topic, math.inf)
                }
            )

    def announce(self) -> None:
        """Tell the other servers, if there are any, which topics we request."""
        if self._clock() < self._alone_at:
            self._enqueue({self._presence()})

    def _presence(self) -> str:
        return REQUESTS + "+".join(self._requested_topics())

    def _enqueue(self, texts: set[str]) -> None:
        if not texts:
            return
        with self._lock:
            self._queue |= texts
        self._wake.set()

    def _run(self, work: Callable[[psycopg.Connection[tuple[object, ...]]], None]) -> None:
        while not self._stopped.is_set():
            try:
                with contextlib.closing(self._db.connect(autocommit=True)) as connection:
                    work(connection)
            except psycopg.Error as fault:
                # Polling continues meanwhile; a lost signal costs a second, never a job.
                log.warning("notifications between servers interrupted error=%s", fault)
                self._stopped.wait(RETRY_S)

    def _listen(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        with self._deadline(connection):
            connection.execute(f"listen {CHANNEL}")
        self._enqueue({HELLO})
        received_at = self._clock()
        readable = select.poll()
        readable.register(connection.fileno(), select.POLLIN)
        while not self._stopped.is_set():
            # The driver itself would wake up ten times a second.
            readable.poll(LISTEN_S * 1_000)
            for notice in connection.notifies(timeout=0):
                received_at = self._clock()
                if notice.pid != self._own_pid:
                    self._gone_at[notice.pid] = received_at + PEER_TIMEOUT_S
                    self._handle(set(notice.payload.split(",")))
                self._count_servers()
            # Not even our own signal, sent every few seconds: this connection is dead.
            if self._clock() - received_at > PEER_TIMEOUT_S:
                raise psycopg.OperationalError("no notification arrives any more")

    def _count_servers(self) -> None:
        """Also after our own signal, which comes every few seconds."""
        now = self._clock()
        self._gone_at = {pid: gone_at for pid, gone_at in self._gone_at.items() if gone_at > now}
        self._db.servers = 1 + len(self._gone_at)

    def _handle(self, texts: set[str]) -> None:
        self._alone_at = self._clock() + PEER_TIMEOUT_S
        if HELLO in texts:
            self.announce()
        self.note_requests(_requests(texts))
        if signals := {signal for text in texts if (signal := decode(text))}:
            self._receive(signals)

    def note_requests(self, topics: Iterable[Topic]) -> None:
        """Another server requests these topics."""
        for topic in topics:
            self._requested_until[topic] = self._clock() + PEER_TIMEOUT_S

    def _send_queue(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        self._own_pid = connection.info.backend_pid
        while not self._stopped.is_set():
            self._wake.wait(HERE_S)
            self._wake.clear()
            with self._lock:
                texts, self._queue = self._queue, set()
            if self._clock() - self._announced_at >= HERE_S or not texts:
                self._announced_at = self._clock()
                texts.add(self._presence())
            self._send_texts(connection, sorted(texts))
            self._stopped.wait(COALESCE_S)

    def _send_texts(
        self, connection: psycopg.Connection[tuple[object, ...]], texts: list[str]
    ) -> None:
        for start in range(0, len(texts), MAX_SIGNALS):
            self._send(connection, ",".join(texts[start : start + MAX_SIGNALS]))

    def _send(self, connection: psycopg.Connection[tuple[object, ...]], payload: str) -> None:
        with self._deadline(connection):
            _notify(connection, payload)

    @contextlib.contextmanager
    def _deadline(self, connection: psycopg.Connection[tuple[object, ...]]) -> Iterator[None]:
        self._db.deadline.begin(connection.pgconn)
        try:
            yield
        finally:
            self._db.deadline.end(connection.pgconn)


def _requests(texts: set[str]) -> list[Topic]:
    """The topics that the sender of a notification requests."""
    if HERE in texts:
        return list(ON_REQUEST)
    names = {
        name
        for text in texts
        if text.startswith(REQUESTS)
        for name in text.removeprefix(REQUESTS).split("+")
    }
    return [topic for topic in ON_REQUEST if topic.value in names]


def _notify(connection: psycopg.Connection[tuple[object, ...]], payload: str) -> None:
    """Without a cursor of the driver, which costs several times the statement."""
    sql, params = b"select pg_notify($1, $2)", [CHANNEL.encode(), payload.encode()]
    result = connection.pgconn.exec_params(sql, params)
    if result.status != psycopg.pq.ExecStatus.TUPLES_OK:
        raise psycopg.errors.error_from_result(result)
