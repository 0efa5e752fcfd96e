"""PostgreSQL stops responding for a while (a suspended machine, stuck storage): all of its
processes, or one of them. Nothing is closed, and everything that was sent is processed when it
continues."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

import engines
import pgguard
from belvedere.client.errors import Problem
from e2e import cross_check
from e2e.cross_check import Evidence
from e2e.load_clients import LoadClients
from e2e.wait_until import until
from e2e.world import FINAL, World

pytestmark = pytest.mark.alone
SEED = 5
# As docs/howto/use-postgresql.md says, and some more for a busy machine.
ANSWER_S, READY_S, BUSY_S = 10.0, 5.0, 5.0
BACKENDS = (
    "select pid from pg_stat_activity where datname = current_database()"
    " and application_name = 'belvedere' and pid <> pg_backend_pid()"
)


@pytest.fixture
def server() -> Iterator[str]:
    """A PostgreSQL of its own: the test's other connections must not stop."""
    with pgguard.start_guarded() as url:
        yield url


@pytest.fixture
def url(server: str) -> str:
    return engines.create_migrated(server, "paused")


@pytest.fixture
def world(url: str, tmp_path: Path) -> Iterator[World]:
    with World(tmp_path, url) as new_world:
        new_world.start()
        yield new_world


def postmaster(url: str) -> int:
    with psycopg.connect(url) as operator:
        row = operator.execute("select pg_read_file('postmaster.pid')").fetchone()
    assert row is not None
    return int(row[0].split()[0])


def postgres_pids(postmaster: int) -> list[int]:
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text()
    return [postmaster, *map(int, children.split())]


@contextmanager
def pause(pids: list[int]) -> Iterator[None]:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def status(world: World) -> int:
    """The response to a readiness check."""
    with world.client(timeout_s=ANSWER_S + BUSY_S) as client:
        try:
            return client.request("GET", "/-/ready").status
        except Problem as refusal:
            return refusal.status


def is_ready(world: World) -> bool:
    return status(world) == 200


def check(world: World, clients: LoadClients) -> None:
    job_attempts = clients.finish()
    patience_s = 60 + len(job_attempts) / 10
    until(lambda: not still_open(world), patience_s, lambda: still_open(world)[:3], pause_s=0.2)
    cross_check.check(world, job_attempts, clients.ledger, Evidence({}))
    clients.watcher.leave()
    assert clients.watcher.resyncs == 0
    assert clients.watcher.cursors == sorted(set(clients.watcher.cursors))
    world.doctor()


def still_open(world: World) -> list[object]:
    return [job for job in cross_check.all_jobs(world) if job["lifecycle"] not in FINAL]


LONG = [pytest.mark.prove, pytest.mark.limit(900)]


@pytest.mark.limit(180)
@pytest.mark.parametrize(
    "seconds", [(2.0, 10.0), pytest.param((5.0, 20.0, 40.0, 60.0, 9.0, 7.0), marks=LONG)]
)
def test_pauses_of_the_database_lose_and_repeat_nothing(
    world: World, url: str, seconds: tuple[float, ...]
) -> None:
    """No accepted job is lost, none runs twice; callers get responses all the time."""
    server = postmaster(url)
    clients = LoadClients(world, [world.agent("one"), world.agent("two")], SEED)
    for pause_s in seconds:
        clients.asks_for(10)
        began = time.monotonic()
        with pause(postgres_pids(server)):
            while (remaining := began + pause_s - time.monotonic()) > 0:
                if remaining > ANSWER_S - 1:
                    assert status(world) == 503
                else:
                    time.sleep(remaining)
        until(lambda: is_ready(world), READY_S + BUSY_S)
    check(world, clients)


@pytest.mark.limit(180)
@pytest.mark.parametrize("rounds", [1, pytest.param(12, marks=LONG)])
def test_one_process_that_stops_does_not_stop_the_server(
    world: World, url: str, rounds: int
) -> None:
    """Each in turn, wherever it is in its transaction; the others continue."""
    clients = LoadClients(world, [world.agent("one")], SEED)
    with psycopg.connect(url, autocommit=True) as operator:
        for number in range(rounds):
            clients.asks_for(10)
            pids = [pid for (pid,) in operator.execute(BACKENDS).fetchall()]
            with pause([pids[number % len(pids)]]):
                # The request that uses the stopped process gets its response after 8 s.
                until(lambda: [is_ready(world) for _ in range(10)].count(True) == 10, 60)
        clients.asks_for(10)
    check(world, clients)


@pytest.mark.limit(180)
def test_a_request_to_a_stopped_process_gets_its_response(world: World, url: str) -> None:
    """Nothing else uses the server, so the process that served the last request serves the next."""
    statuses: list[int] = []
    with psycopg.connect(url, autocommit=True) as operator:
        while 503 not in statuses:
            assert is_ready(world)
            pid = operator.execute(f"{BACKENDS} order by state_change desc limit 1").fetchone()
            assert pid is not None and len(statuses) < 20
            with pause([pid[0]]):
                statuses.append(status(world))
            # 0 is no response within the time that the documentation promises.
            assert statuses[-1] in (200, 503)
            until(lambda: is_ready(world), READY_S + BUSY_S)
