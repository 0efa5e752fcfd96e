"""Another PostgreSQL takes over: tests/e2e/test_failover.py does it with a whole server."""

import asyncio
from collections.abc import Iterator

import pytest

import engines
import pgpair
from belvedere.base.errors import Unavailable
from belvedere.db import Database, Tx
from belvedere.db.postgres.database import Postgres
from belvedere.jobs.recovery.restore import record_timeline
from pgpair import PostgresPair

only_postgres = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
EPOCH = 1 << 40


@pytest.fixture
def server(database_url: str) -> Iterator[Postgres]:
    db = Postgres(database_url)
    yield db
    asyncio.run(db.close())


def _fence(tx: Tx) -> int:
    return int(tx.value("select nextval('fence')"))


def _lead_elsewhere(tx: Tx) -> None:
    """As if what is stored came from a server on another timeline."""
    tx.execute("update meta set value = 'ffffffff' where name = 'timeline'")


@only_postgres
async def test_one_failover_raises_the_epoch_once(server: Postgres, db: Database) -> None:
    """No matter how many servers notice it."""
    server.follow_timeline(record_timeline)
    first = await db.write(_fence)
    server.follow_timeline(record_timeline)
    assert await db.write(_fence) == first + 1
    await db.write(_lead_elsewhere)
    server.follow_timeline(record_timeline)
    server.follow_timeline(record_timeline)
    assert await db.write(_fence) == (first // EPOCH + 1) * EPOCH + 1


@only_postgres
async def test_no_transaction_begins_before_connections_of_agents_are_closed(
    server: Postgres, db: Database
) -> None:
    server.follow_timeline(record_timeline)
    timeline = server._timeline
    assert timeline is not None
    calls: list[str] = []
    # Connections that are opened meanwhile must not take the other timeline for known yet.
    server.on_failover = lambda: calls.append(timeline.name)
    server.discard_idle()
    timeline.name = "ffffffff"
    server._version_cache["spec", "task"] = "a version that is given again"
    for _ in range(3):
        with pytest.raises(Unavailable):
            await server.write(_fence)
    assert calls == ["ffffffff"]
    assert not server._version_cache
    server.resume()
    await server.write(_fence)


@only_postgres
async def test_a_connection_that_is_opened_during_a_failover_is_not_used(
    server: Postgres, db: Database
) -> None:
    """Another one has noticed the failover meanwhile, so its timeline is known already."""
    server.follow_timeline(record_timeline)
    calls: list[str] = []
    server.on_failover = lambda: calls.append("failover")

    def fail_over(tx: Tx) -> None:
        server.check_usable = None
        assert server._timeline is not None
        server._timeline.name = "ffffffff"
        with pytest.raises(Unavailable):
            server.write_blocking(_fence)

    server.check_usable = fail_over
    server.discard_idle()
    with pytest.raises(Unavailable):
        await server.write(_fence)
    assert calls == ["failover"]
    server.resume()
    await server.write(_fence)


@pytest.fixture
def postgres_pair() -> Iterator[PostgresPair]:
    """A PostgreSQL with two databases and a standby."""
    with pgpair.postgres_pair() as pair:
        for name in ("running", "stopped"):
            engines.create_migrated(pair.primary.url(), name)
        pair.start_standby()
        yield pair


def _start(pair: PostgresPair, database: str) -> Postgres:
    server = Postgres(pair.url(database))
    server.follow_timeline(record_timeline)
    return server


async def _next_fence(server: Postgres) -> int:
    """As soon as the connections of the old PostgreSQL are closed."""
    while True:
        try:
            return await server.write(_fence)
        except Unavailable:
            # PostgreSQL reports the end of a promotion only to clients that connect.
            await asyncio.sleep(0.05)


@pytest.mark.limit(180)
async def test_the_timeline_of_a_promoted_copy_raises_the_epoch(
    postgres_pair: PostgresPair,
) -> None:
    """A real copy of a real PostgreSQL, detected by a running server and at the start of another.
    Nothing else shows it: no commit is lost, no agent has a journal, and `mark-restored` was not
    run."""
    running, stopped = _start(postgres_pair, "running"), _start(postgres_pair, "stopped")
    first = await running.write(_fence)
    assert await stopped.write(_fence) == first
    await stopped.close()
    # A restart on the same timeline raises nothing.
    stopped = _start(postgres_pair, "stopped")
    assert await stopped.write(_fence) == first + 1
    await stopped.close()
    # The standby reports its position only when it is asked.
    while not postgres_pair.is_in_step():
        await asyncio.sleep(0.02)
    postgres_pair.fail_over()
    stopped = _start(postgres_pair, "stopped")
    raised = (first // EPOCH + 1) * EPOCH
    for server in (running, stopped):
        assert [await _next_fence(server) for _ in range(2)] == [raised + 1, raised + 2]
        await server.close()
