"""Fixtures of all tests; tests/README.md describes them."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

import engines
from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from belvedere.server import ports
from manual_clock import ManualClock
from people import Actors, assemble

pytest_plugins = ["session_rules"]
# As every server does before its first operation.
ports.connect()
SECRET = bytes(range(32))

hypothesis.settings.register_profile("test", deadline=None, derandomize=True)
hypothesis.settings.register_profile("prove", deadline=None, max_examples=2_000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))


@pytest.fixture(params=engines.ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """sqlite, then postgres: whatever asks for a database is tested on both."""
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return engines.sqlite_template(tmp_path_factory.mktemp("template") / "belvedere.db")


@pytest.fixture(scope="session")
def sqlite_logs_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return engines.sqlite_template(tmp_path_factory.mktemp("template") / "logs.db", "logs")


@pytest.fixture(scope="session")
def postgres_template() -> Iterator[str]:
    with engines.postgres_template() as url:
        yield url


@pytest.fixture
def database_url(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Where a migrated, empty database is, as `belvedere server --database` takes it."""
    template = request.getfixturevalue(f"{engine}_template")
    if engine == "sqlite":
        yield str(shutil.copyfile(template, tmp_path / "belvedere.db"))
    else:
        with engines.postgres_copy(template) as url:
            yield url


@pytest.fixture
def db(database_url: str) -> Iterator[Database]:
    """That database, open."""
    database = engines.open_fast(database_url)
    database.sealer = Keyring(SECRET)
    yield database
    engines.close(database)


@pytest.fixture
def logs(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Database]:
    """Where output of jobs goes: a file of its own on SQLite, the same database on PostgreSQL."""
    if engine == "postgres":
        yield request.getfixturevalue("db")
        return
    template = request.getfixturevalue("sqlite_logs_template")
    database = engines.open_fast(str(shutil.copyfile(template, tmp_path / "logs.db")))
    yield database
    engines.close(database)


@pytest.fixture
def clock(db: Database) -> ManualClock:
    """The clock of `db`: every transaction's `now`."""
    hands = ManualClock()
    db.clock = hands
    return hands


@pytest.fixture
def keys() -> Keyring:
    """The same for every test, so that a failure can be repeated with its digests."""
    return Keyring(SECRET)


@pytest.fixture
def actors(db: Database, keys: Keyring) -> Actors:
    """Everybody, in `db`."""
    return db.write_blocking(assemble, keys)


# A shell that runs the tests in the background has switched Ctrl-C off, and every program that we
# start would inherit that; with a handler of our own they begin with the usual one.
signal.signal(signal.SIGINT, signal.default_int_handler)
