"""The real SQLite database of the product on virtual time: real batches, savepoints and hooks.

One connection in memory stands for the file that all servers of a world share. On SQLite there is
one server; where a world has several they stand for servers on one PostgreSQL.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import apsw

from belvedere.base.clock import Clock
from belvedere.db.sqlite import Sqlite, SqliteTx
from sim.world import MS, Micros, Process, World


class Topics(set[str]):
    """Rung topics in the same order in every run."""

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(set.__iter__(self)))


class Store:
    """The file: who writes to it now, and who waits."""

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
        """A server died: what it had not committed never was."""
        if self.writer is process:
            self.end("rollback")

    def _serve(self) -> None:
        waiting, self._waiting = self._waiting, deque()
        for process, call in waiting:
            self.world.push(self.world.now, process, (call, ()))


class Done:
    """The end of a commit, as far as sqlite.py asks for it."""

    def __init__(self) -> None:
        self._call: Callable[[Any], None] = lambda _: None

    def add_done_callback(self, call: Callable[[Any], None]) -> None:
        self._call = call

    def exception(self) -> None:
        return None

    def tell(self) -> None:
        self._call(self)


class VirtualSqlite(Sqlite):
    def __init__(self, process: Process, store: Store, clock: Clock) -> None:
        self.clock = clock
        self.closing = None
        self.on_rung = None
        self.dies_after_commit = 0.0
        self._process = process
        self._store = store
        self._writer = store.connection
        self._queue = deque()
        self._busy = False
        self._idle = None
        self._committer = self  # type: ignore[assignment]

    def _run_batch(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._store.writer is not None:
            self._store.when_free(self._process, lambda: self._run_batch(loop))
            return
        super()._run_batch(loop)

    def _begin(self) -> SqliteTx:
        self._store.begin(self._process)
        self._writer.execute("begin immediate")
        tx = SqliteTx(self._writer, self.clock())
        tx.rung = Topics()
        return tx

    def _undo(self, tx: SqliteTx, marks: tuple[int, set[str]]) -> None:
        super()._undo(tx, marks)
        tx.rung = Topics(tx.rung)

    def _fail(self, loop: Any, batch: Any, fault: BaseException) -> None:
        self._store.end("rollback")
        self._process.world.accuse(f"a whole batch failed: {fault!r}")
        super()._fail(loop, batch, fault)

    def submit(self, _: object, __: str) -> Done:
        """The commit: durable after a while, known to the server a while later."""
        world, done = self._process.world, Done()
        world.after(world.long_tail(50, 30 * MS), self._commit, done, of=self._process)
        return done

    def _commit(self, done: Done) -> None:
        world = self._process.world
        self._store.end("commit")
        if world.chance(self.dies_after_commit):
            world.note("died_after_commit", self._process.name)
            self._process.kill()
            return
        delay: Micros = world.long_tail(0, 5 * MS)
        world.after(delay, done.tell, of=self._process)

    async def read(self, verb: Any, *a: Any, **k: Any) -> Any:
        world = self._process.world
        if world.chance(0.1):
            await asyncio.sleep(world.random.random() * 0.02)
        while self._store.writer is not None:
            free = asyncio.get_running_loop().create_future()
            self._store.when_free(self._process, lambda: free.done() or free.set_result(None))  # noqa: B023
            await free
        return verb(SqliteTx(self._writer, self.clock()), *a, **k)

    glance = read
