"""A TheEye agent has no journal: after a failover that lost commits, nothing shows what it ran."""

from typing import Any

import pytest

from belvedere.db import Tx, installation
from belvedere.hosts import restored
from belvedere.jobs.recovery import restore
from contract.client import Client
from contract.running import create, show
from contract.world import World
from legacy_agents.legacy_agent import LegacyAgent
from legacy_agents.test_protocol import agent_of, short_polls  # noqa: F401

pytestmark = pytest.mark.usefixtures("short_polls")


@pytest.fixture
def legacy_agent(world: World) -> LegacyAgent:
    return agent_of(world)


async def create_job(world: World, client: Client, agent: LegacyAgent) -> dict[str, Any]:
    await agent.start()
    return await create(client, await world.task(hostname=agent.hostname))


def fail_over(tx: Tx) -> None:
    restored.mark_failover(tx, installation.raise_epoch(tx))


async def test_after_a_failover_ready_jobs_are_held(
    world: World, uma: Client, ada: Client, legacy_agent: LegacyAgent
) -> None:
    """The claim, and perhaps the end, of this job may be among the lost commits."""
    job = await create_job(world, uma, legacy_agent)
    await world.runtime.db.write(fail_over)
    assert await legacy_agent.poll() == []
    held_job = await show(uma, job["id"])
    assert (held_job["lifecycle"], held_job["waiting_reason"]) == ("onhold", "restored")
    [row] = (await ada.get("/acme/job/held")).json["jobs"]
    assert (row["id"], row["evidence"]) == (job["id"], "no_journal")
    # Once: what is created or released from now on runs.
    later = await create(uma, held_job["task_id"])
    assert [item["id"] for item in await legacy_agent.poll()] == [later["id"]]


async def test_after_a_restore_released_jobs_run(
    world: World, uma: Client, ada: Client, legacy_agent: LegacyAgent
) -> None:
    job = await create_job(world, uma, legacy_agent)
    await world.runtime.db.write(restore.mark_restored)
    await world.runtime.db.write(restore.hold_after_restore)
    assert await legacy_agent.poll() == []
    assert (await show(uma, job["id"]))["lifecycle"] == "onhold"
    answer = await ada.put(f"/acme/job/{job['id']}/release")
    assert answer.status == 200, answer.body
    assert [item["id"] for item in await legacy_agent.poll()] == [job["id"]]


async def test_nothing_is_claimed_while_lost_work_is_recovered(
    world: World, uma: Client, legacy_agent: LegacyAgent
) -> None:
    job = await create_job(world, uma, legacy_agent)
    world.runtime.admits_agents = False
    assert await legacy_agent.poll() == []
    target = f"/task/{job['task_id']}/job/queue?hostname={legacy_agent.hostname}&customer=acme"
    assert (await legacy_agent.send("GET", target)).json == []
    world.runtime.admits_agents = True
    assert [item["id"] for item in await legacy_agent.poll()] == [job["id"]]


async def test_nothing_is_claimed_if_the_failover_is_noticed_while_a_claim_waits(
    world: World, uma: Client, legacy_agent: LegacyAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = await create_job(world, uma, legacy_agent)
    write = world.runtime.db.write

    async def fail_over_and_write(*a: Any, **k: Any) -> Any:
        world.runtime.admits_agents = False
        return await write(*a, **k)

    target = f"/task/{job['task_id']}/job/queue?hostname={legacy_agent.hostname}&customer=acme"
    monkeypatch.setattr(world.runtime.db, "write", fail_over_and_write)
    assert await legacy_agent.poll() == []
    world.runtime.admits_agents = True
    assert (await legacy_agent.send("GET", target)).json == []
    assert (await show(uma, job["id"]))["lifecycle"] == "ready"
