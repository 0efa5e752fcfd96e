"""Installations of real processes for the tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import engines
import pgpair
from e2e.site import Site
from e2e.world import World
from pgpair import PostgresPair


@pytest.fixture
def database(engine: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The value of `BELVEDERE_DATABASE`: nothing for SQLite, otherwise an empty PostgreSQL
    database."""
    if engine == "sqlite":
        yield ""
        return
    with engines.postgres_copy(request.getfixturevalue("postgres_template")) as url:
        yield url


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """No process runs yet; all processes that the test starts must have ended at its end. On
    SQLite: what differs between the engines is tested by the kills."""
    with World(tmp_path) as new_world:
        yield new_world


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server and one agent, shared by the tests of a file."""
    with World(tmp_path_factory.mktemp("site")) as world:
        world.start()
        yield Site(world, world.agent("web"))


@pytest.fixture
def postgres_pair() -> Iterator[PostgresPair]:
    """A PostgreSQL with the database `belvedere`, and a standby that follows it."""
    with pgpair.postgres_pair() as new_postgres_pair:
        engines.create_migrated(new_postgres_pair.primary.url(), "belvedere")
        new_postgres_pair.start_standby()
        yield new_postgres_pair
