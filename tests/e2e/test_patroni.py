"""Patroni fails over again and again, while jobs are created and run: kill -9 of the primary's
PostgreSQL and Patroni."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import engines
from e2e import failovers
from e2e.patroni import PatroniCluster, patroni_cluster
from e2e.world import World

pytestmark = [pytest.mark.prove, pytest.mark.limit(2_400)]


@pytest.fixture
def cluster() -> Iterator[PatroniCluster]:
    with patroni_cluster() as new_cluster:
        new_cluster.start_standby()
        engines.create_migrated(new_cluster.primary.url(), "belvedere")
        yield new_cluster


@pytest.fixture
def world(cluster: PatroniCluster, tmp_path: Path) -> Iterator[World]:
    with failovers.open_world(cluster, tmp_path) as new_world:
        yield new_world


def test_a_synchronous_failover_loses_no_accepted_job(
    cluster: PatroniCluster, world: World
) -> None:
    failovers.run_synchronous(cluster, world, rounds=10)


def test_an_asynchronous_failover_runs_nothing_twice(cluster: PatroniCluster, world: World) -> None:
    cluster.set_synchronous(False)
    failovers.run_asynchronous(cluster, world, rounds=5)
