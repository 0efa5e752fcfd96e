"""Items of a batch operation that share a transaction, and their results."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeGuard, TypeVar

import psycopg

from belvedere.base.errors import Unavailable
from belvedere.db.interface import BatchOperation, Tx
from belvedere.db.postgres.faults import CONFLICTS
from belvedere.db.postgres.transaction import PostgresTx

R = TypeVar("R")
Item = TypeVar("Item")
BATCH = 128
# Items of one batch that wait for a lock in a transaction of their own: if more would, the table is
# locked, and each of the others would wait as long.
MAX_LOCK_WAITS = 2
# Faults of a batch that only some of its items may have.
OF_SOME_ITEMS = (*CONFLICTS, psycopg.errors.LockNotAvailable)

# The result or the error of each item, and the transactions in which they ran.
BatchResult = tuple[Sequence[R | BaseException], list[PostgresTx]]
# Runs an operation in a transaction, which it returns too.
Transact = Callable[[Callable[[Tx], list[R | Exception]]], tuple[list[R | Exception], PostgresTx]]


class Batcher(Generic[Item, R]):
    """Items of one batch operation that wait for their transaction."""

    __slots__ = ("busy", "items", "operation")

    def __init__(self, operation: BatchOperation[Item, R]) -> None:
        self.operation = operation
        self.busy = 0
        self.items: list[tuple[Item, asyncio.Future[R]]] = []

    def run(self, transact: Transact[R], items: list[Item]) -> BatchResult[R]:
        try:
            results, tx = transact(lambda tx: list(self.operation(tx, items)))
            return results, [tx]
        except Exception as fault:
            if isinstance(fault, Unavailable) and not isinstance(fault.__cause__, OF_SOME_ITEMS):
                return [fault] * len(items), []
            if len(items) == 1:
                return [fault], []
        return self._run_one_by_one(transact, items)

    def _run_one_by_one(self, transact: Transact[R], items: list[Item]) -> BatchResult[R]:
        """One failing item must not fail the others, and those that were committed must not be
        reported as not done if the database is lost meanwhile."""
        all_results: list[R | BaseException] = []
        all_txs: list[PostgresTx] = []
        lock_faults: list[BaseException] = []
        for item in items:
            if len(lock_faults) == MAX_LOCK_WAITS:
                all_results.append(lock_faults[-1])
                continue
            results, txs = self.run(transact, [item])
            all_results += results
            all_txs += txs
            lock_faults += [result for result in results if _is_lock_wait(result)]
        return all_results, all_txs


def _is_lock_wait(result: object) -> TypeGuard[BaseException]:
    return isinstance(result, Unavailable) and isinstance(
        result.__cause__, psycopg.errors.LockNotAvailable
    )


def resolve(
    batch: list[tuple[Item, asyncio.Future[R]]], results: Sequence[R | BaseException]
) -> None:
    for (_, future), result in zip(batch, results, strict=True):
        if future.done():
            continue
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)
