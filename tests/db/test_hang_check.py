"""Connections that hang while new ones work are closed long before the limit of a wait; statements
that are only slow are not."""

import asyncio
import select
import socket
import threading
from collections.abc import Callable, Iterator

import psycopg
import pytest

from belvedere.base.errors import Unavailable
from belvedere.db import Tx
from belvedere.db.postgres.database import Postgres
from belvedere.db.postgres.hang_check import AGE, _unsent_bytes
from silent_proxy import SilentProxy

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
# The limit of a wait is above that of the test: only the check can end one.
LIMIT_S = 400.0
# Bytes that a proxy reads at once, more than all buffers of a connection have, and less.
PIECE = 64 * 1024
LARGE, BUFFERED = 512 * PIECE, 16 * PIECE
LOCK = "select pg_advisory_xact_lock(7)"


class SlowProxy(SilentProxy):
    """Can read so many pieces of the connections that are open now, then no more."""

    def __init__(self, database_url: str) -> None:
        super().__init__(database_url)
        self.pieces = threading.Semaphore(0)
        self._slow: set[socket.socket] = set()

    @property
    def is_slow(self) -> bool:
        return bool(self._slow)

    def slow_down(self) -> None:
        self._slow |= self._open

    def speed_up(self) -> None:
        self._slow.clear()
        # One may wait for each connection.
        self.pieces.release(len(self._open))

    def forward(self, data: bytes, target: socket.socket, *, is_response: bool) -> None:
        if target in self._slow and not is_response:
            self.pieces.acquire()
        super().forward(data, target, is_response=is_response)


@pytest.fixture
def proxy(database_url: str) -> Iterator[SlowProxy]:
    proxy = SlowProxy(database_url)
    yield proxy
    proxy.close()


@pytest.fixture
def patient_db(proxy: SilentProxy) -> Iterator[Postgres]:
    """The database of this test, through the proxy. The test itself starts each check."""
    db = Postgres(proxy.url, answer_s=LIMIT_S)
    yield db
    asyncio.run(db.close())


def select_one(tx: Tx) -> object:
    return tx.value("select 1")


def note(tx: Tx) -> None:
    tx.execute("insert into meta (name, value) values ('note', 'x') on conflict (name) do nothing")
    tx.value("select 1")


def measure(tx: Tx, text: str, before: Callable[[], None] = lambda: None) -> object:
    """PostgreSQL is idle in the transaction until it has the whole second statement."""
    tx.value("select 1")
    before()
    return tx.value("select length(?)", text)


def wait_for_lock(tx: Tx) -> None:
    tx.rows(LOCK)


def age_waits(db: Postgres) -> None:
    """From now on they are old enough for a check."""
    db.deadline._waits = {
        key: wait._replace(since=wait.since - LIMIT_S * AGE)
        for key, wait in db.deadline._waits.items()
    }


async def check(db: Postgres, times: int = 1) -> None:
    for _ in range(times):
        await asyncio.to_thread(db._hang_check.check)


async def until_slow(db: Postgres, proxy: SlowProxy) -> None:
    while not proxy.is_slow:
        await asyncio.sleep(0)
    await until_old_wait(db)


async def until_old_wait(db: Postgres) -> None:
    while not db.deadline.is_waiting:
        await asyncio.sleep(0)
    age_waits(db)


async def test_a_read_that_hangs_is_repeated_on_a_new_connection(
    patient_db: Postgres, proxy: SilentProxy
) -> None:
    """A read is repeated on a new connection, so its caller notices nothing."""
    assert await patient_db.read_inline(select_one) == 1
    proxy.hang_open()
    read = asyncio.ensure_future(patient_db.read_inline(select_one))
    await until_old_wait(patient_db)
    await check(patient_db)
    assert patient_db.deadline.is_waiting
    await check(patient_db)
    assert await read == 1
    await patient_db.write(note)


async def test_a_write_that_hangs_is_reported(patient_db: Postgres, proxy: SilentProxy) -> None:
    await patient_db.write(note)
    proxy.hang_open()
    writes = [asyncio.ensure_future(patient_db.write(note)) for _ in range(3)]
    await until_old_wait(patient_db)
    await check(patient_db, times=2)
    results = await asyncio.gather(*writes, return_exceptions=True)
    assert isinstance(results[0], Unavailable)
    await patient_db.write(note)


async def test_a_slow_statement_is_not_ended(patient_db: Postgres, database_url: str) -> None:
    await patient_db.write(note)
    with psycopg.connect(database_url) as blocker:
        blocker.execute(LOCK)
        write = asyncio.ensure_future(patient_db.write(wait_for_lock))
        while not blocker.execute("select pid from pg_locks where not granted").fetchone():
            await asyncio.sleep(0)
        await until_old_wait(patient_db)
        await check(patient_db, times=3)
        assert patient_db.deadline.is_waiting
        blocker.commit()
        await write


async def test_a_large_statement_is_not_ended_while_it_is_sent(
    patient_db: Postgres, proxy: SlowProxy
) -> None:
    await patient_db.write(measure, "")
    write = asyncio.ensure_future(patient_db.write(measure, "x" * LARGE, proxy.slow_down))
    await until_slow(patient_db, proxy)
    await check(patient_db)
    proxy.pieces.release(LARGE // 2 // PIECE)
    # Each part that is sent restarts the wait.
    while patient_db.deadline.list_waits(LIMIT_S * AGE):
        await asyncio.sleep(0)
    await check(patient_db)
    proxy.speed_up()
    assert await write == LARGE


async def test_a_statement_in_the_buffers_of_the_network_is_not_ended_while_it_is_sent(
    patient_db: Postgres, proxy: SlowProxy
) -> None:
    """For the driver, all of it was sent."""
    await patient_db.write(measure, "")
    write = asyncio.ensure_future(patient_db.write(measure, "x" * BUFFERED, proxy.slow_down))
    await until_slow(patient_db, proxy)
    await check(patient_db)
    [wait] = patient_db.deadline.list_waits(0)
    unsent = _unsent_bytes(wait.connection)
    proxy.pieces.release(BUFFERED // 2 // PIECE)
    while _unsent_bytes(wait.connection) == unsent:
        await asyncio.sleep(0)
    await check(patient_db)
    proxy.speed_up()
    assert await write == BUFFERED


async def test_a_statement_that_is_not_sent_any_more_is_ended(
    patient_db: Postgres, proxy: SlowProxy
) -> None:
    await patient_db.write(measure, "")
    write = asyncio.ensure_future(patient_db.write(measure, "x" * BUFFERED, proxy.slow_down))
    await until_slow(patient_db, proxy)
    while patient_db.deadline.is_waiting:
        await check(patient_db)
    with pytest.raises(Unavailable):
        await write
    proxy.speed_up()


async def test_nothing_is_ended_while_new_connections_hang_too(
    patient_db: Postgres, proxy: SilentProxy
) -> None:
    """Then only the limit of the wait applies: PostgreSQL may be slow to accept connections."""
    assert await patient_db.read_inline(select_one) == 1
    proxy.hang()
    read = asyncio.ensure_future(patient_db.read_inline(select_one))
    await until_old_wait(patient_db)
    await check(patient_db, times=2)
    assert not read.done()
    proxy.hangs = False
    await check(patient_db, times=2)
    assert await read == 1


async def test_a_response_that_is_not_read_yet_has_arrived(patient_db: Postgres) -> None:
    """The loop may be busy with something else."""
    assert await patient_db.read_inline(select_one) == 1
    read = asyncio.ensure_future(patient_db.read_inline(select_one))
    await until_old_wait(patient_db)
    [wait] = patient_db.deadline.list_waits(0)
    # Blocks the loop until the response has arrived.
    select.select([wait.connection.socket], [], [])
    for _ in range(2):
        patient_db._hang_check.check()
    assert patient_db.deadline.list_waits(0) == [wait]
    assert await read == 1
