"""Items of a batch operation that share a transaction, and their results."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from belvedere.base.errors import Unavailable
from belvedere.db.interface import BatchOperation, Tx
from belvedere.db.postgres.faults import CONFLICTS
from belvedere.db.postgres.transaction import PostgresTx

R = TypeVar("R")
Item = TypeVar("Item")
BATCH = 128

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
            if isinstance(fault, Unavailable) and not isinstance(fault.__cause__, CONFLICTS):
                return [fault] * len(items), []
            if len(items) == 1:
                return [fault], []
        # One failing item must not fail the others, and those that were committed must not be
        # reported as not done if the database is lost meanwhile.
        outcomes = [self.run(transact, [item]) for item in items]
        all_results = [result for results, _ in outcomes for result in results]
        return all_results, [tx for _, txs in outcomes for tx in txs]


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
