"""One host rolled back to a snapshot of its disk: nothing that started since runs again."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.programs import Agent, run
from e2e.traced_job import TracedJob, list_unconfirmed
from e2e.wait_until import until
from e2e.world import World

JOBS = 5
SLOTS = JOBS + 1


@pytest.fixture
def world(tmp_path: Path, database: str) -> Iterator[World]:
    with World(tmp_path, database) as new_world:
        new_world.start()
        yield new_world


class Snapshot:
    """A copy of the agent's disk."""

    def __init__(self, world: World, agent: Agent) -> None:
        self._world, self._agent = world, agent
        self._folder = world.folder / "snapshot"
        shutil.copytree(agent.state, self._folder, ignore=shutil.ignore_patterns("*.sock"))

    def restore(self) -> None:
        """As after a power cut: every process of the host is gone, then it boots with the copy."""
        self._agent.end()
        shutil.rmtree(self._agent.state)
        shutil.copytree(self._folder, self._agent.state)
        self._agent.start(self._world.url, "--slots", str(SLOTS))
        self._world.wait_connected(self._agent)


@pytest.mark.limit(120)
def test_nothing_that_started_after_the_snapshot_runs_again(world: World) -> None:
    web = world.agent("web", "--slots", str(SLOTS))
    before = TracedJob(world, web, "before").create().begins()
    until(lambda: list_unconfirmed(web) == [before.job_id])
    snapshot = Snapshot(world, web)
    ended = TracedJob(world, web, "ended").create()
    assert ended.ends()["state"] == "normal"
    running = [TracedJob(world, web, f"running-{number}").create() for number in range(JOBS)]
    for job in running:
        # Without the report of the start, the server could not know that it ran.
        world.wait_running(job.begins().job_id)
    queued = TracedJob(world, web, "queued").create()
    snapshot.restore()
    for job in (before, *running):
        record = job.ends()
        assert (record["state"], record["ran"]) == ("lost", "maybe"), record
    assert queued.ends()["state"] == "normal"
    assert TracedJob(world, web, "later").create().ends()["state"] == "normal"
    assert ended.record["state"] == "normal"
    assert [job.starts for job in (before, ended, *running, queued)] == [1] * (JOBS + 3)
    check_reports(world, web)


@pytest.mark.limit(120)
def test_a_host_that_is_rolled_back_twice_runs_nothing_again(world: World) -> None:
    """The second time, the journal has fewer hellos than the one that replaced it."""
    web = world.agent("web", "--slots", str(SLOTS))
    snapshot = Snapshot(world, web)
    for name in ("first", "second"):
        job = TracedJob(world, web, name).create().begins()
        world.wait_running(job.job_id)
        snapshot.restore()
        record = job.ends()
        assert (record["state"], record["ran"], job.starts) == ("lost", "maybe", 1), record
    check_reports(world, web)


def check_reports(world: World, agent: Agent) -> None:
    """The host page and doctor name the rollback; the database is consistent."""
    [host] = world.api.get("/-/board/hosts")
    assert [warning["code"] for warning in host["warnings"]] == ["journal_rolled_back"]
    world.doctor()
    result = run("doctor", "--data", str(world.server.data), "--json", **world.server.env).stdout
    [finding] = [item for item in json.loads(result) if item["check"] == "journals"]
    assert f"The agent journal of host {agent.hostname}" in finding["found"]
    assert f"belvedere job list --host {agent.hostname} --state lost" in finding["advice"]
