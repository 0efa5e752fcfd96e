"""The primary PostgreSQL is lost with commits that its asynchronous standby never got. They are
lost by definition, as in a restored backup; but nothing may run twice silently, no fence may be
used twice, and the server continues by itself with the standby."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e import failovers, ledger
from e2e.programs import Agent
from e2e.wait_until import until
from e2e.watcher import Watcher
from e2e.world import FINAL, World
from pgpair import PostgresPair

pytestmark = [pytest.mark.heavy, pytest.mark.limit(120)]
# PostgreSQL logs a sequence 32 numbers ahead: it may assign so many again after a failover.
LOGGED_AHEAD = 32


@pytest.fixture
def world(postgres_pair: PostgresPair, tmp_path: Path) -> Iterator[World]:
    with failovers.open_world(postgres_pair, tmp_path) as new_world:
        yield new_world


class Site:
    """An agent with a task whose script records each run."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.agent: Agent = world.agent("web")
        self.path = world.folder / "ledger"
        self.path.touch()
        self.task = world.task(ledger.SCRIPT, self.agent, *ledger.ARGUMENTS)

    def start(self) -> str:
        return self.world.run(self.task, str(self.path), "0", "0", "1")

    def run(self) -> str:
        job_id = self.start()
        assert self.world.wait_ended(job_id)["state"] == "normal"
        return job_id

    def fences(self) -> list[int]:
        return [run.fence for runs in ledger.read(self.path).values() for run in runs]


def fall_behind(pair: PostgresPair) -> None:
    until(pair.is_in_step)
    pair.fall_behind()


def fail_over(pair: PostgresPair, world: World) -> None:
    pair.fail_over()
    until(lambda: failovers.is_ready(world), 30)


def test_no_fence_is_used_twice_after_a_failover(postgres_pair: PostgresPair, world: World) -> None:
    """More fences than a sequence is logged ahead are lost; none of them is used a second time, and
    work continues without a restart."""
    site = Site(world)
    before = site.run()
    fall_behind(postgres_pair)
    lost = [site.start() for _ in range(LOGGED_AHEAD + 8)]
    for job_id in lost:
        world.wait_ended(job_id)
    fail_over(postgres_pair, world)
    until(lambda: world.wait_connected(site.agent))
    again = [site.run() for _ in range(LOGGED_AHEAD + 8)]
    assert world.job(before)["state"] == "normal"
    runs = ledger.read(site.path)
    assert set(runs) == {before, *lost, *again}
    assert len(site.fences()) == len(set(site.fences())) == 1 + 2 * len(lost)
    world.doctor()


def test_an_end_that_was_lost_is_an_unknown_outcome(
    postgres_pair: PostgresPair, world: World
) -> None:
    """The standby has the job as assigned to the agent, which has reported its end, and has deleted
    it since."""
    site = Site(world)
    word = world.folder / "go on"
    source = '#!/bin/sh\nuntil test -e "$1"; do sleep 0.02; done\n'
    task = world.task(source, site.agent, "word")
    job_id = world.run(task, str(word))
    world.wait_running(job_id)
    fall_behind(postgres_pair)
    word.touch()
    assert world.wait_ended(job_id)["state"] == "normal"
    fail_over(postgres_pair, world)
    job = world.wait_ended(job_id)
    assert (job["lifecycle"], job["state"], job["ran"]) == ("terminated", "lost", "maybe")
    assert len(job["attempts"]) == 1


def test_a_job_whose_claim_was_lost_is_held(postgres_pair: PostgresPair, world: World) -> None:
    """The standby has it as queued, but it has run: it must not run again by itself."""
    site = Site(world)
    [host] = [host for host in world.hosts() if host["hostname"] == site.agent.hostname]
    world.api.put(f"/host/{host['id']}/disable")
    job_id = site.start()
    fall_behind(postgres_pair)
    world.api.put(f"/host/{host['id']}/enable")
    assert world.wait_ended(job_id)["state"] == "normal"
    fail_over(postgres_pair, world)
    until(lambda: world.job(job_id)["waiting_reason"] == "restored", 30)
    world.api.put(f"/host/{host['id']}/enable")
    later = site.run()
    assert {job: len(runs) for job, runs in ledger.read(site.path).items()} == {job_id: 1, later: 1}
    world.doctor()


def test_streams_and_consumers_go_on(postgres_pair: PostgresPair, world: World) -> None:
    """Numbers of transactions and events begin again at the position of the standby: a reader with
    a later cursor must not wait until it is reached."""
    site = Site(world)
    watcher = Watcher(world.client())
    watcher.start()
    until(lambda: site.run() and watcher.jobs)
    fall_behind(postgres_pair)
    lost = [site.start() for _ in range(40)]
    until(lambda: watcher.jobs.keys() >= set(lost))
    for job_id in lost:
        world.wait_ended(job_id)
    fail_over(postgres_pair, world)
    until(lambda: world.wait_connected(site.agent))
    # Once on the old connection, and once after it has reconnected: from then on it misses nothing.
    until(lambda: watcher.resyncs >= 2, 30, lambda: world.server.read_log()[-3_000:])
    job = world.job(site.run())
    until(lambda: watcher.has_heard(job), 30)
    watcher.leave()
    watcher.check(job)
    assert {job["lifecycle"] for job in world.api.get("/job")} <= set(FINAL)


def test_a_task_whose_change_was_lost_runs_the_version_of_the_standby(
    postgres_pair: PostgresPair, world: World
) -> None:
    """Versions of the lost change are assigned again, to another change."""
    agent = world.agent("web")
    task = world.task('#!/bin/sh\necho "$WORD"\n', agent)
    fall_behind(postgres_pair)
    world.api.patch(f"/task/{task}", {"env": {"WORD": "lost"}})
    assert world.wait_ended(world.run(task))["state"] == "normal"
    fail_over(postgres_pair, world)
    until(lambda: world.wait_connected(agent))
    world.api.patch(f"/task/{task}", {"env": {"WORD": "new"}})
    job = world.wait_ended(world.run(task))
    assert world.log(job["id"]) == b"new\n"
