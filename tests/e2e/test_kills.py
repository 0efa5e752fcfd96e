"""SIGKILL for server, agents and keepers while jobs run: nothing accepted is lost, nothing runs
twice, every verdict is true, nothing stays behind."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import engines
from e2e import killing, ledger, truth
from e2e.caller import Caller
from e2e.killing import AGENT_POINTS, KEEPER_POINTS, SERVER_POINTS
from e2e.patience import until
from e2e.truth import Evidence
from e2e.watcher import Watcher
from e2e.world import FINAL, World

pytestmark = pytest.mark.alone


@pytest.fixture
def world(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    if engine == "sqlite":
        with World(tmp_path) as made:
            yield made
        return
    with engines.postgres_copy(request.getfixturevalue("postgres_template")) as url:
        with World(tmp_path, url) as made:
            yield made


@pytest.mark.limit(180)
def test_it_works(world: World) -> None:
    _kill(world, rounds=15, seed=random.randrange(1 << 32))


@pytest.mark.prove
@pytest.mark.limit(3_600)
def test_it_works_for_long(world: World) -> None:
    _kill(world, rounds=300, seed=random.randrange(1 << 32))


def _kill(world: World, rounds: int, seed: int) -> None:
    """So many deaths of the server, so many of agents and keepers, both at the same time."""
    print(f"seed {seed}")
    world.start()
    steady, rough = world.agent("steady"), world.agent("rough")
    path = world.folder / "ledger"
    path.touch()
    watcher = Watcher(world.client())
    watcher.start()
    tasks = [world.task(ledger.SCRIPT, agent, *ledger.ARGUMENTS) for agent in (steady, rough)]
    callers = [Caller(world.client(), str(path), tasks, seed + number) for number in (0, 1)]
    for caller in callers:
        caller.start()
    with ThreadPoolExecutor(1) as beside:
        agents = beside.submit(killing.kill_agents, world, steady, rough, rounds, seed + 2)
        servers = killing.kill_server(world, rounds, seed + 3)
        toll = agents.result()
    _heal(world)
    asked = [each for caller in callers for each in caller.finish()]
    until(lambda: not _open(world), 60, lambda: _open(world)[:3], pause_s=0.2)
    deaths = servers.deaths + toll.deaths
    evidence = Evidence({world.connected(rough)["id"]: toll.keepers})
    ends = truth.check(world, asked, path, evidence)
    print(f"{len(asked)} jobs, {sum(caller.replays for caller in callers)} replays, {dict(ends)}, {dict(deaths)}")
    for point in (*SERVER_POINTS, *AGENT_POINTS, *KEEPER_POINTS):
        assert rounds < 16 or deaths[point], f"{point} was never reached: {deaths}"
    _compare_events(world, watcher, [each.job_id for each in asked])
    world.doctor()


def _heal(world: World) -> None:
    assert world.start()
    for agent in world.agents.values():
        agent.kill()
        agent.start(world.url)
    for agent in world.agents.values():
        world.connected(agent)


def _open(world: World) -> list[object]:
    return [job for job in truth.all_jobs(world) if job["lifecycle"] not in FINAL]


def _compare_events(world: World, watcher: Watcher, job_ids: list[str]) -> None:
    until(lambda: watcher.fault or set(job_ids) <= set(watcher.jobs), 20)
    watcher.leave()
    assert watcher.fault is None
    assert watcher.resyncs == 0
    assert watcher.cursors == sorted(set(watcher.cursors)), "an event came twice, or out of order"
    for job_id in job_ids:
        until(lambda: len(watcher.jobs[job_id]) >= world.job(job_id)["version"], 10)
        watcher.check(world.job(job_id))
