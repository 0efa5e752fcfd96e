"""Operations on PostgreSQL that wait on the event loop, without a thread."""

import asyncio
from collections.abc import Iterator

import psycopg
import pytest

from belvedere.db import Tx
from belvedere.db.postgres.database import ON_LOOP, Postgres
from belvedere.db.signals import Signal, host_ready

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
LOCK = "select pg_advisory_xact_lock(7)"


@pytest.fixture
def blocker(db: Postgres) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Holds the lock that the operations of a test wait for, until it commits."""
    with psycopg.connect(db.url) as connection:
        connection.execute(LOCK)
        yield connection


def wait_for_lock(tx: Tx, name: str = "n1") -> str:
    tx.rows(LOCK)
    tx.execute("insert into meta (name, value) values (?, ?)", name, "x")
    tx.signals.add(host_ready(name))
    return name


def count_notes(tx: Tx) -> int:
    return int(tx.value("select count(*) from meta where name like 'n%'"))


def count_waits(connection: psycopg.Connection[tuple[object, ...]]) -> int:
    row = connection.execute("select count(*) from pg_locks where not granted").fetchone()
    assert row is not None
    return int(str(row[0]))


async def test_the_loop_continues_while_a_write_waits(
    db: Postgres, blocker: psycopg.Connection[tuple[object, ...]]
) -> None:
    write = asyncio.ensure_future(db.write(wait_for_lock))
    assert await db.read_inline(count_notes) == 0
    assert not write.done()
    blocker.commit()
    assert await write == "n1"
    assert await db.read_inline(count_notes) == 1


async def test_operations_beyond_the_limit_wait_for_a_connection(
    db: Postgres, blocker: psycopg.Connection[tuple[object, ...]]
) -> None:
    names = [f"n{number}" for number in range(3 * ON_LOOP)]
    writes = [asyncio.ensure_future(db.write(wait_for_lock, name)) for name in names]
    while count_waits(blocker) < ON_LOOP:
        await asyncio.sleep(0)
    assert len([opened for opened in db._opened if not opened.closed]) <= ON_LOOP + 1
    blocker.commit()
    assert await asyncio.gather(*writes) == names
    assert db.write_blocking(count_notes) == len(names)


async def test_a_write_of_a_canceled_caller_is_still_announced(
    db: Postgres, blocker: psycopg.Connection[tuple[object, ...]]
) -> None:
    announced: asyncio.Future[set[Signal]] = asyncio.get_running_loop().create_future()
    db.on_signals = announced.set_result
    write = asyncio.ensure_future(db.write(wait_for_lock))
    while not count_waits(blocker):
        await asyncio.sleep(0)
    write.cancel()
    blocker.commit()
    assert await announced == {host_ready("n1")}


async def test_writes_and_short_reads_use_no_thread(
    db: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    await db.write(wait_for_lock, "n1")

    def refuse(*_: object) -> None:
        raise AssertionError("work was passed to a thread")

    monkeypatch.setattr(db._threads, "submit", refuse)
    monkeypatch.setattr(db._openings, "run", refuse)
    assert await db.write(wait_for_lock, "n2") == "n2"
    assert await db.write_batched(wait_for_locks, "n3") == "n3"
    assert await db.read_inline(count_notes) == 3


def wait_for_locks(tx: Tx, names: list[str]) -> list[str]:
    return [wait_for_lock(tx, name) for name in names]


async def test_a_statement_that_is_larger_than_the_buffers_is_sent(db: Postgres) -> None:
    """The server responds before everything is sent, so both directions must progress."""
    text = "x" * 8_000_000

    def store(tx: Tx) -> list[int]:
        tx.execute_many("select ?::text", [(text,), (text,)])
        return [len(str(value)) for (value,) in tx.rows("select ?::text", text)]

    assert await db.write(store) == [len(text)]


async def test_a_connection_that_the_server_closed_is_replaced(db: Postgres) -> None:
    def own_pid(tx: Tx) -> int:
        return int(tx.value("select pg_backend_pid()"))

    pid = await db.write(own_pid)
    with psycopg.connect(db.url, autocommit=True) as other:
        other.execute("select pg_terminate_backend(%s, 5000)", [pid])
    assert await db.read_inline(own_pid) != pid


async def test_close_waits_for_running_operations(
    db: Postgres, blocker: psycopg.Connection[tuple[object, ...]]
) -> None:
    write = asyncio.ensure_future(db.write(wait_for_lock))
    while not count_waits(blocker):
        await asyncio.sleep(0)
    close = asyncio.ensure_future(db.close())
    await asyncio.sleep(0)
    assert not close.done()
    blocker.commit()
    await close
    assert await write == "n1"


def test_connections_can_be_used_on_another_loop(db: Postgres) -> None:
    for number in range(3):
        assert asyncio.run(db.write(wait_for_lock, f"n{number}")) == f"n{number}"
    assert asyncio.run(db.read_inline(count_notes)) == 3
