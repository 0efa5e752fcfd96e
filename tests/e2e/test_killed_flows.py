"""SIGKILL for `belvedere up` while approvals are decided and workflows continue: nothing accepted
is lost, no step runs twice, every answered decision is kept, every workflow ends as it must."""

import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e import cross_check, ledger, process_leaks, unrequested_jobs
from e2e.flows import EDGES, Flow, Person, WorkflowTasks
from e2e.wait_until import until
from e2e.world import FINAL, World

pytestmark = pytest.mark.heavy
Job = dict[str, Any]
VERBS = ("create", "start", "advance", "vote", "finish")
POINTS = tuple(f"{verb}.{when}_commit" for verb in VERBS for when in ("before", "after"))
FIRST_POINT = "advance.before_commit"
# What a kill at any moment affects: the process of server and agent, its process group, or all
# processes, as when the machine loses power. Only the last one may lose scripts that were running.
VICTIMS = ("process", "group", "machine")
LIFE_S = (0.1, 1.5)
# Every flow passes every point; it is reached, however slow the machine is.
POINT_S = 60.0


@pytest.fixture
def world(database: str, tmp_path: Path) -> Iterator[World]:
    with World(tmp_path, database, verb="up") as new_world:
        yield new_world


@pytest.mark.limit(300)
def test_killed_workflows_are_consistent(world: World) -> None:
    _kill(world, rounds=2, seed=random.randrange(1 << 32))


@pytest.mark.prove
@pytest.mark.limit(3_600)
def test_many_killed_workflows_are_consistent(world: World) -> None:
    _kill(world, rounds=100, seed=random.randrange(1 << 32))


def _kill(world: World, rounds: int, seed: int) -> None:
    print(f"seed {seed}")
    world.start("--no-demo")
    plant = WorkflowTasks.build(world, world.local_agent())
    person = Person(world.person(), plant, seed)
    person.start()
    try:
        deaths = _kill_server(world, rounds, random.Random(seed))
    except AssertionError as fault:
        # Points are not reached once the person has given up; then that is the cause.
        raise person.fault or fault from fault
    flows = person.finish()
    _settle(world)
    ends = Counter(_check(world, plant, flow, "machine" in deaths) for flow in flows)
    _check_runs(world, plant, flows)
    print(f"{len(flows)} flows: {dict(ends)}; {dict(deaths)}")
    world.doctor()


def _kill_server(world: World, rounds: int, dice: random.Random) -> Counter[str]:
    """In each round kill it at any moment, and let the next process die at a point; at the end it
    keeps running."""
    deaths: Counter[str] = Counter()
    # First where an event could be lost if its cursor moved before its effect.
    points = [FIRST_POINT, *dice.choices(POINTS, k=rounds - 1)]
    for point in points:
        victim = dice.choice(VICTIMS)
        time.sleep(dice.uniform(*LIFE_S))
        _end(world, victim)
        is_there = world.start(BELVEDERE_FAILPOINT=f"{point}:{dice.randint(1, 3)}")
        assert not is_there or world.server.dies(POINT_S), f"{point} was not reached"
        assert world.start(), world.server.read_log()[-2_000:]
        deaths.update([victim, point])
    world.wait_connected(world.agents["local"])
    return deaths


def _end(world: World, victim: str) -> None:
    server = world.server
    if victim == "process":
        os.kill(server.pid, signal.SIGKILL)
    else:
        os.killpg(server.pid, signal.SIGKILL)
    if victim == "machine":
        state = world.agents["local"].state
        for pid in (*process_leaks.keepers(state), *process_leaks.scripts(state)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        until(lambda: not process_leaks.of_folder(world.folder), 10)
    server.process.wait()


def _settle(world: World) -> None:
    """Until everything has ended. A person resolves each lost job as failed."""

    def is_over() -> bool:
        jobs = cross_check.all_jobs(world)
        for job in jobs:
            if job["state"] == "lost":
                assert job["reason"] == "keeper_lost", job
                world.api.put(f"/job/{job['id']}/resolve", {"outcome": "failure"})
        return all(job["lifecycle"] in FINAL and job["state"] != "lost" for job in jobs)

    until(is_over, 60, lambda: _stuck(world), pause_s=0.2)


def _stuck(world: World) -> str:
    jobs = [job for job in cross_check.all_jobs(world) if job["lifecycle"] not in FINAL]
    return f"{jobs[:3]}\n{world.server.read_log()[-4_000:]}"


def _check(world: World, plant: WorkflowTasks, flow: Flow, may_lose: bool) -> str:
    """How it ended, which must be the expected end."""
    job = world.job(flow.job_id)
    steps = _steps(world, plant, flow)
    # A person resolved a lost job like this.
    is_lost = any(
        item["resolved_by"] for item in (job, *(world.job(id_) for id_ in steps.values()))
    )
    story = (flow, job, steps)
    assert may_lose or not is_lost, story
    if flow.vote_id:
        vote = world.job(flow.vote_id)
        expected = "success" if flow.decision == "approve" else "failure"
        assert (vote["lifecycle"], vote["state"]) == ("finished", expected), (vote, story)
    is_good = not is_lost and (flow.decision == "approve" or not flow.vote_id)
    good = ("success",) if flow.kind == "approval" else ("normal",)
    assert job["lifecycle"] == "finished", story
    assert (job["state"] in good) == is_good and (is_good or job["state"] == "failure"), story
    if is_good:
        assert set(steps) == _nodes(flow.kind), story
    elif not is_lost and flow.kind == "gated":
        assert set(steps) == {"a", "ask"}, story
    return f"{flow.kind}/{'lost' if is_lost else job['state']}"


def _nodes(kind: str) -> set[str]:
    return {name for edge in EDGES.get(kind, []) for name in edge.split("-")}


def _steps(world: World, plant: WorkflowTasks, flow: Flow) -> dict[str, str]:
    """The job of each node that was reached, each once."""
    if flow.kind not in EDGES:
        return {}
    path = f"/workflows/{plant.workflows[flow.kind]}/job/{flow.job_id}"
    steps = world.api.get(f"{path}/steps")
    fields = {step["node_id"]: step["job_id"] for step in steps}
    assert len(fields) == len(steps), steps
    assert len(world.api.get(f"{path}/jobs")) == len(steps), "a step has two jobs"
    return fields


def _check_runs(world: World, plant: WorkflowTasks, flows: list[Flow]) -> None:
    """As the scripts recorded: each ran once, those that were lost at most once."""
    runs = ledger.read(world.folder / "ledger")
    scripts: dict[str, Job] = {}
    job_ids = {flow.job_id for flow in flows}
    assert len(job_ids) == len(flows), "one job answers for two keys"
    for flow in flows:
        steps = _steps(world, plant, flow)
        job_ids |= set(steps.values())
        ids = [id_ for node, id_ in steps.items() if node != "ask"]
        ids += [flow.job_id] if flow.kind == "script" else []
        scripts |= {job_id: world.job(job_id) for job_id in ids}
    stored_ids = {job["id"] for job in cross_check.all_jobs(world)}
    assert not job_ids - stored_ids, f"only requested: {job_ids - stored_ids}"
    unrequested = stored_ids - job_ids
    assert not unrequested, unrequested_jobs.explain(world, unrequested, [])
    assert set(runs) <= set(scripts)
    for job_id, job in scripts.items():
        count = len(runs.get(job_id, []))
        assert count <= 1 if job["resolved_by"] else count == 1, (job, runs.get(job_id))
