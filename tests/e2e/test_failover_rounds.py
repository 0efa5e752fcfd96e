"""PostgreSQL fails over again and again; the test promotes the standby."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e import failovers
from e2e.world import World
from pgpair import PostgresPair

pytestmark = [pytest.mark.heavy, pytest.mark.limit(240)]
LONG = [pytest.mark.prove, pytest.mark.limit(1_800)]


@pytest.fixture
def world(postgres_pair: PostgresPair, tmp_path: Path) -> Iterator[World]:
    with failovers.open_world(postgres_pair, tmp_path) as new_world:
        yield new_world


@pytest.mark.parametrize("rounds", [2, pytest.param(10, marks=LONG)])
def test_a_synchronous_failover_loses_no_accepted_job(
    postgres_pair: PostgresPair, world: World, rounds: int
) -> None:
    failovers.run_synchronous(postgres_pair, world, rounds)


@pytest.mark.parametrize("rounds", [1, pytest.param(5, marks=LONG)])
def test_an_asynchronous_failover_runs_nothing_twice(
    postgres_pair: PostgresPair, world: World, rounds: int
) -> None:
    failovers.run_asynchronous(postgres_pair, world, rounds)
