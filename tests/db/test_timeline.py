"""Another PostgreSQL takes over: tests/e2e/test_failover.py does it with a real standby."""

import asyncio
from collections.abc import Iterator

import pytest

from belvedere.base.errors import Unavailable
from belvedere.db import Database, Tx
from belvedere.db.postgres.database import Postgres
from belvedere.jobs.recovery.restore import record_timeline

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
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


async def test_one_failover_raises_the_epoch_once(server: Postgres, db: Database) -> None:
    """However many servers notice it."""
    server.follow_timeline(record_timeline)
    first = await db.write(_fence)
    server.follow_timeline(record_timeline)
    assert await db.write(_fence) == first + 1
    await db.write(_lead_elsewhere)
    server.follow_timeline(record_timeline)
    server.follow_timeline(record_timeline)
    assert await db.write(_fence) == (first // EPOCH + 1) * EPOCH + 1


async def test_no_transaction_begins_before_connections_of_agents_are_closed(
    server: Postgres, db: Database
) -> None:
    server.follow_timeline(record_timeline)
    calls: list[str] = []
    server.on_failover = lambda: calls.append("failover")
    server._idle.clear()
    assert server._timeline is not None
    server._timeline.name = "ffffffff"
    server._version_cache["spec", "task"] = "a version that is given again"
    for _ in range(3):
        with pytest.raises(Unavailable):
            await server.write(_fence)
    assert calls == ["failover"]
    assert not server._version_cache
    server.resume()
    await server.write(_fence)
