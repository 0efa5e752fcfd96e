"""PostgreSQL fails over again and again: kill -9 of the primary, promotion of the standby, and a
new standby in place of the old primary."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import engines
import pgpair
from belvedere.client.errors import Problem
from belvedere.client.http_client import Client
from e2e import ledger
from e2e.programs import Agent
from e2e.traced_job import TracedJob
from e2e.wait_until import until
from e2e.world import FINAL, World
from pgpair import PostgresPair

pytestmark = [pytest.mark.heavy, pytest.mark.limit(240)]
LONG = [pytest.mark.prove, pytest.mark.limit(1_800)]
# Jobs that are accepted before each failover.
JOBS = 10
WAIT_S = 90.0


@pytest.fixture
def postgres_pair() -> Iterator[PostgresPair]:
    with pgpair.postgres_pair() as new_postgres_pair:
        engines.create_migrated(new_postgres_pair.primary.url(), "belvedere")
        new_postgres_pair.start_standby()
        yield new_postgres_pair


@pytest.fixture
def world(postgres_pair: PostgresPair, tmp_path: Path) -> Iterator[World]:
    with World(tmp_path, postgres_pair.url("belvedere")) as new_world:
        new_world.start()
        yield new_world


class JobSource(threading.Thread):
    """Creates one job after the other, and remembers those that the server accepted."""

    def __init__(self, client: Client, task_id: str, path: Path) -> None:
        super().__init__(daemon=True)
        self._client = client
        self._body = {"task": task_id, "task_arguments": [str(path), "0", "0", "1"]}
        self._stop_request = threading.Event()
        self.accepted: list[str] = []
        self.refused = 0

    def run(self) -> None:
        while not self._stop_request.wait(0.02):
            try:
                self.accepted.append(self._client.post("/job", self._body)["id"])
            except Problem:
                self.refused += 1
        self._client.close()

    def wait_for_more(self, count: int) -> None:
        target = len(self.accepted) + count
        until(lambda: len(self.accepted) >= target, WAIT_S, lambda: len(self.accepted))

    def finish(self) -> list[str]:
        self._stop_request.set()
        self.join(60)
        assert not self.is_alive()
        return self.accepted


def is_ready(world: World) -> bool:
    try:
        return bool(world.api.request("GET", "/-/ready").status == 200)
    except Problem:
        return False


def wait_working(world: World, agent: Agent) -> None:
    until(lambda: is_ready(world), WAIT_S)
    until(lambda: _is_connected(world, agent), WAIT_S)


def _is_connected(world: World, agent: Agent) -> bool:
    try:
        return bool(world.wait_connected(agent))
    except Problem:
        return False


def settled_state(world: World, job_id: str) -> str:
    """The state of a job that has ended or is held; empty while it goes on."""
    try:
        job = world.job(job_id)
    except Problem as refusal:
        return "missing" if refusal.status == 404 else ""
    if job["lifecycle"] in FINAL:
        return str(job["state"])
    return "held" if job["waiting_reason"] == "restored" else ""


def wait_settled(world: World, job_ids: list[str]) -> dict[str, str]:
    return {
        job_id: until(lambda job_id=job_id: settled_state(world, job_id), WAIT_S)  # type: ignore[misc]
        for job_id in job_ids
    }


@pytest.mark.parametrize("rounds", [2, pytest.param(10, marks=LONG)])
def test_a_synchronous_failover_loses_no_accepted_job(
    postgres_pair: PostgresPair, world: World, rounds: int
) -> None:
    agent = world.agent("web")
    path = world.folder / "ledger"
    path.touch()
    source = JobSource(world.client(), world.task(ledger.SCRIPT, agent, *ledger.ARGUMENTS), path)
    source.start()
    waits_s = []
    for number in range(rounds):
        postgres_pair.make_synchronous()
        source.wait_for_more(JOBS)
        began = time.monotonic()
        postgres_pair.fail_over()
        source.wait_for_more(1)
        waits_s.append(time.monotonic() - began)
        wait_working(world, agent)
        if number < rounds - 1:
            postgres_pair.replace_primary()
    states = wait_settled(world, source.finish())
    runs = ledger.read(path)
    print(
        f"failovers={rounds} accepted={len(states)} refused={source.refused}"
        f" states={dict(Counter(states.values()))} longest wait={max(waits_s):.1f} s"
    )
    assert "missing" not in states.values()
    assert {job_id for job_id in states if len(runs[job_id]) > 1} == set()
    assert {j for j, state in states.items() if state == "normal" and not runs[j]} == set()
    assert Counter(states.values())["normal"] > rounds * JOBS / 2
    world.doctor()


def set_host(world: World, agent: Agent, verb: str) -> None:
    [host] = [host for host in world.hosts() if host["hostname"] == agent.hostname]
    world.api.put(f"/host/{host['id']}/{verb}")


@pytest.mark.parametrize("rounds", [1, pytest.param(5, marks=LONG)])
def test_an_asynchronous_failover_runs_nothing_twice(
    postgres_pair: PostgresPair, world: World, rounds: int
) -> None:
    """The standby has both jobs as queued. One script runs at the failover: the agent's journal has
    it, so the job gets its result. The other one has ended, and the agent has forgotten it: its job
    is held until a person decides."""
    agent = world.agent("web")
    states: Counter[str] = Counter()
    for number in range(rounds):
        set_host(world, agent, "disable")
        running = TracedJob(world, agent, f"running {number}").create()
        ended = TracedJob(world, agent, f"ended {number}").create()
        until(postgres_pair.is_in_step, WAIT_S)
        postgres_pair.fall_behind()
        set_host(world, agent, "enable")
        running.begins()
        assert ended.ends()["state"] == "normal"
        postgres_pair.fail_over()
        until(lambda: is_ready(world), WAIT_S)
        # The first one was lost.
        set_host(world, agent, "enable")
        wait_working(world, agent)
        assert running.ends()["state"] == "normal"
        states[settled_state(world, ended.job_id)] += 1
        assert (running.starts, ended.starts) == (1, 1)
        if number < rounds - 1:
            postgres_pair.replace_primary()
    print(f"failovers={rounds} running: normal={rounds}, ended: {dict(states)}")
    assert states == {"held": rounds}
    world.doctor()
