"""Connections that PostgreSQL, or a proxy, resets at any byte of a response: every caller gets a
result or an error, and the next request works. On the loop of the server, too: it reports an error
of a socket once, and then nothing more, whatever is still to be read."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import TypeVar

import pytest
import uvloop

from belvedere.base.errors import NotFound, Unavailable
from belvedere.db import Tx
from belvedere.db.postgres.database import Postgres
from resetting_proxy import ResettingProxy

R = TypeVar("R")
LoopFactory = Callable[[], asyncio.AbstractEventLoop]
pytestmark = [
    pytest.mark.parametrize("engine", ["postgres"], indirect=True),
    pytest.mark.parametrize(
        "loop_factory",
        [asyncio.new_event_loop, uvloop.new_event_loop],
        ids=["asyncio", "uvloop"],
    ),
]
# Far above the time that any call needs, also on a busy machine.
LIMIT_S = 20.0
CALLERS = 12
# Several messages, and one that needs more than one segment.
WIDE = 2_000


@pytest.fixture
def proxy(database_url: str) -> Iterator[ResettingProxy]:
    proxy = ResettingProxy(database_url)
    yield proxy
    proxy.close()


def store(tx: Tx, name: str = "note") -> str:
    sql = "insert into meta (name, value) values (?, ?) on conflict (name) do nothing"
    tx.execute_many(sql, [(name, "x"), (f"{name} 2", "y")])
    tx.rows("select value, repeat('x', ?) from meta where name = ?", WIDE, name)
    return name


def store_batch(tx: Tx, names: list[str]) -> list[str]:
    return [store(tx, name) for name in names]


def read(tx: Tx) -> int:
    return len(tx.rows("select number, repeat('x', ?) from generate_series(1, 3) number", WIDE))


def calls(db: Postgres) -> list[Awaitable[object]]:
    """Every way to use the database, several times."""
    kinds: list[Callable[[int], Awaitable[object]]] = [
        lambda number: db.write(store, f"written {number}"),
        lambda number: db.write_batched(store_batch, f"batched {number}"),
        lambda _: db.read_inline(read),
        lambda _: db.read(read),
        lambda _: db.search(read),
    ]
    return [kind(number) for number in range(CALLERS) for kind in kinds]


async def gather(calls: list[Awaitable[object]]) -> list[object]:
    results = asyncio.gather(*calls, return_exceptions=True)
    return list(await asyncio.wait_for(results, LIMIT_S))


async def until_it_works(db: Postgres, call: Callable[[], Awaitable[object]]) -> None:
    while True:
        try:
            await asyncio.wait_for(asyncio.ensure_future(call()), LIMIT_S)
            return
        except Unavailable:
            # Without the pause after a failed attempt to connect.
            db.resume()


def run(
    loop_factory: LoopFactory,
    proxy: ResettingProxy,
    test: Callable[[Postgres], Coroutine[None, None, R]],
) -> R:
    async def with_database() -> R:
        db = Postgres(proxy.url)
        try:
            return await test(db)
        finally:
            await asyncio.wait_for(db.close(), LIMIT_S)

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        return runner.run(with_database())


CALLS: dict[str, Callable[[Postgres], Awaitable[object]]] = {
    "write": lambda db: db.write(store),
    "batch": lambda db: db.write_batched(store_batch, "note"),
    "read on the loop": lambda db: db.read_inline(read),
    "read on a thread": lambda db: db.read(read),
}


@pytest.mark.parametrize("kind", CALLS)
def test_a_reset_at_any_byte_is_reported(
    proxy: ResettingProxy, loop_factory: LoopFactory, kind: str
) -> None:
    async def test(db: Postgres) -> None:
        await until_it_works(db, lambda: CALLS[kind](db))
        count = 0
        while True:
            proxy.reset_after(count)
            [result] = await gather([CALLS[kind](db)])
            if proxy.is_armed:
                return
            assert isinstance(result, Unavailable | str | int)
            await until_it_works(db, lambda: CALLS[kind](db))
            # Every byte of the short responses, then a byte of each further segment.
            count += 1 if count < 80 else 499

    run(loop_factory, proxy, test)


@pytest.mark.parametrize("step", [97, 2_499])
def test_a_reset_fails_no_other_caller_for_long(
    proxy: ResettingProxy, loop_factory: LoopFactory, step: int
) -> None:
    """More callers than connections: those that wait for one must get it."""

    async def test(db: Postgres) -> None:
        await gather(calls(db))
        for number in range(12):
            proxy.reset_after(number * step)
            for result in await gather(calls(db)):
                assert isinstance(result, Unavailable | str | int)
            db.resume()
        proxy.reset_after(1 << 40)
        await until_it_works(db, lambda: asyncio.gather(*calls(db)))

    run(loop_factory, proxy, test)


def test_a_reset_of_a_new_connection_is_reported(
    proxy: ResettingProxy, loop_factory: LoopFactory
) -> None:
    async def test(db: Postgres) -> None:
        for count in range(0, 700, 23):
            db.discard_idle()
            proxy.reset_after(count)
            [result] = await gather([db.write(store)])
            assert isinstance(result, Unavailable | str)
            await until_it_works(db, lambda: db.write(store))

    run(loop_factory, proxy, test)


def test_a_reset_during_the_rollback_keeps_the_error_of_the_operation(
    proxy: ResettingProxy, loop_factory: LoopFactory
) -> None:
    def refuse(tx: Tx) -> None:
        store(tx)
        proxy.reset_after(0)
        raise NotFound("no such task")

    async def test(db: Postgres) -> None:
        with pytest.raises(NotFound):
            await db.write(refuse)
        assert await db.write(store) == "note"

    run(loop_factory, proxy, test)
