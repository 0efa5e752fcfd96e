"""A PostgreSQL that disappears without closing connections, simulated by a proxy that drops
everything."""

import asyncio
from collections.abc import Iterator

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from belvedere.base.errors import StatementTimeout, Unavailable
from belvedere.db import Database, Row, Tx
from belvedere.db.postgres.connection import LIVENESS
from belvedere.db.postgres.database import Postgres
from belvedere.rest.error_format import headers_of
from silent_proxy import SilentProxy

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


@pytest.fixture
def proxy(database_url: str) -> Iterator[SilentProxy]:
    proxy = SilentProxy(database_url)
    yield proxy
    proxy.close()


@pytest.fixture
def impatient_db(proxy: SilentProxy) -> Iterator[Postgres]:
    """The database of this test, through the proxy, and with little patience."""
    db = Postgres(proxy.url, answer_s=0.4)
    yield db
    asyncio.run(db.close())


def _select_one(tx: Tx) -> object:
    return tx.value("select 1")


def _note(tx: Tx, value: str = "") -> None:
    sql = "insert into meta (name, value) values ('note', ?) on conflict (name) do nothing"
    tx.execute(sql, value)
    tx.value("select 1")


def _count(tx: Tx) -> None:
    tx.execute(
        "insert into meta (name, value) values ('count', '1')"
        " on conflict (name) do update set value = (meta.value::int + 1)::text"
    )


def _read_count(tx: Tx) -> object:
    return tx.value("select value from meta where name = 'count'")


async def _until_back(db: Postgres) -> None:
    while True:
        try:
            assert await db.read(_select_one) == 1
            return
        except Unavailable:
            await asyncio.sleep(0.05)


async def test_a_database_that_answers_is_used(impatient_db: Postgres) -> None:
    assert await impatient_db.read(_select_one) == 1
    await impatient_db.write(_note)


async def test_reads_and_writes_end_when_nothing_answers(
    impatient_db: Postgres, proxy: SilentProxy
) -> None:
    await asyncio.gather(*(impatient_db.read(_select_one) for _ in range(8)))
    proxy.hang()
    # More than there are threads: those that wait for one must not wait for a timeout each.
    work = [impatient_db.read(_select_one) for _ in range(40)] + [
        impatient_db.write(_note) for _ in range(40)
    ]
    results = await asyncio.gather(*work, return_exceptions=True)
    assert {type(result) for result in results} == {Unavailable}


async def test_the_database_recovers_while_old_connections_still_hang(
    impatient_db: Postgres, proxy: SilentProxy
) -> None:
    await asyncio.gather(*(impatient_db.read(_select_one) for _ in range(8)))
    proxy.hang()
    with pytest.raises(Unavailable):
        await impatient_db.read(_select_one)
    proxy.hangs = False
    await _until_back(impatient_db)
    await impatient_db.write(_note)


async def test_one_connection_that_hangs_does_not_stop_the_others(
    impatient_db: Postgres, proxy: SilentProxy
) -> None:
    """One process of PostgreSQL may be stuck (in its storage, say) while the others work."""
    assert await impatient_db.read(_select_one) == 1
    proxy.hang_open()
    stuck = asyncio.create_task(impatient_db.read(_select_one))
    while not impatient_db.deadline.is_waiting:
        await asyncio.sleep(0)
    while not stuck.done():
        assert await impatient_db.read(_select_one) == 1
    assert await stuck == 1
    await impatient_db.write(_note)


async def test_a_commit_without_an_answer_is_an_unknown_outcome(
    impatient_db: Postgres, proxy: SilentProxy, db: Database
) -> None:
    await impatient_db.write(_note, "before")
    proxy.hangs_at = b"COMMIT\0"
    # It must neither be repeated, which would count twice, nor be reported as a failure.
    with pytest.raises(Unavailable) as refusal:
        await impatient_db.write(_count)
    assert refusal.value.code == "outcome_unknown"
    assert headers_of(refusal.value) == {}
    assert await db.read(_read_count) == "1"


async def test_a_statement_without_an_answer_has_not_happened(
    impatient_db: Postgres, proxy: SilentProxy
) -> None:
    await impatient_db.write(_note)
    proxy.hang()
    with pytest.raises(Unavailable) as refusal:
        await impatient_db.write(_note)
    assert refusal.value.code == "unavailable"


async def test_a_slow_statement_is_no_silence(impatient_db: Postgres, proxy: SilentProxy) -> None:
    """PostgreSQL cancels it before we close the connection, and other callers notice nothing."""
    impatient_db.write_blocking(lambda tx: tx.execute("select 1"))
    with pytest.raises(Unavailable, match="request less"):
        await impatient_db.read(_slow)
    assert await impatient_db.read(_select_one) == 1


def _slow(tx: Tx) -> object:
    tx.execute("set statement_timeout = '50ms'")
    try:
        return tx.value("select pg_sleep(10)")
    finally:
        tx.execute("set statement_timeout = '6s'")


async def test_a_wait_for_a_lock_is_no_slow_statement(database_url: str) -> None:
    """Otherwise an event that waits for the locks of others would be set aside as too slow."""
    db = Postgres(database_url)
    try:
        db.write_blocking(lambda tx: tx.execute("create table locked (id integer)"))
        with db.connect() as holder:
            holder.execute("lock table locked")
            with pytest.raises(Unavailable, match="lock these rows") as refusal:
                db.write_blocking(_wait_for_lock)
        assert not isinstance(refusal.value, StatementTimeout)
        assert db.write_blocking(_limits) == ("5s", "6s")
    finally:
        await db.close()


def _limits(tx: Tx) -> Row | None:
    return tx.row("select current_setting('lock_timeout'), current_setting('statement_timeout')")


def _wait_for_lock(tx: Tx) -> None:
    tx.execute("set local lock_timeout = '50ms'")
    tx.execute("insert into locked values (1)")


async def test_parameters_of_the_url_come_first(database_url: str) -> None:
    db = Postgres(make_conninfo(database_url, tcp_user_timeout=1234))
    try:
        options = conninfo_to_dict(db.connect().info.dsn)
        assert options["tcp_user_timeout"] == "1234"
        assert options["connect_timeout"] == str(LIVENESS["connect_timeout"])
    finally:
        await db.close()
