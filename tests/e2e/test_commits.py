"""PostgreSQL is lost during a COMMIT whose response is lost: idempotency keys, fences and journals
show whether it happened."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import engines
from belvedere.client.errors import Problem
from e2e import cross_check
from e2e.breaking_connections import CuttingPostgres
from e2e.cross_check import Evidence
from e2e.load_clients import LoadClients
from e2e.wait_until import until
from e2e.world import FINAL, World

pytestmark = [pytest.mark.heavy, pytest.mark.limit(180)]
SEED = 7
TERMINATE = (
    "select pg_terminate_backend(pid) from pg_stat_activity"
    " where datname = current_database() and pid <> pg_backend_pid()"
)


@pytest.fixture
def url(postgres_template: str) -> Iterator[str]:
    with engines.postgres_copy(postgres_template) as text:
        yield text


@pytest.fixture
def cutting_postgres(url: str) -> Iterator[CuttingPostgres]:
    new_cutting_postgres = CuttingPostgres(url, SEED)
    yield new_cutting_postgres
    new_cutting_postgres.close()


def start(world: World) -> LoadClients:
    world.start()
    return LoadClients(world, [world.agent("one"), world.agent("two")], SEED)


def check(world: World, clients: LoadClients) -> None:
    """Everything ends, nothing is lost: no keeper was killed."""
    job_attempts = clients.finish()
    # Agents disconnected and reconnected, so most of the requested jobs are still waiting.
    patience_s = 60 + len(job_attempts) / 10
    until(lambda: not still_open(world), patience_s, lambda: still_open(world)[:3], pause_s=0.2)
    cross_check.check(world, job_attempts, clients.ledger, Evidence({}))
    clients.watcher.leave()
    world.doctor()


def still_open(world: World) -> list[object]:
    try:
        return [job for job in cross_check.all_jobs(world) if job["lifecycle"] not in FINAL]
    except Problem as refusal:
        # The last connections may have been terminated while the server opened them.
        if refusal.status != 503:
            raise
        return [refusal]


@pytest.mark.parametrize(
    "cuts", [25, pytest.param(2_000, marks=[pytest.mark.prove, pytest.mark.limit(2_400)])]
)
def test_commits_without_a_response_lose_and_repeat_nothing(
    cutting_postgres: CuttingPostgres, tmp_path: Path, cuts: int
) -> None:
    """The commit is done, its response never arrives."""
    with World(tmp_path, cutting_postgres.url) as world:
        clients = start(world)
        cutting_postgres.percent = 15
        until(lambda: cutting_postgres.cuts >= cuts, 120 + cuts, lambda: cutting_postgres.cuts)
        cutting_postgres.percent = 0
        check(world, clients)


@pytest.mark.parametrize(
    "rounds", [6, pytest.param(200, marks=[pytest.mark.prove, pytest.mark.limit(1_800)])]
)
def test_connections_may_die_at_any_moment(url: str, tmp_path: Path, rounds: int) -> None:
    with World(tmp_path, url) as world, psycopg.connect(url, autocommit=True) as operator:
        clients = start(world)
        for _ in range(rounds):
            clients.asks_for(10)
            operator.execute(TERMINATE)
        check(world, clients)
