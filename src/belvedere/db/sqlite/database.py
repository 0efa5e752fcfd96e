"""SQLite: one writer connection with group commit, a few readers, one process per file.

Statements run on the event loop: a writer thread would compete with the loop for the interpreter
lock, which costs milliseconds under load. Only COMMIT (the fsync) runs on a thread, and only while
the disk is slow.
Operations that arrive during a commit share the next one; if one fails, all of them are run again,
each in a savepoint.
"""

import asyncio
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import apsw

from belvedere.base.clock import Clock, wall
from belvedere.base.counters import Histogram
from belvedere.base.errors import Unavailable
from belvedere.db.commit_hooks import run_after_commit
from belvedere.db.interface import BatchOperation, Sealer, Tx
from belvedere.db.search_lane import MAX_SEARCH_S, SEARCH_THREADS, search_timeout
from belvedere.db.signals import Signal
from belvedere.db.sqlite.connection import connect, lock_file
from belvedere.db.sqlite.time_limit import MAX_READ_S, limit_time
from belvedere.db.sqlite.transaction import (
    DATABASE_FAULTS,
    DIALECT,
    PendingWrite,
    SqliteTx,
    as_unavailable,
    group_writes,
)

P = ParamSpec("P")
R = TypeVar("R")
Item = TypeVar("Item")

log = logging.getLogger("belvedere.db")
# Operations in one batch: more would block the event loop for too long.
BATCH = 128
READERS = 3
# A commit faster than this blocks the loop no longer than passing it to a thread.
QUICK_S = 0.002
BROKEN = apsw.Error


class Sqlite:
    """One SQLite file, owned by this process alone."""

    dialect = DIALECT
    servers = 1

    def __init__(self, path: str | Path, clock: Clock = wall) -> None:
        self.path = str(path)
        self.clock = clock
        self.before_commit: Callable[[Tx], None] | None = None
        self.on_signals: Callable[[set[Signal]], None] | None = None
        self.sealer: Sealer | None = None
        self.commit_times, self.transaction_times = Histogram(), Histogram()
        self._lock_fd = lock_file(self.path)
        self._writer = connect(self.path)
        self._version_cache: dict[Any, Any] = {}
        self._is_quick = False
        # When the running batch began.
        self._began = 0.0
        self._queue: deque[PendingWrite] = deque()
        self._busy = False
        self._idle: asyncio.Event | None = None
        self._committer = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="read")
        self._searchers = ThreadPoolExecutor(SEARCH_THREADS, thread_name_prefix="search")
        self._local = threading.local()
        self._opened: list[apsw.Connection] = []

    # Writing

    async def write(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._enqueue(PendingWrite(operation, a, k, False, future))
        return await future

    def write_batched(self, operation: BatchOperation[Item, R], item: Item) -> asyncio.Future[R]:
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._enqueue(PendingWrite(operation, (item,), {}, True, future))
        return future

    def _enqueue(self, pending: PendingWrite) -> None:
        self._queue.append(pending)
        if not self._busy:
            self._busy = True
            # One iteration of the loop later, so that requests read in this one share the batch.
            loop = pending.future.get_loop()
            loop.call_soon(self._run_batch, loop)

    def _run_batch(self, loop: asyncio.AbstractEventLoop) -> None:
        self._began = time.monotonic()
        batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
        try:
            tx = self._begin()
            try:
                self._run_together(tx, batch)
            except Exception:
                # One of them failed: run all again, each in a savepoint.
                self._start_over(tx)
                self._run_in_savepoints(tx, batch)
        except BaseException as fault:
            self._fail(loop, batch, fault)
            return
        if self._is_quick:
            self._committed(loop, tx, batch, self._commit())
            return
        self._committer.submit(self._commit).add_done_callback(
            lambda done: loop.call_soon_threadsafe(self._committed, loop, tx, batch, done.result())
        )

    def _commit(self) -> Exception | None:
        """The durable write, on the event loop itself while the disk is fast."""
        began = time.monotonic()
        try:
            self._writer.execute("commit")
        except apsw.Error as fault:
            return fault
        finally:
            took = time.monotonic() - began
            self._is_quick = took < QUICK_S
            self.commit_times.observe(took)
        return None

    def _run_before_commit(self, tx: SqliteTx) -> None:
        """Run `before_commit` at the end of the batch."""
        if self.before_commit is not None:
            self.before_commit(tx)

    def _run_before_commit_in_savepoint(self, tx: SqliteTx) -> None:
        """In its own savepoint: its error must not roll back the operations."""
        marks = len(tx.calls), set(tx.signals)
        self._writer.execute("savepoint operation")
        try:
            self._run_before_commit(tx)
            self._writer.execute("release operation")
        except Exception:
            log.exception("before_commit failed; the operations are kept")
            self._undo(tx, marks)

    def _begin(self) -> SqliteTx:
        self._writer.execute("begin immediate")
        return SqliteTx(self._writer, self.clock(), self._version_cache, self.sealer)

    def _run_together(self, tx: SqliteTx, batch: list[PendingWrite]) -> None:
        """Without savepoints, because SQLite copies every changed page for them."""
        if len(batch) == 1:
            self._run_single(tx, batch[0])
        else:
            for members in group_writes(batch):
                self._run(tx, members)
        self._run_before_commit(tx)

    def _run_single(self, tx: SqliteTx, pending: PendingWrite) -> None:
        """Alone in its transaction: an error rolls back all of it."""
        try:
            self._run(tx, [pending])
        except Exception as fault:
            self._start_over(tx)
            pending.set_outcome(None, fault)

    def _run_in_savepoints(self, tx: SqliteTx, batch: list[PendingWrite]) -> None:
        """Each in a savepoint: one that fails must not fail the others."""
        for members in group_writes(batch):
            self._run_in_savepoint(tx, members)
        self._run_before_commit_in_savepoint(tx)

    def _run_in_savepoint(self, tx: SqliteTx, members: list[PendingWrite]) -> None:
        marks = len(tx.calls), set(tx.signals)
        self._writer.execute("savepoint operation")
        try:
            self._run(tx, members)
            self._writer.execute("release operation")
        except Exception as fault:
            self._undo(tx, marks)
            self._run_one_by_one(tx, members, fault)

    def _run_one_by_one(self, tx: SqliteTx, members: list[PendingWrite], fault: Exception) -> None:
        """One failing item must not fail the others of its batch."""
        if len(members) == 1:
            members[0].set_outcome(None, fault)
            return
        for pending in members:
            self._run_in_savepoint(tx, [pending])

    def _run(self, tx: SqliteTx, members: list[PendingWrite]) -> None:
        """Run one plain operation, or all items of a batch operation."""
        first = members[0]
        if not first.is_batched:
            first.set_outcome(first.operation(tx, *first.args, **first.kwargs), None)
            return
        results = first.operation(tx, [pending.args[0] for pending in members])
        for pending, result in zip(members, results, strict=True):
            is_fault = isinstance(result, Exception)
            pending.set_outcome(None if is_fault else result, result if is_fault else None)

    def _start_over(self, tx: SqliteTx) -> None:
        """Roll back and begin again."""
        self._check_open()
        self._writer.execute("rollback")
        self._writer.execute("begin immediate")
        self._reset(tx, 0, set())

    def _reset(self, tx: SqliteTx, calls: int, signals: set[Signal]) -> None:
        del tx.calls[calls:]
        tx.signals = signals
        # It may contain versions that were rolled back.
        self._version_cache.clear()

    def _check_open(self) -> None:
        if self._writer.get_autocommit():
            # A full disk or an I/O error rolls back the whole transaction with its savepoints.
            raise Unavailable("The database could not write; nothing was saved.")

    def _undo(self, tx: SqliteTx, marks: tuple[int, set[Signal]]) -> None:
        self._check_open()
        self._writer.execute("rollback to operation")
        self._writer.execute("release operation")
        self._reset(tx, *marks)

    def _fail(
        self, loop: asyncio.AbstractEventLoop, batch: list[PendingWrite], fault: BaseException
    ) -> None:
        if not self._writer.get_autocommit():
            self._writer.execute("rollback")
        # It may contain versions that only this transaction had written.
        self._version_cache.clear()
        for pending in batch:
            if not pending.future.done():
                pending.future.set_exception(as_unavailable(fault))
        self._next(loop)

    def _committed(
        self,
        loop: asyncio.AbstractEventLoop,
        tx: SqliteTx,
        batch: list[PendingWrite],
        fault: Exception | None,
    ) -> None:
        if fault is not None:
            self._fail(loop, batch, Unavailable(f"The database could not commit: {fault}"))
            return
        self.transaction_times.observe(time.monotonic() - self._began)
        # Orders are sent before responses: a host needs more time than the caller's next step.
        self._publish(tx)
        for pending in batch:
            # A refusal may depend on rows of this batch, so it is reported after the commit too.
            if pending.future.done():
                continue
            if pending.error is not None:
                pending.future.set_exception(as_unavailable(pending.error))
            else:
                pending.future.set_result(pending.result)
        self._next(loop)

    def _publish(self, tx: SqliteTx) -> None:
        run_after_commit(tx.calls, tx.signals, self.on_signals)

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._queue:
            loop.call_soon(self._run_batch, loop)
            return
        self._busy = False
        if self._idle is not None:
            self._idle.set()

    def write_blocking(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        assert not self._busy, "write_blocking must not be used while the event loop writes"
        tx = self._begin()
        try:
            result = operation(tx, *a, **k)
            self._run_before_commit_in_savepoint(tx)
            self._writer.execute("commit")
        except BaseException:
            if not self._writer.get_autocommit():
                self._writer.execute("rollback")
            raise
        self._publish(tx)
        return result

    # Reading

    async def read(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        def read() -> R:
            with limit_time(self._reader(), MAX_READ_S) as connection:
                return self._read_on(connection, operation, *a, **k)

        return await asyncio.get_running_loop().run_in_executor(self._readers, read)

    async def search(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        def search() -> R:
            with limit_time(self._reader(), MAX_SEARCH_S, search_timeout) as connection:
                return self._read_on(connection, operation, *a, **k)

        return await asyncio.get_running_loop().run_in_executor(self._searchers, search)

    async def read_inline(
        self, operation: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        # Reading a few rows takes less time than waking a thread. Between two writes the writer's
        # connection is used: recently written pages are in its cache.
        connection = self._reader() if self._busy else self._writer
        return self._read_on(connection, operation, *a, **k)

    def _reader(self) -> apsw.Connection:
        """The connection of this thread."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            try:
                connection = self._local.connection = connect(self.path, readonly=True)
            except DATABASE_FAULTS as fault:
                raise as_unavailable(fault) from fault
            self._opened.append(connection)
        return connection

    def _read_on(
        self,
        connection: apsw.Connection,
        operation: Callable[Concatenate[Tx, P], R],
        *a: P.args,
        **k: P.kwargs,
    ) -> R:
        try:
            connection.execute("begin")
            try:
                tx = SqliteTx(connection, self.clock(), self._version_cache, self.sealer)
                return operation(tx, *a, **k)
            finally:
                # A fault may have rolled back.
                if not connection.get_autocommit():
                    connection.execute("rollback")
        except DATABASE_FAULTS as fault:
            raise as_unavailable(fault) from fault

    async def close(self) -> None:
        while self._busy:
            self._idle = asyncio.Event()
            await self._idle.wait()
        self._committer.shutdown()
        self._readers.shutdown()
        self._searchers.shutdown()
        for connection in self._opened:
            connection.close()
        self._writer.close()
        if self._lock_fd is not None:
            os.close(self._lock_fd)
