"""Items of a batch operation that share a transaction, and their results."""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, Protocol, TypeGuard, TypeVar

import psycopg

from belvedere.base.errors import Unavailable
from belvedere.db.interface import BatchOperation
from belvedere.db.postgres.faults import CONFLICTS
from belvedere.db.postgres.loop_waits import Completion, LoopRunner
from belvedere.db.postgres.transaction import PostgresTx

R = TypeVar("R")
Item = TypeVar("Item")
BATCH = 128
# Each of several servers has fewer callers, so fewer items share a transaction. A transaction costs
# much more than one more item, so under load the next batch waits for more items: for this part of
# the duration of the previous batch, and for at most so many seconds.
PAUSE_FACTOR, MAX_PAUSE_S = 0.5, 0.01
# Items of one batch that wait for a lock in a transaction of their own: if more would, the table is
# locked, and each of the others would wait as long.
MAX_LOCK_WAITS = 2
# Faults of a batch that only some of its items may have.
OF_SOME_ITEMS = (*CONFLICTS, psycopg.errors.LockNotAvailable)

# The result or the error of each item, and the transactions in which they ran.
BatchResult = tuple[Sequence[R | BaseException], list[PostgresTx]]


class BatchDatabase(Protocol):
    """What a batch needs of its database."""

    # How many servers use it, this one included.
    servers: int
    runner: LoopRunner

    def transact(
        self, work: Callable[[PostgresTx], R], *, before_commit: bool
    ) -> tuple[R, PostgresTx]: ...

    def publish(self, tx: PostgresTx) -> None: ...


class Batcher(Generic[Item, R]):
    """Items of one batch operation that wait for their transaction."""

    __slots__ = ("_began_at", "_busy", "_database", "_items", "_operation", "_pause")

    def __init__(self, operation: BatchOperation[Item, R], database: BatchDatabase) -> None:
        self._operation = operation
        self._database = database
        self._busy = False
        self._began_at = 0.0
        self._pause: asyncio.TimerHandle | None = None
        self._items: list[tuple[Item, asyncio.Future[R]]] = []

    def add(self, item: Item) -> asyncio.Future[R]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[R] = loop.create_future()
        self._items.append((item, future))
        if not self._busy:
            self._busy = True
            loop.call_soon(self._start, loop)
        return future

    def end_pause(self) -> None:
        """Start what waits for more items at once: the database is being closed."""
        if self._pause is not None:
            self._pause.cancel()
            self._start(asyncio.get_running_loop())

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._pause = None
        batch, self._items = self._items[:BATCH], self._items[BATCH:]
        if not batch:
            self._busy = False
            return
        self._began_at = time.monotonic()

        def run() -> Completion:
            outcome: BatchResult[R]
            try:
                outcome = self._run([item for item, _ in batch])
            except BaseException as fault:
                outcome = [fault] * len(batch), []
            return partial(self._end, loop, batch, outcome)

        self._database.runner.start(run)

    def _end(
        self,
        loop: asyncio.AbstractEventLoop,
        batch: list[tuple[Item, asyncio.Future[R]]],
        outcome: BatchResult[R],
    ) -> None:
        if len(batch) > 1 and self._database.servers > 1:
            self._pause = loop.call_later(self._pause_s(), self._start, loop)
        else:
            # The next batch first: its round trips overlap with the responses of this one.
            self._start(loop)
        results, txs = outcome
        # Orders are sent before responses: a host needs more time than the caller's next step.
        for tx in txs:
            self._database.publish(tx)
        _resolve(batch, results)

    def _pause_s(self) -> float:
        return min((time.monotonic() - self._began_at) * PAUSE_FACTOR, MAX_PAUSE_S)

    def _run(self, items: list[Item]) -> BatchResult[R]:
        try:
            results, tx = self._database.transact(
                lambda tx: list(self._operation(tx, items)), before_commit=True
            )
            return results, [tx]
        except Exception as fault:
            if isinstance(fault, Unavailable) and not isinstance(fault.__cause__, OF_SOME_ITEMS):
                return [fault] * len(items), []
            if len(items) == 1:
                return [fault], []
        return self._run_one_by_one(items)

    def _run_one_by_one(self, items: list[Item]) -> BatchResult[R]:
        """One failing item must not fail the others, and those that were committed must not be
        reported as not done if the database is lost meanwhile."""
        all_results: list[R | BaseException] = []
        all_txs: list[PostgresTx] = []
        lock_faults: list[BaseException] = []
        for item in items:
            if len(lock_faults) == MAX_LOCK_WAITS:
                all_results.append(lock_faults[-1])
                continue
            results, txs = self._run([item])
            all_results += results
            all_txs += txs
            lock_faults += [result for result in results if _is_lock_wait(result)]
        return all_results, all_txs


def _is_lock_wait(result: object) -> TypeGuard[BaseException]:
    return isinstance(result, Unavailable) and isinstance(
        result.__cause__, psycopg.errors.LockNotAvailable
    )


def _resolve(
    batch: list[tuple[Item, asyncio.Future[R]]], results: Sequence[R | BaseException]
) -> None:
    for (_, future), result in zip(batch, results, strict=True):
        if future.done():
            continue
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)
