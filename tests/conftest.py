"""Fixtures of all tests; tests/README.md describes them."""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import hypothesis
import pytest

import engines
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.clock import Millis
from belvedere.db import Database
from belvedere.server import ports
from initial_databases import Create, InitialDatabase, InitialDatabases
from manual_clock import ManualClock
from people import Actors

pytest_plugins = ["session_rules"]
# As every server does before its first operation.
ports.connect()
SECRET = bytes(range(32))

hypothesis.settings.register_profile("test", deadline=None, derandomize=True)
hypothesis.settings.register_profile("prove", deadline=None, max_examples=2_000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))


@pytest.fixture(params=engines.ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """sqlite, then postgres: every test that uses a database runs on both."""
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


@pytest.fixture(scope="session")
def sqlite_initial_databases(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InitialDatabases]:
    folder = tmp_path_factory.mktemp("initial")
    with closing(InitialDatabases(str(sqlite_template), folder, Keyring(SECRET))) as databases:
        yield databases


@pytest.fixture(scope="session")
def postgres_initial_databases(postgres_template: str) -> Iterator[InitialDatabases]:
    with closing(InitialDatabases(postgres_template, Path(), Keyring(SECRET))) as databases:
        yield databases


@pytest.fixture
def create_initial_objects() -> Create | None:
    """What a test starts with besides the members."""
    return None


@pytest.fixture
def initial_time() -> Millis | None:
    """When the members are created and `clock` begins; None is now."""
    return None


@pytest.fixture
def initial_database(
    engine: str,
    create_initial_objects: Create | None,
    initial_time: Millis | None,
    request: pytest.FixtureRequest,
) -> InitialDatabase:
    databases: InitialDatabases = request.getfixturevalue(f"{engine}_initial_databases")
    return databases.newest(create_initial_objects, initial_time)


@pytest.fixture
def database_url(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Where a migrated database is, as `belvedere server --database` takes it: empty, or with the
    members for tests that use them."""
    if has_initial_database(request):
        initial_database: InitialDatabase = request.getfixturevalue("initial_database")
        template = initial_database.template
    else:
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
def clock(db: Database, request: pytest.FixtureRequest) -> ManualClock:
    """The clock of `db`: every transaction's `now`. It starts when the members were created."""
    hands = ManualClock()
    if has_initial_database(request):
        hands.now = request.getfixturevalue("initial_database").created_at
    db.clock = hands
    return hands


@pytest.fixture
def keys() -> Keyring:
    """The same for every test, so that a failure can be repeated with its digests."""
    return Keyring(SECRET)


@pytest.fixture
def actors(db: Database, initial_database: InitialDatabase) -> Actors:
    """All actors, in `db`."""
    return initial_database.actors


def has_initial_database(request: pytest.FixtureRequest) -> bool:
    """Whether the test uses it, directly or through another fixture."""
    return "initial_database" in request.fixturenames


# A shell that runs the tests in the background has disabled Ctrl-C, and every program that we start
# would inherit that; with our own handler they start with the default one.
signal.signal(signal.SIGINT, signal.default_int_handler)
