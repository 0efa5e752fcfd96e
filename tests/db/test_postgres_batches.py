"""How many items of a batch operation share a transaction on PostgreSQL."""

import asyncio

import pytest

from belvedere.db import Database, Tx
from belvedere.db.postgres import batcher
from belvedere.db.postgres.database import Postgres

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
CALLERS, CALLS = 8, 10


@pytest.mark.parametrize(("servers", "transactions"), [(1, 20), (3, 12)])
async def test_several_servers_wait_for_more_items_under_load(
    db: Database, monkeypatch: pytest.MonkeyPatch, servers: int, transactions: int
) -> None:
    """Callers repeat their request at once. Without the pause, some of them always miss the next
    transaction, and the others the one after it."""
    assert isinstance(db, Postgres)
    db.servers = servers
    # Long enough for all callers, also on a busy machine.
    monkeypatch.setattr(batcher, "PAUSE_FACTOR", 1_000.0)
    monkeypatch.setattr(batcher, "MAX_PAUSE_S", 0.2)
    sizes: list[int] = []

    def record(tx: Tx, items: list[int]) -> list[None]:
        tx.value("select 1")
        sizes.append(len(items))
        return [None for _ in items]

    async def call() -> None:
        for _ in range(CALLS):
            await db.write_batched(record, 1)

    first = asyncio.create_task(call())
    # It adds its item and starts its transaction alone; the others arrive meanwhile.
    for _ in range(3):
        await asyncio.sleep(0)
    await asyncio.gather(first, *(call() for _ in range(CALLERS - 1)))
    assert sum(sizes) == CALLERS * CALLS
    assert transactions - 5 <= len(sizes) <= transactions


async def test_a_server_among_several_starts_a_single_item_at_once(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(db, Postgres)
    db.servers = 3
    # A wait would exceed the time limit of the test.
    monkeypatch.setattr(batcher, "PAUSE_FACTOR", 1e9)
    monkeypatch.setattr(batcher, "MAX_PAUSE_S", 1e6)

    def repeat(tx: Tx, items: list[int]) -> list[int]:
        return items

    for _ in range(5):
        assert await db.write_batched(repeat, 1) == 1


async def test_items_that_wait_for_more_are_stored_before_the_database_is_closed(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batcher, "PAUSE_FACTOR", 1e9)
    monkeypatch.setattr(batcher, "MAX_PAUSE_S", 1e6)
    db = Postgres(database_url)
    db.servers = 3

    def repeat(tx: Tx, items: list[int]) -> list[int]:
        return items

    await asyncio.gather(*(db.write_batched(repeat, number) for number in range(2)))
    item = db.write_batched(repeat, 2)
    await db.close()
    assert await item == 2
