"""A host name that cannot be looked up: name servers that do not respond delay nobody for long."""

import asyncio
import math
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from belvedere.base.errors import Unavailable
from belvedere.db import Tx
from belvedere.db.postgres import deadlines
from belvedere.db.postgres.database import Postgres
from silent_proxy import SilentProxy

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


def select_one(tx: Tx) -> object:
    return tx.value("select 1")


@pytest.fixture
def name_servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """They respond once this is set."""
    respond, look_up = threading.Event(), socket.getaddrinfo

    def wait_and_look_up(*a: Any, **k: Any) -> Any:
        respond.wait()
        return look_up(*a, **k)

    monkeypatch.setattr(socket, "getaddrinfo", wait_and_look_up)
    monkeypatch.setattr(deadlines, "OPEN_S", 0.2)
    yield respond
    respond.set()


@pytest.fixture
def named_db(database_url: str, name_servers: threading.Event) -> Iterator[Postgres]:
    proxy = SilentProxy(database_url)
    db = Postgres(proxy.url.replace("127.0.0.1", "localhost"))
    yield db
    name_servers.set()
    asyncio.run(db.close())
    proxy.close()


async def test_callers_get_an_error_within_the_limit(named_db: Postgres) -> None:
    async with asyncio.timeout(30):
        results = await asyncio.gather(
            *(named_db.read(select_one) for _ in range(10)),
            *(named_db.read_inline(select_one) for _ in range(10)),
            *(named_db.write(select_one) for _ in range(10)),
            return_exceptions=True,
        )
    assert {type(result) for result in results} == {Unavailable}


async def test_a_connection_that_is_opened_too_late_is_used_later(
    named_db: Postgres, name_servers: threading.Event
) -> None:
    with pytest.raises(Unavailable):
        await named_db.read_inline(select_one)
    # No other one is opened.
    named_db._retry_at = math.inf
    name_servers.set()
    async with asyncio.timeout(30):
        while (result := await _try(named_db)) is None:
            await asyncio.sleep(0)
    assert result == 1


async def _try(db: Postgres) -> object:
    with suppress(Unavailable):
        return await db.read_inline(select_one)
    return None
