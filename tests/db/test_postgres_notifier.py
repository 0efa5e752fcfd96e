"""Servers of one PostgreSQL notify each other; a server that is alone sends no notifications."""

import asyncio
import contextlib
import queue
from collections.abc import Collection, Iterator
from contextlib import contextmanager

import psycopg
import pytest

from belvedere.db import Database
from belvedere.db.postgres import notify
from belvedere.db.postgres.database import Postgres
from belvedere.db.postgres.notify import (
    CHANNEL,
    HELLO,
    HERE,
    HERE_S,
    PEER_TIMEOUT_S,
    REQUESTS,
    PostgresNotifier,
)
from belvedere.db.signals import (
    ACCESS_CHANGED,
    ANY_EVENT,
    Signal,
    SignalBus,
    Topic,
    host_ready,
    job_finished,
)
from resetting_proxy import ResettingProxy

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
PATIENCE_S = 30


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class NotifyListener:
    """Stands in for another server: it receives all notifications."""

    def __init__(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        self._connection = connection
        self.words: list[str] = []
        self.notifications = 0
        connection.execute(f"listen {CHANNEL}")

    def send_messages(self, word: str) -> None:
        self._connection.execute("select pg_notify(%s, %s)", (CHANNEL, word))

    def until(self, word: str) -> None:
        while word not in self.words:
            if not self.receive(PATIENCE_S):
                raise TimeoutError(f"no notification {word}, only {self.words}")

    def forget(self, word: str) -> None:
        self.words = [other for other in self.words if other != word]

    def receive(self, timeout_s: float) -> bool:
        """Whether a notification arrived; more than one if they arrive together."""
        own = self._connection.info.backend_pid
        notices = list(self._connection.notifies(timeout=timeout_s, stop_after=1))
        payloads = [notice.payload for notice in notices if notice.pid != own]
        self.notifications += len(payloads)
        self.words += [text for payload in payloads for text in payload.split(",")]
        return bool(notices)


@contextmanager
def run_notifier(
    db: Postgres, clock: Clock | None = None, bus: SignalBus | None = None
) -> Iterator[tuple[PostgresNotifier, "queue.Queue[set[Signal]]"]]:
    actual_queue: queue.Queue[set[Signal]] = queue.Queue()
    bus = bus or SignalBus()
    postgres_notifier = PostgresNotifier(
        db, actual_queue.put, bus.requested_topics, clock or Clock()
    )
    bus.on_request = postgres_notifier.announce
    postgres_notifier.start()
    try:
        yield postgres_notifier, actual_queue
    finally:
        postgres_notifier.stop()


@pytest.fixture
def postgres(db: Database) -> Postgres:
    assert isinstance(db, Postgres)
    return db


@pytest.fixture
def listener(postgres: Postgres) -> Iterator[NotifyListener]:
    with postgres.connect(autocommit=True) as connection:
        yield NotifyListener(connection)


def test_a_signal_reaches_the_other_server(postgres: Postgres, listener: NotifyListener) -> None:
    with run_notifier(postgres) as (postgres_notifier, _):
        listener.until(HELLO)
        listener.forget(HELLO)
        with run_notifier(postgres) as (_, actual_queue):
            listener.until(HELLO)
            postgres_notifier.notify({host_ready("x")})
            assert actual_queue.get(timeout=PATIENCE_S) == {host_ready("x")}


def test_a_server_that_is_alone_does_not_notify(
    postgres: Postgres, listener: NotifyListener
) -> None:
    clock = Clock()
    with run_notifier(postgres, clock) as (alone, actual_queue):
        listener.until(HELLO)
        clock.now += HERE_S
        alone.notify({host_ready("unheard")})
        # Another server connects.
        listener.forget(REQUESTS)
        listener.send_messages(HELLO)
        listener.until(REQUESTS)
        alone.notify({host_ready("heard")})
        listener.until("host:heard")
        # Notifications of others count as contact, too; they are no news about work.
        clock.now += PEER_TIMEOUT_S - 1
        listener.send_messages("host:theirs")
        assert actual_queue.get(timeout=PATIENCE_S) == {host_ready("theirs")}
        clock.now += PEER_TIMEOUT_S - 1
        alone.notify({host_ready("still")})
        listener.until("host:still")
        clock.now += PEER_TIMEOUT_S
        alone.notify({host_ready("gone")})
        listener.send_messages(HELLO)
        listener.forget(REQUESTS)
        listener.until(REQUESTS)
    assert "host:unheard" not in listener.words and "host:gone" not in listener.words


def test_a_server_notifies_before_it_knows_the_other_servers(
    postgres: Postgres, listener: NotifyListener
) -> None:
    with run_notifier(postgres) as (new, _):
        new.notify({host_ready("early")})
        listener.until("host:early")


def test_servers_are_counted_until_they_are_silent(
    postgres: Postgres, listener: NotifyListener
) -> None:
    clock = Clock()
    with run_notifier(postgres, clock) as (_, received), postgres.connect(autocommit=True) as other:
        # It listens from now on.
        listener.until(HELLO)
        NotifyListener(other).send_messages("access")
        received.get(timeout=PATIENCE_S)
        listener.send_messages("access")
        received.get(timeout=PATIENCE_S)
        assert _count_after(postgres, listener, received) == 3
        clock.now += PEER_TIMEOUT_S
        assert _count_after(postgres, listener, received) == 2


def _count_after(
    postgres: Postgres, listener: NotifyListener, received: "queue.Queue[set[Signal]]"
) -> int:
    """After the signals of another server; the last may not be counted yet when it is received."""
    for _ in range(2):
        listener.send_messages("access")
        received.get(timeout=PATIENCE_S)
    return postgres.servers


def test_signals_of_a_short_period_are_one_notification(
    postgres: Postgres, listener: NotifyListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long enough for all calls below, also on a busy machine.
    monkeypatch.setattr(notify, "COALESCE_S", 1.0)
    with run_notifier(postgres) as (notifier, _):
        listener.until(HELLO)
        before = listener.notifications
        for number in range(200):
            notifier.notify({host_ready(str(number))})
        for number in range(200):
            listener.until(f"host:{number}")
        # At most 100 signals fit in one.
        assert listener.notifications - before <= 3


OTHER_SIGNALS = {job_finished("1"), ANY_EVENT}


def signals_after(
    notifier: PostgresNotifier,
    listener: NotifyListener,
    received: "queue.Queue[set[Signal]]",
    message: str,
) -> set[str]:
    """Those of `OTHER_SIGNALS` that are sent after another server has sent this message."""
    listener.send_messages(f"{message},access")
    while ACCESS_CHANGED not in received.get(timeout=PATIENCE_S):
        pass
    listener.words.clear()
    notifier.notify(OTHER_SIGNALS)
    notifier.notify({host_ready("last")})
    listener.until("host:last")
    return {word for word in listener.words if word.startswith(("job", "events"))}


@pytest.mark.parametrize(
    ("message", "topics"),
    [
        (REQUESTS, set()),
        (f"{REQUESTS}job", {"job:1"}),
        (f"{REQUESTS}events+job+weather", {"job:1", "events"}),
        # An earlier version.
        (HERE, {"job:1", "events"}),
    ],
)
def test_ends_and_events_are_sent_while_another_server_requests_them(
    postgres: Postgres, listener: NotifyListener, message: str, topics: Collection[str]
) -> None:
    clock = Clock()
    with run_notifier(postgres, clock) as (notifier, received):
        listener.until(HELLO)
        # Until it knows the other servers, it sends everything.
        assert signals_after(notifier, listener, received, "hello") == {"job:1", "events"}
        clock.now += HERE_S
        assert signals_after(notifier, listener, received, message) == topics
        clock.now += PEER_TIMEOUT_S
        assert signals_after(notifier, listener, received, REQUESTS) == set()


def test_servers_without_requests_send_nothing_for_a_job(
    postgres: Postgres, listener: NotifyListener
) -> None:
    clock = Clock()
    with run_notifier(postgres, clock) as (notifier, received):
        listener.until(HELLO)
        clock.now += HERE_S
        assert signals_after(notifier, listener, received, REQUESTS) == set()
        before = listener.notifications
        for number in range(500):
            notifier.notify({job_finished(str(number)), ANY_EVENT})
        notifier.notify({host_ready("end")})
        listener.until("host:end")
        assert listener.notifications - before == 1


def test_requests_are_announced_at_once_and_with_each_heartbeat(
    postgres: Postgres, listener: NotifyListener
) -> None:
    clock, bus = Clock(), SignalBus()
    with run_notifier(postgres, clock, bus) as (notifier, received):
        listener.until(REQUESTS)
        withdrawals = [bus.request(Topic.JOB) for _ in range(2)]
        listener.until(f"{REQUESTS}job")
        bus.request(Topic.EVENTS)
        listener.until(f"{REQUESTS}events+job")
        withdrawals.pop()()
        assert bus.requested_topics() == [Topic.EVENTS, Topic.JOB]
        withdrawals.pop()()
        signals_after(notifier, listener, received, REQUESTS)
        listener.words.clear()
        clock.now += HERE_S
        # Also if there is always something else to send.
        notifier.notify({host_ready("1")})
        listener.until("host:1")
        listener.until(f"{REQUESTS}events")
        assert listener.words.count(f"{REQUESTS}events") == 1


@pytest.fixture
def proxy(database_url: str) -> Iterator[ResettingProxy]:
    proxy = ResettingProxy(database_url)
    yield proxy
    proxy.close()


def test_notifications_continue_after_a_reset_at_any_byte(
    proxy: ResettingProxy, listener: NotifyListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a response, in a notification, and while the next connection is opened."""
    monkeypatch.setattr(notify, "RETRY_S", 0.0)
    db = Postgres(proxy.url)
    with run_notifier(db) as (notifier, signals):
        for count in [*range(0, 80, 3), *range(80, 900, 60)]:
            proxy.reset_after(count)
            _until_received(listener, signals, f"to {count}")
            _until_sent(notifier, listener, f"from {count}")
    asyncio.run(db.close())


def test_a_listen_statement_without_a_response_is_repeated(
    proxy: ResettingProxy, listener: NotifyListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "RETRY_S", 0.0)
    db = Postgres(proxy.url, answer_s=0.4)
    proxy.hangs_at = f"listen {CHANNEL}".encode()
    with run_notifier(db) as (_, signals):
        while not db.deadline.is_waiting:
            listener.receive(0.01)
        proxy.hangs_at = b""
        _until_received(listener, signals, "x")
    asyncio.run(db.close())


def _until_received(
    listener: NotifyListener, signals: "queue.Queue[set[Signal]]", host: str
) -> None:
    """Repeated, because one may be lost with its connection."""
    while True:
        listener.send_messages(f"host:{host}")
        with contextlib.suppress(queue.Empty):
            while signals.get(timeout=0.1) != {host_ready(host)}:
                pass
            return


def _until_sent(notifier: PostgresNotifier, listener: NotifyListener, host: str) -> None:
    while f"host:{host}" not in listener.words:
        notifier.notify({host_ready(host)})
        listener.receive(0.1)
