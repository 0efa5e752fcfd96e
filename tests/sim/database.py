"""The real SQLite database of the product on virtual time: real batches, savepoints and hooks.

One connection in memory stands for the file that all servers of a world share. On SQLite there is
one server; where a world has several they stand for servers on one PostgreSQL.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import apsw

from belvedere.base.clock import Clock
from belvedere.db.signals import Signal
from belvedere.db.sqlite.database import Sqlite
from belvedere.db.sqlite.transaction import SqliteTx
from sim.world import MS, Process, World


class Signals(set[Signal]):
    """In the same order in every run."""

    def __iter__(self) -> Iterator[Signal]:
        return iter(sorted(set.__iter__(self)))


class Store:
    """The file: which server writes to it now, and which ones wait."""

    def __init__(self, world: World, connection: apsw.Connection) -> None:
        self.world = world
        self.connection = connection
        self.writer: Process | None = None
        self._waiting: deque[tuple[Process, Callable[[], object]]] = deque()

    def when_free(self, process: Process, call: Callable[[], object]) -> None:
        self._waiting.append((process, call))
        if self.writer is None:
            self._serve()

    def begin(self, process: Process) -> None:
        assert self.writer is None
        self.writer = process

    def end(self, statement: str) -> None:
        if not self.connection.get_autocommit():
            self.connection.execute(statement)
        self.writer = None
        self._serve()

    def lose(self, process: Process) -> None:
        """A server was killed: what it had not committed never existed."""
        if self.writer is process:
            self.end("rollback")

    def _serve(self) -> None:
        waiting, self._waiting = self._waiting, deque()
        for process, call in waiting:
            self.world.push(self.world.now, process, (call, ()))


class CommitResult:
    """The end of a commit on its thread, with the methods that sqlite.py uses."""

    def __init__(self) -> None:
        self._call: Callable[[Any], None] = lambda _: None
        self._result: Any = None

    def add_done_callback(self, call: Callable[[Any], None]) -> None:
        self._call = call

    def result(self) -> Any:
        return self._result

    def run(self, result: Any) -> None:
        self._result = result
        self._call(self)


class VirtualSqlite(Sqlite):
    def __init__(self, process: Process, store: Store, clock: Clock) -> None:
        super().__init__(":memory:", clock)
        self._writer.close()
        self.dies_after_commit = 0.0
        self._process = process
        self._store = store
        self._writer = store.connection
        self._committer = self  # type: ignore[assignment]

    def _run_batch(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._store.writer is not None:
            self._store.when_free(self._process, lambda: self._run_batch(loop))
            return
        # Whether the disk is fast enough to commit without a thread.
        self._is_quick = self._process.world.chance(0.5)
        super()._run_batch(loop)

    def _begin(self) -> SqliteTx:
        self._store.begin(self._process)
        tx = super()._begin()
        tx.signals = Signals()
        return tx

    def _reset(self, tx: SqliteTx, calls: int, signals: set[Signal]) -> None:
        super()._reset(tx, calls, signals)
        tx.signals = Signals(tx.signals)

    def _fail(self, loop: Any, batch: Any, fault: BaseException) -> None:
        self._store.end("rollback")
        self._process.world.accuse(f"a whole batch failed: {fault!r}")
        super()._fail(loop, batch, fault)

    def _commit(self) -> None:
        self._store.end("commit")
        if self._process.world.chance(self.dies_after_commit):
            self._process.world.note("died_after_commit", self._process.name)
            self._process.kill()

    def submit(self, commit: Callable[[], Any]) -> CommitResult:
        """The commit on its thread: durable after a while, known to the server a while later."""
        world, done = self._process.world, CommitResult()

        def work() -> None:
            result = commit()
            world.after(world.long_tail(0, 5 * MS), done.run, result, of=self._process)

        world.after(world.long_tail(50, 30 * MS), work, of=self._process)
        return done

    async def read(self, operation: Any, *a: Any, **k: Any) -> Any:
        world = self._process.world
        if world.chance(0.1):
            await asyncio.sleep(world.random.random() * 0.02)
        while self._store.writer is not None:
            free = asyncio.get_running_loop().create_future()
            self._store.when_free(self._process, partial(_release, free))
            await free
        return operation(SqliteTx(self._writer, self.clock(), self._version_cache), *a, **k)

    read_inline = read

    def check_takeover(self, host_id: str, session: int) -> None:
        """A connection is closed because another one replaced it: that must be true."""
        [(newest,)] = self._writer.execute("select session from hosts where id = ?", (host_id,))
        if newest == session:
            self._process.world.accuse(f"the newest connection of {host_id} was closed")


def _release(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)
