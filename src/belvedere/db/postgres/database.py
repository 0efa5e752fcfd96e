"""PostgreSQL: writes and short reads on the event loop, other reads on a few threads.

Each operation has a connection while it runs. Items of one batch operation share a transaction.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Concatenate, ParamSpec, TypeVar

import psycopg

from belvedere.base.clock import Clock, SharedClock
from belvedere.base.counters import Histogram
from belvedere.base.errors import Unavailable
from belvedere.db.commit_hooks import run_after_commit
from belvedere.db.interface import BatchOperation, Row, Sealer, Tx
from belvedere.db.postgres import connection as connections
from belvedere.db.postgres import hang_check
from belvedere.db.postgres.batcher import Batcher
from belvedere.db.postgres.connection import ANSWER_S, PostgresConnection, open_connection
from belvedere.db.postgres.deadlines import Deadline, Openings
from belvedere.db.postgres.faults import (
    CONFLICT,
    CONFLICTS,
    ENDED,
    FAULTS,
    MAX_TRIES,
    NO_RESPONSE,
    RETRYABLE,
    BeforeCommitFailed,
    commit,
    describe,
    unavailable,
)
from belvedere.db.postgres.hang_check import HangCheck
from belvedere.db.postgres.loop_waits import LoopRunner, on_loop
from belvedere.db.postgres.timeline import Record, Timeline, check_connection
from belvedere.db.postgres.transaction import DIALECT, PostgresTx, synchronize_clock
from belvedere.db.search_lane import SEARCH_THREADS, search_timeout
from belvedere.db.signals import Signal

P = ParamSpec("P")
R = TypeVar("R")
Item = TypeVar("Item")

BROKEN = psycopg.Error
# Operations at a time, on the loop and on threads.
ON_LOOP = 8
THREADS = 4
# After a failure, no new connection for this time: callers must not queue behind timeouts.
PAUSE_S = 1.0

log = logging.getLogger("belvedere.db")


class Postgres:
    """A PostgreSQL database, shared by any number of servers."""

    dialect = DIALECT

    def __init__(self, url: str, clock: Clock | None = None, answer_s: float = ANSWER_S) -> None:
        self.url = url
        self.application_name = connections.SERVER_NAME
        self.deadline = Deadline(answer_s, self._pause)
        self._hang_check = HangCheck(self.deadline, self._list_busy, answer_s)
        self._retry_at = 0.0
        # Called in any thread after a failover; no connection is opened until `resume`.
        self.on_failover: Callable[[], None] | None = None
        self._timeline: Timeline | None = None
        # Raises if servers must not use this database (`check_connection`).
        self.check_usable: Callable[[Tx], None] | None = None
        self._is_suspended = False
        # Whether a host is silent must not depend on which server's clock is wrong.
        self.clock = clock or SharedClock()
        self.before_commit: Callable[[Tx], None] | None = None
        self.on_signals: Callable[[set[Signal]], None] | None = None
        self.sealer: Sealer | None = None
        self.commit_times, self.transaction_times = Histogram(), Histogram()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="postgres")
        self._openings = Openings(ON_LOOP)
        self._searchers = ThreadPoolExecutor(SEARCH_THREADS, thread_name_prefix="search")
        self.runner = LoopRunner(ON_LOOP)
        # How many servers use it, this one included.
        self.servers = 1
        # Idle connections, on threads and on the loop. The one used last is reused first: the
        # caches of its process are warm.
        self._idle: tuple[list[PostgresConnection], list[PostgresConnection]] = ([], [])
        # Idle connections that were opened before the last failure are not used any more.
        self._failures = 0
        self._opened: list[psycopg.Connection[Row]] = []
        self._batchers: dict[Callable[..., Any], Batcher[Any, Any]] = {}
        self._version_cache: dict[Any, Any] = {}

    def connect(self, *, autocommit: bool = False) -> psycopg.Connection[Row]:
        connection = open_connection(self.url, autocommit=autocommit, name=self.application_name)
        self._opened = [opened for opened in self._opened if not opened.closed] + [connection]
        return connection

    def _acquire(self) -> PostgresConnection:
        """A connection for this operation, until it is released."""
        with contextlib.suppress(IndexError):
            while True:
                connection = self._idle[on_loop()].pop()
                if connection.failures == self._failures:
                    return connection
                connection.close()
        if self._is_suspended or time.monotonic() < self._retry_at:
            raise Unavailable(NO_RESPONSE)
        if not (on_loop() or self.deadline.is_started):
            # Set-up and the command line.
            return self._open()
        try:
            return self._openings.run(self._open, self._idle[on_loop()])
        except TimeoutError as fault:
            self._pause()
            raise Unavailable(NO_RESPONSE) from fault

    def _open(self) -> PostgresConnection:
        failures = self._failures
        try:
            connection = PostgresConnection(self.connect(autocommit=True), self.deadline, failures)
            try:
                check_connection(connection, self.check_usable)
                self._check_timeline(connection)
                connection.process = hang_check.own_process(connection)
            except BaseException:
                # It may work, for example after a statement that took too long.
                connection.close()
                raise
            return connection
        except psycopg.OperationalError as fault:
            self._pause()
            # Clients of a server do not get the reason, which names the database.
            is_serving = on_loop() or self.deadline.is_started
            raise Unavailable(NO_RESPONSE if is_serving else describe(fault)) from fault

    def _list_busy(self) -> set[str]:
        with contextlib.closing(self.connect(autocommit=True)) as connection:
            return hang_check.busy_processes(PostgresConnection(connection, self.deadline))

    def follow_timeline(self, record: Record) -> None:
        """From now on, notice when another PostgreSQL takes over, also since the last start."""
        connection = self._acquire()
        try:
            synchronize_clock(self.clock, connection)
            self._timeline = Timeline(record, self.clock)
            self._timeline.follow(connection)
        finally:
            self._release(connection)

    def _check_timeline(self, connection: PostgresConnection) -> None:
        # It may be another server, which assigns the same versions to other content.
        self._version_cache.clear()
        if self._timeline is not None:
            self._timeline.follow(connection, self._suspend)
        # Also if the failover was noticed on another connection while this one was opened.
        if self._is_suspended:
            raise psycopg.OperationalError("another PostgreSQL took over")

    def _suspend(self) -> None:
        if self.on_failover is not None:
            self._is_suspended = True
            self.on_failover()

    def resume(self) -> None:
        """All state from before the failover was discarded; connect again."""
        self._is_suspended = False
        self._retry_at = 0.0

    def _pause(self) -> None:
        self._retry_at = time.monotonic() + PAUSE_S

    def _release(self, connection: PostgresConnection) -> None:
        if not connection.is_broken:
            self._idle[on_loop()].append(connection)
            return
        # The idle connections are probably lost too: each would fail one more request.
        self.discard_idle()
        connection.close()

    def discard_idle(self) -> None:
        """Open new connections from now on. Idle ones are closed where they are used: on the loop,
        or on a thread."""
        self._failures += 1

    def transact(
        self, work: Callable[[PostgresTx], R], *, before_commit: bool
    ) -> tuple[R, PostgresTx]:
        tries = 0
        while True:
            try:
                result, tx, due_signals = self._transact_once(work, before_commit=before_commit)
                if due_signals:
                    self._handle_signals(tx, due_signals)
                return result, tx
            except RETRYABLE as fault:
                # Another transaction inserted the row first: the next attempt sees and reports it.
                # Or two deadlocked, which may repeat while many change the same host.
                tries += 1
                if tries == MAX_TRIES and isinstance(fault, CONFLICTS):
                    raise Unavailable(CONFLICT) from fault
                if tries == MAX_TRIES:
                    raise
            except BeforeCommitFailed:
                log.exception("before_commit failed; the operations are run again without it")
                before_commit = False

    def _handle_signals(self, tx: PostgresTx, signals: set[Signal]) -> None:
        """Signals that turned out to be due after the commit have a transaction of their own, whose
        `before_commit` acts on them."""
        try:
            _, later = self.transact(
                lambda later: later.signals.update(signals), before_commit=True
            )
        except Exception as fault:
            # Whatever waits for a signal also polls.
            log.warning("signals after a commit were not handled error=%s", fault)
            return
        tx.calls += later.calls
        tx.signals |= later.signals

    def _transact_once(
        self, work: Callable[[PostgresTx], R], *, before_commit: bool
    ) -> tuple[R, PostgresTx, set[Signal]]:
        began = time.monotonic()
        connection = self._acquire()
        try:
            synchronize_clock(self.clock, connection)
            connection.begin()
            tx = PostgresTx(connection, self.clock(), self._version_cache, self.sealer)
            result = work(tx)
            if before_commit and tx.signals:
                self._run_before_commit(tx)
            commits_at = time.monotonic()
            conditional = tx.conditional_signals
            answers = commit(connection, list(conditional.values()))
            ended = time.monotonic()
            self.commit_times.observe(ended - commits_at)
            self.transaction_times.observe(ended - began)
            due = {signal for signal, rows in zip(conditional, answers, strict=True) if rows}
            return result, tx, due
        except BaseException as fault:
            connection.rollback()
            # It may contain versions that only this transaction had written.
            self._version_cache.clear()
            if isinstance(fault, FAULTS) and not isinstance(fault, RETRYABLE):
                raise unavailable(fault) from fault
            raise
        finally:
            self._release(connection)

    def _run_before_commit(self, tx: PostgresTx) -> None:
        if self.before_commit is None:
            return
        try:
            self.before_commit(tx)
        except RETRYABLE:
            raise
        except Exception as fault:
            raise BeforeCommitFailed from fault

    async def write(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        def work() -> tuple[R, PostgresTx]:
            return self.transact(lambda tx: operation(tx, *a, **k), before_commit=True)

        # Not by the caller, who may be canceled meanwhile.
        result, _ = await self._run_on_loop(work, lambda done: self.publish(done[1]))
        return result

    def _run_on_loop(
        self, work: Callable[[], R], publish: Callable[[R], None] | None = None
    ) -> asyncio.Future[R]:
        self._limit_waits()
        return self.runner.run(work, publish)

    def _limit_waits(self) -> None:
        # Not in write_blocking: a migration may take long.
        self.deadline.start()
        self._hang_check.start()

    async def read(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        self._limit_waits()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: self._read(operation, *a, **k))

    async def search(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        self._limit_waits()
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._searchers, lambda: self._read(operation, *a, **k))
        try:
            return await work
        except Unavailable as refusal:
            if isinstance(refusal.__cause__, psycopg.errors.QueryCanceled):
                raise search_timeout() from refusal
            raise

    def _read(self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs) -> R:
        """Without a transaction: at this isolation level it would only add begin and commit."""
        try:
            return self._read_once(operation, *a, **k)
        except ENDED as fault:
            raise unavailable(fault) from fault
        except psycopg.OperationalError:
            # An idle connection may have been lost; a read can simply be repeated.
            pass
        try:
            return self._read_once(operation, *a, **k)
        except psycopg.OperationalError as fault:
            raise unavailable(fault) from fault

    def _read_once(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        connection = self._acquire()
        try:
            synchronize_clock(self.clock, connection)
            tx = PostgresTx(connection, self.clock(), self._version_cache, self.sealer)
            return operation(tx, *a, **k)
        finally:
            connection.rollback()
            self._release(connection)

    async def read_inline(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        return await self._run_on_loop(lambda: self._read(operation, *a, **k))

    def write_blocking(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        result, tx = self.transact(lambda tx: operation(tx, *a, **k), before_commit=True)
        self.publish(tx)
        return result

    def write_batched(self, operation: BatchOperation[Item, R], item: Item) -> asyncio.Future[R]:
        batcher: Batcher[Item, R] | None = self._batchers.get(operation)
        if batcher is None:
            batcher = self._batchers[operation] = Batcher(operation, self)
        return batcher.add(item)

    def publish(self, tx: PostgresTx) -> None:
        run_after_commit(tx.calls, tx.signals, self.on_signals)

    async def close(self) -> None:
        # From now on no batch waits for more items.
        self.servers = 1
        for batcher in self._batchers.values():
            batcher.end_pause()
        await self.runner.wait_until_idle()
        self.deadline.stop()
        self._hang_check.stop()
        self._openings.shutdown()
        self._threads.shutdown()
        self._searchers.shutdown()
        for connection in self._idle[0] + self._idle[1]:
            connection.close()
        for opened in self._opened:
            opened.close()
