"""A database that stores nothing: every operation runs and is rolled back."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from belvedere.db import Database, Tx
from belvedere.db.signals import Signal
from belvedere.events.feed import EventFeed
from belvedere.server.http.authentication import CredentialCache
from belvedere.server.runtime import ServerRuntime


class _Undo(Exception):
    """Carries the transaction out of the operation, so that it can be rolled back."""


class RollbackDatabase:
    """Stands in for the open database; all requests see the same data, in any order."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.dialect, self.clock = db.dialect, db.clock
        self.sealer, self.servers = db.sealer, db.servers
        self.commit_times, self.transaction_times = db.commit_times, db.transaction_times
        self.before_commit: Callable[[Tx], None] | None = None
        self.on_signals: Callable[[set[Signal]], None] | None = None

    def write_blocking(self, operation: Any, *a: Any, **k: Any) -> Any:
        items: list[Any] = []

        def run_and_undo(tx: Tx) -> None:
            items.append(operation(tx, *a, **k))
            raise _Undo

        try:
            self._db.write_blocking(run_and_undo)
        except _Undo:
            return items[0]
        raise AssertionError("the transaction was kept")

    async def write(self, operation: Any, *a: Any, **k: Any) -> Any:
        return self.write_blocking(operation, *a, **k)

    async def read(self, operation: Any, *a: Any, **k: Any) -> Any:
        return self.write_blocking(operation, *a, **k)

    async def search(self, operation: Any, *a: Any, **k: Any) -> Any:
        return self.write_blocking(operation, *a, **k)

    async def read_inline(self, operation: Any, *a: Any, **k: Any) -> Any:
        return self.write_blocking(operation, *a, **k)

    def write_batched(self, operation: Callable[[Tx, list[Any]], Sequence[Any]], item: Any) -> Any:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        try:
            (result,) = self.write_blocking(operation, [item])
        except Exception as fault:
            result = fault
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
        return future

    async def close(self) -> None:
        """The database behind it belongs to another fixture."""


def dry(runtime: ServerRuntime) -> ServerRuntime:
    """The same server with a database that stores nothing."""
    runtime.db, runtime.logs = RollbackDatabase(runtime.db), RollbackDatabase(runtime.logs)
    runtime.credentials = CredentialCache(runtime.db, runtime.keyring)
    runtime.feed = EventFeed(runtime.db, runtime.signals)
    return runtime
