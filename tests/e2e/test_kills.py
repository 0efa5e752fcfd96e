"""SIGKILL for server, agents and keepers while jobs run: nothing accepted is lost, nothing runs
twice, every result is true, no process remains. The server has an agent of its own inside."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e import cross_check
from e2e.caller import JobAttempt
from e2e.cross_check import Evidence
from e2e.kill_processes import Killer
from e2e.load_clients import LoadClients
from e2e.programs import Agent
from e2e.wait_until import until
from e2e.watcher import Watcher
from e2e.world import FINAL, World

pytestmark = pytest.mark.heavy
# In each, the server is killed once, and once an agent or a keeper: 1,000 kills per engine.
QUICK_ROUNDS, LONG_ROUNDS = 10, int(os.environ.get("KILL_ROUNDS", "500"))


@pytest.fixture
def world(database: str, tmp_path: Path) -> Iterator[World]:
    with World(tmp_path, database, verb="up") as new_world:
        yield new_world


@pytest.mark.limit(400)
def test_kills_lose_and_repeat_nothing(world: World) -> None:
    _kill(world, rounds=QUICK_ROUNDS, seed=random.randrange(1 << 32))


@pytest.mark.prove
# 500 took up to 54 minutes on a busy machine with two cores.
@pytest.mark.limit(10_800)
def test_many_kills_lose_and_repeat_nothing(world: World) -> None:
    _kill(world, rounds=LONG_ROUNDS, seed=random.randrange(1 << 32))


def _kill(world: World, rounds: int, seed: int) -> None:
    print(f"seed {seed}")
    world.start("--no-demo")
    local, steady, rough = world.local_agent(), world.agent("steady"), world.agent("rough")
    clients = LoadClients(world, [local, steady, rough], seed)
    killer = Killer(world, steady, rough, seed + 2)
    killer.kill(rounds)
    _heal(world, steady, rough)
    job_attempts = clients.finish()
    until(lambda: not _open(world), 90, lambda: _stuck(world), pause_s=0.2)
    evidence = Evidence({world.wait_connected(rough)["id"]: killer.keepers})
    ends = cross_check.check(world, job_attempts, clients.ledger, evidence)
    print(
        f"{len(job_attempts)} jobs, {clients.replays} replays: {dict(ends)}; {dict(killer.deaths)}"
    )
    assert killer.deaths.total() == 2 * rounds
    _compare_events(world, clients.watcher, job_attempts)
    world.doctor()


def _heal(world: World, *others: Agent) -> None:
    for agent in others:
        agent.kill()
        agent.start(world.url)
    for agent in world.agents.values():
        world.wait_connected(agent)


def _open(world: World) -> list[object]:
    return [job for job in cross_check.all_jobs(world) if job["lifecycle"] not in FINAL]


def _stuck(world: World) -> str:
    """Everything that may explain why a job does not end."""
    programs = {"server": world.server, **world.agents}
    logs = [f"{name}:\n{program.read_log()[-3_000:]}" for name, program in programs.items()]
    return "\n".join((str(_open(world)[:2]), str(world.hosts()), *logs))


def _compare_events(world: World, watcher: Watcher, requests: list[JobAttempt]) -> None:
    jobs = [world.job(attempt.job_id) for attempt in requests]
    until(lambda: watcher.fault or all(map(watcher.has_heard, jobs)), 20)
    watcher.leave()
    assert watcher.fault is None
    assert watcher.resyncs == 0
    assert watcher.cursors == sorted(set(watcher.cursors)), "an event came twice, or out of order"
    for job in jobs:
        watcher.check(job)
