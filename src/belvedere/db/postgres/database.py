"""PostgreSQL: the same verbs on a few threads, each with its connection; sets in batches."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec
import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from belvedere.base.clock import Clock, SharedClock
from belvedere.base.errors import Unavailable
from belvedere.db.commit_hooks import follow
from belvedere.db.interface import Row, Sealer, Tx
from belvedere.db.postgres.connection import Wire
from belvedere.db.postgres.deadlines import Deadline
from belvedere.db.postgres.timeline import Record, Timeline
from belvedere.db.postgres.transaction import DIALECT, PostgresTx
from belvedere.db.search_lane import SEARCH_THREADS, search_timeout
from belvedere.db.signals import Signal

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=msgspec.Struct)
Item = TypeVar("Item")

AGAIN = (
    psycopg.errors.UniqueViolation,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
)
TRIES = 4
BROKEN = psycopg.Error
THREADS = 8
BATCH = 128
CHANNEL = "belvedere"
# A statement that takes longer is cancelled by PostgreSQL itself; a database that does not even say
# so is given up a little later. Together with the pause, callers get their 503 within ten seconds.
STATEMENT_S = 6
ANSWER_S = 8.0
# After a failure nobody tries to connect for so long: many callers must not queue behind time-outs.
PAUSE_S = 1.0
# What a connection needs to notice that its server is gone; whatever the URL says comes first.
LIVENESS: dict[str, str | int] = {
    "connect_timeout": 3,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": int(ANSWER_S * 1_000),
    # A standby answers, but takes no writes.
    "target_session_attrs": "read-write",
}

SILENT = "The database does not answer; try again shortly."

log = logging.getLogger("belvedere.db")


class _ClosingFailed(Exception):
    """What ends every transaction failed; the verbs before it are not to blame."""


# An answer about the time that took longer is not used.
MAX_TIME_ANSWER_S = 1.0
TIME = "select (extract(epoch from clock_timestamp()) * 1000)::bigint"


def _unavailable(fault: psycopg.OperationalError) -> Unavailable:
    if isinstance(fault, psycopg.errors.QueryCanceled):
        return Unavailable(f"The database needed more than {STATEMENT_S} s; ask for less at once.")
    return Unavailable(SILENT)


def _commit(wire: Wire) -> None:
    """A commit whose answer was lost may be done. It is never repeated here: the caller has to look
    or to repeat it with the same key."""
    try:
        wire.commit()
    except psycopg.OperationalError as fault:
        if isinstance(fault, (*AGAIN, psycopg.errors.QueryCanceled)):
            raise
        raise Unavailable(
            "The connection to the database was lost while this was saved; it is not known whether"
            " it was. Look before you repeat it, or repeat it with the same Idempotency-Key.",
            code="outcome_unknown",
        ) from fault


class _Lane:
    """Items of one set-based verb that wait to share a transaction."""

    __slots__ = ("busy", "items")

    def __init__(self) -> None:
        self.busy = 0
        self.items: list[tuple[Any, asyncio.Future[Any]]] = []


class Postgres:
    """A PostgreSQL database, shared by any number of servers."""

    dialect = DIALECT

    def __init__(self, url: str, clock: Clock | None = None, answer_s: float = ANSWER_S) -> None:
        self.url = url
        self.deadline = Deadline(answer_s, self._pause)
        self._retry_at = 0.0
        # Called in some thread when another PostgreSQL took over; nothing is done until `resume`.
        self.on_failover: Callable[[], None] | None = None
        self._timeline: Timeline | None = None
        self._is_held = False
        # Whether a host is silent must not depend on which server's clock is wrong.
        self.clock = clock or SharedClock()
        self.before_commit: Callable[[Tx], None] | None = None
        self.on_signals: Callable[[set[Signal]], None] | None = None
        self.sealer: Sealer | None = None
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="postgres")
        self._searchers = ThreadPoolExecutor(SEARCH_THREADS, thread_name_prefix="search")
        # Idle connections. The one used last is taken first: its server process is still warm.
        self._idle: list[Wire] = []
        self._opened: list[psycopg.Connection[Row]] = []
        self._lanes: dict[Any, _Lane] = {}
        self._memo: dict[Any, Any] = {}

    def connect(self, *, autocommit: bool = False) -> psycopg.Connection[Row]:
        chosen = conninfo_to_dict(self.url)
        missing = {name: value for name, value in LIVENESS.items() if name not in chosen}
        connection = psycopg.connect(
            make_conninfo(self.url, **missing),
            autocommit=autocommit,
            application_name="belvedere",
            options=f"-c timezone=UTC -c statement_timeout={STATEMENT_S}s -c synchronous_commit=on"
            " -c idle_in_transaction_session_timeout=30s"
            # Our statements are planned alike for every value; planning anew costs more.
            " -c plan_cache_mode=force_generic_plan -c jit=off"
            # A plan is made when a statement is first used, perhaps on an empty table, and kept
            # while that grows: it must not be one that reads all of it.
            " -c enable_seqscan=off",
        )
        self._opened = [opened for opened in self._opened if not opened.closed] + [connection]
        return connection

    def _take(self) -> Wire:
        """A connection for this thread alone, until it is left again."""
        try:
            return self._idle.pop()
        except IndexError:
            pass
        if self._is_held or time.monotonic() < self._retry_at:
            raise Unavailable(SILENT)
        try:
            wire = Wire(self.connect(autocommit=True), self.deadline)
            self._check_timeline(wire)
            return wire
        except psycopg.OperationalError as fault:
            self._pause()
            raise Unavailable(SILENT) from fault

    def follow_timeline(self, record: Record) -> None:
        """From now on, notice when another PostgreSQL takes over, also since the last start."""
        wire = self._take()
        try:
            self._agree(wire)
            self._timeline = Timeline(record, self.clock)
            self._timeline.follow(wire)
        finally:
            self._leave(wire)

    def _check_timeline(self, wire: Wire) -> None:
        # It may be another server, which gives out the same versions for other content.
        self._memo.clear()
        if self._timeline is None or not self._timeline.follow(wire):
            return
        if self.on_failover is not None:
            self._is_held = True
            self.on_failover()
            wire.connection.close()
            raise psycopg.OperationalError("another PostgreSQL took over")

    def resume(self) -> None:
        """Nothing that was known of the database before the failover is relied on any more."""
        self._is_held = False
        self._retry_at = 0.0

    def _pause(self) -> None:
        self._retry_at = time.monotonic() + PAUSE_S

    def _leave(self, wire: Wire) -> None:
        if not wire.is_broken:
            self._idle.append(wire)
            return
        # What killed it killed those that lay idle, too: each would fail one more request.
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop().connection.close()

    def _transact(
        self, work: Callable[[PostgresTx], R], *, before_commit: bool
    ) -> tuple[R, PostgresTx]:
        tries = 0
        while True:
            try:
                return self._transact_once(work, before_commit=before_commit)
            except AGAIN:
                # Another one was faster: the next look sees its row and can say so in words. Or two
                # waited for each other, which may happen again while many change the same host.
                tries += 1
                if tries == TRIES:
                    raise
            except _ClosingFailed:
                log.exception("the end of a transaction failed; its verbs are run without it")
                before_commit = False

    def _transact_once(
        self, work: Callable[[PostgresTx], R], *, before_commit: bool
    ) -> tuple[R, PostgresTx]:
        wire = self._take()
        try:
            self._agree(wire)
            wire.begin()
            tx = PostgresTx(wire, self.clock(), self._memo, self.sealer)
            result = work(tx)
            if before_commit and tx.signals:
                self._close(tx)
            _commit(wire)
            return result, tx
        except BaseException as fault:
            wire.undo()
            # It may hold what only this transaction had written.
            self._memo.clear()
            if isinstance(fault, psycopg.OperationalError) and not isinstance(fault, AGAIN):
                raise _unavailable(fault) from fault
            raise
        finally:
            self._leave(wire)

    def _agree(self, wire: Wire) -> None:
        """Ask for the database's own time when our copy is old."""
        if not isinstance(self.clock, SharedClock) or not self.clock.is_due():
            return
        asked_at = time.monotonic()
        found: int = wire.rows(TIME)[0][0]
        # An answer that was held up shows a time that has passed; it would look like a clock that
        # was set back. The next transaction asks again.
        if time.monotonic() - asked_at <= MAX_TIME_ANSWER_S:
            self.clock.synchronize(found)

    def _close(self, tx: PostgresTx) -> None:
        if self.before_commit is None:
            return
        try:
            self.before_commit(tx)
        except AGAIN:
            raise
        except Exception as fault:
            raise _ClosingFailed from fault

    async def write(self, verb: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs) -> R:
        # Not in write_now: a migration may take its time.
        self.deadline.start()
        loop = asyncio.get_running_loop()
        result, tx = await loop.run_in_executor(
            self._threads, lambda: self._transact(lambda tx: verb(tx, *a, **k), before_commit=True)
        )
        self._tell(tx)
        return result

    async def read(self, verb: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs) -> R:
        self.deadline.start()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: self._look(verb, a, k))

    async def search(self, verb: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs) -> R:
        self.deadline.start()
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._searchers, lambda: self._look(verb, a, k))
        try:
            result: R = await work
        except Unavailable as refusal:
            if isinstance(refusal.__cause__, psycopg.errors.QueryCanceled):
                raise search_timeout() from refusal
            raise
        return result

    def _look(self, verb: Any, args: Any, kwargs: Any) -> Any:
        """Without a transaction: at this level of isolation it would add nothing but its ends."""
        try:
            return self._look_once(verb, args, kwargs)
        except psycopg.errors.QueryCanceled as fault:
            raise _unavailable(fault) from fault
        except psycopg.OperationalError:
            # A connection may have died while nobody used it; a look can simply be repeated.
            pass
        try:
            return self._look_once(verb, args, kwargs)
        except psycopg.OperationalError as fault:
            raise _unavailable(fault) from fault

    def _look_once(self, verb: Any, args: Any, kwargs: Any) -> Any:
        wire = self._take()
        try:
            self._agree(wire)
            return verb(PostgresTx(wire, self.clock(), self._memo, self.sealer), *args, **kwargs)
        finally:
            wire.undo()
            self._leave(wire)

    async def read_inline(
        self, verb: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs
    ) -> R:
        return await self.read(verb, *a, **k)

    def write_blocking(self, verb: Callable[Concatenate[Tx, P], R], *a: P.args, **k: P.kwargs) -> R:
        result, tx = self._transact(lambda tx: verb(tx, *a, **k), before_commit=True)
        self._tell(tx)
        return result

    def write_batched(
        self, verb: Callable[[Tx, list[Item]], Sequence[R | Exception]], item: Item
    ) -> asyncio.Future[R]:
        loop = asyncio.get_running_loop()
        lane = self._lanes.setdefault(verb, _Lane())
        future: asyncio.Future[R] = loop.create_future()
        lane.items.append((item, future))
        if not lane.busy:
            lane.busy = 1
            loop.call_soon(self._start_lane, loop, verb, lane)
        return future

    def _start_lane(self, loop: asyncio.AbstractEventLoop, verb: Any, lane: _Lane) -> None:
        batch, lane.items = lane.items[:BATCH], lane.items[BATCH:]
        if not batch:
            lane.busy = 0
            return
        work = self._threads.submit(self._run_lane, verb, [item for item, _ in batch])
        work.add_done_callback(
            lambda done: loop.call_soon_threadsafe(self._end_lane, loop, verb, lane, batch, done)
        )

    def _run_lane(self, verb: Any, items: list[Any]) -> tuple[list[Any], list[PostgresTx]]:
        try:
            results, tx = self._transact(lambda tx: list(verb(tx, items)), before_commit=True)
            return results, [tx]
        except Unavailable:
            raise
        except Exception as fault:
            if len(items) == 1:
                return [fault], []
        # One poisonous item must not take its neighbours along.
        alone = [self._run_lane(verb, [item]) for item in items]
        return [r for results, _ in alone for r in results], [t for _, txs in alone for t in txs]

    def _end_lane(
        self, loop: asyncio.AbstractEventLoop, verb: Any, lane: _Lane, batch: list[Any], done: Any
    ) -> None:
        # Start the next batch first: its round trips overlap with answering this one.
        self._start_lane(loop, verb, lane)
        fault = done.exception()
        results, txs = ([fault] * len(batch), []) if fault is not None else done.result()
        # Orders leave before answers: a host's work takes longer than whatever a caller does next.
        for tx in txs:
            self._tell(tx)
        for (_, future), result in zip(batch, results, strict=True):
            if future.done():
                continue
            if isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)

    def _tell(self, tx: PostgresTx) -> None:
        follow(tx.calls, tx.signals, self.on_signals)

    async def close(self) -> None:
        self.deadline.stop()
        self._threads.shutdown()
        self._searchers.shutdown()
        for connection in self._opened:
            connection.close()
