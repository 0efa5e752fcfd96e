"""Failovers of PostgreSQL again and again: kill -9 of the primary, promotion of the standby, and a
new standby in place of the old primary. The same for two servers that the test promotes itself, and
for machines with Patroni."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from belvedere.client.errors import Problem
from belvedere.client.http_client import Client
from e2e import ledger
from e2e.programs import Agent
from e2e.traced_job import TracedJob
from e2e.wait_until import until
from e2e.world import FINAL, World

# Jobs that are accepted before each failover.
JOBS = 10
WAIT_S = 90.0


class Cluster(Protocol):
    """A primary and a standby. Each call returns when it is done."""

    def url(self, database: str) -> str: ...

    def make_synchronous(self) -> None: ...

    def is_in_step(self) -> bool: ...

    def fall_behind(self) -> None: ...

    def fail_over(self) -> None: ...

    def replace_primary(self) -> None: ...


@contextmanager
def open_world(cluster: Cluster, folder: Path) -> Iterator[World]:
    """A server on the database `belvedere` of the cluster."""
    with World(folder, cluster.url("belvedere")) as world:
        world.start()
        yield world


class JobSource(threading.Thread):
    """Creates one job after the other, and records those that the server accepted."""

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
    """The state of a job that has ended or is held; empty while it is open."""
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


def run_synchronous(cluster: Cluster, world: World, rounds: int) -> None:
    """No accepted job is lost or run twice."""
    agent = world.agent("web")
    path = world.folder / "ledger"
    path.touch()
    source = JobSource(world.client(), world.task(ledger.SCRIPT, agent, *ledger.ARGUMENTS), path)
    source.start()
    waits_s = []
    for number in range(rounds):
        cluster.make_synchronous()
        source.wait_for_more(JOBS)
        began = time.monotonic()
        cluster.fail_over()
        source.wait_for_more(1)
        waits_s.append(time.monotonic() - began)
        wait_working(world, agent)
        if number < rounds - 1:
            cluster.replace_primary()
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


def run_asynchronous(cluster: Cluster, world: World, rounds: int) -> None:
    """The standby has both jobs as queued. One script runs at the failover: the agent's journal has
    it, so the job gets its result. The other one has ended, and the agent has deleted it: its job
    is held until a person decides."""
    agent = world.agent("web")
    states: Counter[str] = Counter()
    for number in range(rounds):
        set_host(world, agent, "disable")
        running = TracedJob(world, agent, f"running {number}").create()
        ended = TracedJob(world, agent, f"ended {number}").create()
        until(cluster.is_in_step, WAIT_S)
        cluster.fall_behind()
        set_host(world, agent, "enable")
        running.begins()
        assert ended.ends()["state"] == "normal"
        cluster.fail_over()
        until(lambda: is_ready(world), WAIT_S)
        # The first one was lost.
        set_host(world, agent, "enable")
        wait_working(world, agent)
        assert running.ends()["state"] == "normal"
        states[settled_state(world, ended.job_id)] += 1
        assert (running.starts, ended.starts) == (1, 1)
        if number < rounds - 1:
            cluster.replace_primary()
    print(f"failovers={rounds} running: normal={rounds}, ended: {dict(states)}")
    assert states == {"held": rounds}
    world.doctor()
