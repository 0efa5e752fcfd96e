"""Searches: threads of their own, turns, and how many may wait."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from belvedere.base.errors import StatementTimeout, TooMany, Unavailable
from belvedere.db import Database, Tx, search_lane
from belvedere.db.search_lane import SEARCH_THREADS, SearchLane, SearchLimits
from belvedere.db.sqlite import time_limit

PATIENCE_S = 30.0
# More than either engine has threads for other reads.
MANY = 12


class HeldReads:
    """Reads that stay on their thread until the test lets them go."""

    def __init__(self) -> None:
        self._entered = threading.Semaphore(0)
        self._released = threading.Event()

    def read(self, tx: Tx) -> int:
        self._entered.release()
        assert self._released.wait(PATIENCE_S)
        return int(tx.value("select 1"))

    async def wait_entered(self, count: int) -> None:
        """Wait until so many are on their thread."""
        for _ in range(count):
            assert await asyncio.to_thread(self._entered.acquire, timeout=PATIENCE_S)

    def none_entered(self) -> bool:
        return not self._entered.acquire(blocking=False)

    def release(self) -> None:
        self._released.set()


@pytest.fixture
def held_reads() -> Iterator[HeldReads]:
    new_held_reads = HeldReads()
    yield new_held_reads
    new_held_reads.release()


# Far beyond the limits below. It ends, because a thread that reads forever would not end with the
# test.
SLOW = (
    "with recursive n(x) as (select 1 union all select x + 1 from n where x < 2000000)"
    " select max(x) from n"
)


def select_one(tx: Tx) -> int:
    return int(tx.value("select 1"))


async def test_a_search_runs_in_the_lane(db: Database) -> None:
    assert await SearchLane().run(db, "acme", select_one) == 1


async def test_other_reads_and_writes_do_not_wait_for_searches(
    db: Database, held_reads: HeldReads
) -> None:
    searches = [asyncio.create_task(db.search(held_reads.read)) for _ in range(MANY)]
    try:
        await held_reads.wait_entered(SEARCH_THREADS)
        async with asyncio.timeout(PATIENCE_S):
            reads = await asyncio.gather(*(db.read(select_one) for _ in range(MANY)))
            assert reads == [1] * MANY
            assert await db.read_inline(select_one) == await db.write(select_one) == 1
        assert not any(search.done() for search in searches)
    finally:
        held_reads.release()
    assert await asyncio.gather(*searches) == [1] * MANY


async def test_one_organization_leaves_a_thread_for_others(
    db: Database, held_reads: HeldReads
) -> None:
    lane, limits = SearchLane(), SearchLimits()
    searches = [asyncio.create_task(lane.run(db, "acme", held_reads.read)) for _ in range(10)]
    await held_reads.wait_entered(limits.share)
    async with asyncio.timeout(PATIENCE_S):
        assert await lane.run(db, "globex", select_one) == 1
    assert held_reads.none_entered()
    held_reads.release()
    assert await asyncio.gather(*searches) == [1] * 10


async def test_too_many_waiting_searches_of_one_organization_are_refused(
    db: Database, held_reads: HeldReads
) -> None:
    lane = SearchLane(SearchLimits(places=2, share=1, queue=2))
    searches = [asyncio.create_task(lane.run(db, "acme", held_reads.read)) for _ in range(3)]
    await held_reads.wait_entered(1)
    with pytest.raises(TooMany) as refusal:
        await lane.run(db, "acme", select_one)
    assert refusal.value.code == "too_many_searches" and refusal.value.retry_after_s > 0
    assert await lane.run(db, "globex", select_one) == 1
    further = asyncio.create_task(lane.run_on(db, "acme", select_one))
    held_reads.release()
    assert await asyncio.gather(*searches, further) == [1] * 4


async def test_too_many_waiting_searches_of_all_organizations_are_refused(
    db: Database, held_reads: HeldReads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_lane, "MAX_WAITING", 3)
    lane = SearchLane(SearchLimits(places=1, share=1, queue=2))
    searches = [asyncio.create_task(lane.run(db, f"c{n}", held_reads.read)) for n in range(4)]
    await held_reads.wait_entered(1)
    with pytest.raises(Unavailable) as refusal:
        await lane.run(db, "acme", select_one)
    assert refusal.value.code == "searches_busy"
    held_reads.release()
    assert await asyncio.gather(*searches) == [1] * 4


async def test_a_cancelled_search_keeps_its_place_until_its_thread_is_free(
    db: Database, held_reads: HeldReads
) -> None:
    lane = SearchLane(SearchLimits(places=1, share=1))
    first = asyncio.create_task(lane.run(db, "acme", held_reads.read))
    await held_reads.wait_entered(1)
    second = asyncio.create_task(lane.run(db, "acme", select_one))
    first.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not first.done() and lane.waiting == 1
    held_reads.release()
    assert await second == 1
    with pytest.raises(asyncio.CancelledError):
        await first


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)  # PostgreSQL has its own limit.
async def test_a_search_ends_at_its_time_limit(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock is read every so many instructions; each time, a second has passed."""
    seconds = iter(range(10_000))
    monkeypatch.setattr(time_limit, "monotonic", lambda: float(next(seconds)))
    with pytest.raises(Unavailable) as refusal:
        await SearchLane().run(db, "acme", lambda tx: tx.value(SLOW))
    assert refusal.value.code == "search_timeout"
    assert next(seconds) == search_lane.MAX_SEARCH_S + 2
    monkeypatch.undo()
    assert await SearchLane().run(db, "acme", select_one) == 1


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)  # PostgreSQL has its own limit.
async def test_a_read_ends_at_its_time_limit(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(10_000))
    monkeypatch.setattr(time_limit, "monotonic", lambda: float(next(seconds)))
    with pytest.raises(StatementTimeout, match="request less"):
        await db.read(lambda tx: tx.value(SLOW))
    assert next(seconds) == time_limit.MAX_READ_S + 2
    monkeypatch.undo()
    assert await db.read(select_one) == 1


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)  # SQLite: the test above.
async def test_a_statement_that_postgresql_cancels_is_a_search_timeout(db: Database) -> None:
    def sleep(tx: Tx) -> None:
        tx.execute("set statement_timeout = 1")
        tx.value("select pg_sleep(20)")

    with pytest.raises(Unavailable) as refusal:
        await SearchLane().run(db, "acme", sleep)
    assert refusal.value.code == "search_timeout"
