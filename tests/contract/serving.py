"""Fixtures: a server with its members, and a check of everything that it logs."""

import logging
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from belvedere.access import Keyring, PasswordChecker
from belvedere.access.crypto import password_hash
from belvedere.db import Database
from belvedere.server import wiring
from belvedere.server.http.routing import Router
from belvedere.server.routes import PAGES, ROUTES
from belvedere.server.runtime import ServerRuntime
from belvedere.settings import Settings
from contract.client import Client
from contract.over_socket import IN_PROCESS, SocketApp
from contract.world import World, create_objects, open_world
from initial_databases import Create, InitialDatabase
from manual_clock import ManualClock
from people import PASSWORD, PASSWORD_HASH, Actors

# The fixtures, for the conftest of every folder whose tests talk to this server.
__all__ = [
    "ada",
    "create_initial_objects",
    "eve",
    "http_transport",
    "runtime",
    "quick_passwords",
    "settings",
    "anonymous",
    "uma",
    "vic",
    "watch",
    "world",
]

# It never changes, and each test would need some milliseconds to build its own.
ROUTER = Router(ROUTES, PAGES)
TOKEN = re.compile(r"bv[tsaelf]_[A-Za-z0-9_\-]{20,}")


async def at_once(_: float) -> None:
    """How long a guesser waits is tested by its figure, not by waiting."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        data=str(tmp_path),
        url="http://belvedere.test",
        origins="https://console.test",
        proxies="10.0.0.1",
    )


@pytest.fixture
def runtime(
    db: Database, logs: Database, keys: Keyring, clock: ManualClock, settings: Settings
) -> ServerRuntime:
    with mock.patch.object(wiring, "Router", lambda *_: ROUTER):
        server_runtime = wiring.build_runtime(settings, db, logs, keys, clock)
    server_runtime.passwords = PasswordChecker(server_runtime.limits, at_once)
    return server_runtime


@pytest.fixture
def http_transport(request: pytest.FixtureRequest) -> str:
    """How requests reach the application; `every_transport` runs a test with each."""
    name: str = getattr(request, "param", IN_PROCESS)
    return name


@pytest.fixture
def create_initial_objects(request: pytest.FixtureRequest) -> Create | None:
    return create_objects if "world" in request.fixturenames else None


@pytest.fixture
def world(
    runtime: ServerRuntime, actors: Actors, initial_database: InitialDatabase, http_transport: str
) -> Iterator[World]:
    world = open_world(runtime, actors, initial_database.objects)
    if http_transport == IN_PROCESS:
        yield world
        return
    with closing(SocketApp(runtime, http_transport)) as app:
        yield replace(world, app=app)


@pytest.fixture
def ada(world: World) -> Client:
    return world.client("ada")


@pytest.fixture
def uma(world: World) -> Client:
    return world.client("uma")


@pytest.fixture
def vic(world: World) -> Client:
    return world.client("vic")


@pytest.fixture
def eve(world: World) -> Client:
    return world.client("eve")


@pytest.fixture
def anonymous(world: World) -> Client:
    """No credential, and an address of its own."""
    return world.client()


@pytest.fixture
def quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2id is slow on purpose; for tests that sign in hundreds of times."""
    monkeypatch.setattr(password_hash, "matches", lambda item, password: password == PASSWORD)
    monkeypatch.setattr(password_hash, "digest", lambda password: PASSWORD_HASH)


class LogRecorder(logging.Handler):
    """Keeps every line that the server logs, including tracebacks."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture(autouse=True)
def watch() -> Iterator[LogRecorder]:
    """All contract tests run with this check: no token, secret or password may reach a log."""
    log, handler = logging.getLogger("belvedere"), LogRecorder()
    before = log.level
    log.setLevel(logging.DEBUG)
    log.addHandler(handler)
    yield handler
    log.removeHandler(handler)
    log.setLevel(before)
    text = "\n".join(handler.lines)
    assert TOKEN.search(text) is None, TOKEN.findall(text)
    assert PASSWORD not in text
    assert "canary" not in text
