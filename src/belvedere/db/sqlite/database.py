"""SQLite: one writer connection with group commit, a few readers, one process per file.

Statements run on the event loop: a writer thread of its own would fight the loop for the
interpreter lock, which costs milliseconds under load. Only COMMIT (the fsync) goes to a thread, and
only while the disk is slow.
Whatever arrives while a commit is under way shares the next one; when a verb fails, all of them are
run again, each in a savepoint.
"""

import asyncio
import fcntl
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import apsw

from belvedere.base.clock import Clock, wall
from belvedere.base.errors import Unavailable
from belvedere.db.commit_hooks import follow
from belvedere.db.interface import Sealer, Tx
from belvedere.db.search_lane import MAX_SEARCH_S, SEARCH_THREADS
from belvedere.db.signals import Signal
from belvedere.db.sqlite.group_commit import Waiting, gathered
from belvedere.db.sqlite.time_limit import limit_time
from belvedere.db.sqlite.transaction import DIALECT, SqliteTx

P = ParamSpec("P")
R = TypeVar("R")
Item = TypeVar("Item")

log = logging.getLogger("belvedere.db")
# A batch ends here even when more verbs wait, so that the loop can serve others in between.
BATCH = 128
READERS = 3
# A commit that takes less than this holds the loop up no longer than handing it to a thread.
QUICK_S = 0.002
BROKEN = apsw.Error


def connect(path: str, *, readonly: bool = False) -> apsw.Connection:
    """A connection with our settings; `synchronous=full`: an answered write survives power loss."""
    flags = (
        apsw.SQLITE_OPEN_READONLY
        if readonly
        else (apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    )
    connection = apsw.Connection(path, flags=flags, statementcachesize=300)
    connection.set_busy_timeout(5_000)
    # Otherwise SQLite compiles a statement anew whenever a parameter has changed that might alter
    # its plan: ten times the cost of running it.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    if not readonly:
        connection.execute("pragma journal_mode=wal")
    connection.execute("pragma synchronous=full")
    connection.execute("pragma foreign_keys=on")
    connection.execute("pragma temp_store=memory")
    connection.execute("pragma cache_size=-16000")
    return connection


class Sqlite:
    """One SQLite file, owned by this process alone."""

    dialect = DIALECT

    def __init__(self, path: str | Path, clock: Clock = wall) -> None:
        self.path = str(path)
        self.clock = clock
        self.before_commit: Callable[[Tx], None] | None = None
        self.on_signals: Callable[[set[Signal]], None] | None = None
        self.sealer: Sealer | None = None
        self._lock_fd = _lock_file(self.path)
        self._writer = connect(self.path)
        self._memo: dict[Any, Any] = {}
        self._is_quick = False
        self._queue: deque[Waiting] = deque()
        self._busy = False
        self._idle: asyncio.Event | None = None
        self._committer = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="read")
        self._searchers = ThreadPoolExecutor(SEARCH_THREADS, thread_name_prefix="search")
        self._local = threading.local()
        self._opened: list[apsw.Connection] = []

    # Writing

    async def write(self, verb: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs) -> R:
        return await self._enqueue(verb, a, k, is_set=False)  # type: ignore[no-any-return]

    def write_batched(
        self, verb: Callable[[Tx, list[Item]], Sequence[R | Exception]], item: Item
    ) -> asyncio.Future[R]:
        return self._enqueue(verb, item, None, is_set=True)

    def _enqueue(self, verb: Any, args: Any, kwargs: Any, *, is_set: bool) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._queue.append(Waiting(verb, args, kwargs, is_set, future))
        if not self._busy:
            self._busy = True
            # One turn of the loop later, so that requests read in this turn share the batch.
            loop.call_soon(self._run_batch, loop)
        return future

    def _run_batch(self, loop: asyncio.AbstractEventLoop) -> None:
        batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
        try:
            tx = self._begin()
            try:
                self._run_plainly(tx, batch)
            except Exception:
                # One of them, perhaps its last step: again, and each so that it can be undone.
                self._start_over(tx)
                self._run_carefully(tx, batch)
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
        """The durable write. While the disk is quick, nobody need wake a thread for it."""
        began = time.monotonic()
        try:
            self._writer.execute("commit")
        except apsw.Error as fault:
            return fault
        finally:
            self._is_quick = time.monotonic() - began < QUICK_S
        return None

    def _close(self, tx: SqliteTx) -> None:
        """The end of the batch, for whoever was signals in it."""
        if self.before_commit is not None:
            self.before_commit(tx)

    def _close_carefully(self, tx: SqliteTx) -> None:
        """In a savepoint of its own: its fault must not undo the verbs."""
        marks = len(tx.calls), set(tx.signals)
        self._writer.execute("savepoint verb")
        try:
            self._close(tx)
            self._writer.execute("release verb")
        except Exception:
            log.exception("the end of a batch failed; its verbs stand")
            self._undo(tx, marks)

    def _begin(self) -> SqliteTx:
        self._writer.execute("begin immediate")
        return SqliteTx(self._writer, self.clock(), self._memo, self.sealer)

    def _run_plainly(self, tx: SqliteTx, batch: list[Waiting]) -> None:
        """Without savepoints, for which SQLite copies every page that is written."""
        if len(batch) == 1:
            self._run_lone(tx, batch[0])
        else:
            for members in gathered(batch):
                self._run(tx, members)
        self._close(tx)

    def _run_lone(self, tx: SqliteTx, waiting: Waiting) -> None:
        """Nobody shares its transaction: where it fails, all of that is undone."""
        try:
            self._run(tx, [waiting])
        except Exception as fault:
            self._start_over(tx)
            waiting.answer(None, fault)

    def _run_carefully(self, tx: SqliteTx, batch: list[Waiting]) -> None:
        """Each in a savepoint: one that fails must not take its neighbours along."""
        for members in gathered(batch):
            self._run_undoably(tx, members)
        self._close_carefully(tx)

    def _run_undoably(self, tx: SqliteTx, members: list[Waiting]) -> None:
        marks = len(tx.calls), set(tx.signals)
        self._writer.execute("savepoint verb")
        try:
            self._run(tx, members)
            self._writer.execute("release verb")
        except Exception as fault:
            self._undo(tx, marks)
            self._run_alone(tx, members, fault)

    def _run_alone(self, tx: SqliteTx, members: list[Waiting], fault: Exception) -> None:
        """One poisonous item must not take the others of its set along."""
        if len(members) == 1:
            members[0].answer(None, fault)
            return
        for waiting in members:
            self._run_undoably(tx, [waiting])

    def _run(self, tx: SqliteTx, members: list[Waiting]) -> None:
        """One plain verb, or all items of a set-based one."""
        first = members[0]
        if not first.is_set:
            first.answer(first.verb(tx, *first.args, **first.kwargs), None)
            return
        results = first.verb(tx, [waiting.args for waiting in members])
        for waiting, result in zip(members, results, strict=True):
            is_fault = isinstance(result, Exception)
            waiting.answer(None if is_fault else result, result if is_fault else None)

    def _start_over(self, tx: SqliteTx) -> None:
        """As if nothing of this transaction had been."""
        self._check_alive()
        self._writer.execute("rollback")
        self._writer.execute("begin immediate")
        self._forget(tx, 0, set())

    def _forget(self, tx: SqliteTx, calls: int, signals: set[Signal]) -> None:
        del tx.calls[calls:]
        tx.signals = signals
        # It may hold what was written only by what is undone.
        self._memo.clear()

    def _check_alive(self) -> None:
        if self._writer.get_autocommit():
            # A full disk or an I/O error rolls back the whole transaction, savepoints and all.
            raise Unavailable("The database could not write; nothing of this was kept.")

    def _undo(self, tx: SqliteTx, marks: tuple[int, set[Signal]]) -> None:
        self._check_alive()
        self._writer.execute("rollback to verb")
        self._writer.execute("release verb")
        self._forget(tx, *marks)

    def _fail(
        self, loop: asyncio.AbstractEventLoop, batch: list[Waiting], fault: BaseException
    ) -> None:
        if not self._writer.get_autocommit():
            self._writer.execute("rollback")
        # It may hold what only this transaction had written.
        self._memo.clear()
        for waiting in batch:
            if not waiting.future.done():
                waiting.future.set_exception(fault)
        self._next(loop)

    def _committed(
        self,
        loop: asyncio.AbstractEventLoop,
        tx: SqliteTx,
        batch: list[Waiting],
        fault: Exception | None,
    ) -> None:
        if fault is not None:
            self._fail(loop, batch, Unavailable(f"The database could not commit: {fault}"))
            return
        # Orders leave before answers: a host's work takes longer than whatever a caller does next.
        self._tell(tx)
        for waiting in batch:
            # A refusal may rest on rows of this very batch: it too is told only after the commit.
            if waiting.future.done():
                continue
            if waiting.error is not None:
                waiting.future.set_exception(waiting.error)
            else:
                waiting.future.set_result(waiting.result)
        self._next(loop)

    def _tell(self, tx: SqliteTx) -> None:
        follow(tx.calls, tx.signals, self.on_signals)

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._queue:
            loop.call_soon(self._run_batch, loop)
            return
        self._busy = False
        if self._idle is not None:
            self._idle.set()

    def write_blocking(self, verb: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs) -> R:
        assert not self._busy, "write_now is for when no loop runs"
        tx = self._begin()
        try:
            result = verb(tx, *a, **k)
            self._close_carefully(tx)
            self._writer.execute("commit")
        except BaseException:
            if not self._writer.get_autocommit():
                self._writer.execute("rollback")
            raise
        self._tell(tx)
        return result

    # Reading

    async def read(self, verb: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs) -> R:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, lambda: self._read(verb, a, k))

    async def search(self, verb: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs) -> R:
        def search() -> R:
            with limit_time(self._reader(), MAX_SEARCH_S):
                result: R = self._read(verb, a, k)
                return result

        return await asyncio.get_running_loop().run_in_executor(self._searchers, search)

    async def read_inline(
        self, verb: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        # A look at a few rows takes less time than waking a thread for it. Between two writes the
        # writer looks itself: what it has just written it has in memory, others must read it.
        connection = self._reader() if self._busy else self._writer
        return self._look(connection, verb, a, k)  # type: ignore[no-any-return]

    def _read(self, verb: Any, args: Any, kwargs: Any) -> Any:
        return self._look(self._reader(), verb, args, kwargs)

    def _reader(self) -> apsw.Connection:
        """This thread's own connection."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = connect(self.path, readonly=True)
            self._opened.append(connection)
        return connection

    def _look(self, connection: apsw.Connection, verb: Any, args: Any, kwargs: Any) -> Any:
        connection.execute("begin")
        try:
            return verb(
                SqliteTx(connection, self.clock(), self._memo, self.sealer), *args, **kwargs
            )
        finally:
            connection.execute("rollback")

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


def _lock_file(path: str) -> int | None:
    """Hold `<path>.lock` for the life of this process: a second server must not write here."""
    if path.startswith((":memory:", "file:")):
        return None
    fd = os.open(path + ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise Unavailable(
            f"Another Belvedere server already uses {path}; stop it, or choose another --data."
        ) from None
    return fd
