"""A TheEye agent that sends too much, too often, or for jobs that have ended."""

import asyncio
from typing import Any

import pytest

from belvedere.access.credentials import enrolment
from belvedere.legacy_agents import job_reports, polling
from belvedere.legacy_agents.registration import LegacyServices
from belvedere.server.agents import handshakes
from belvedere.server.agents.handshakes import Handshakes
from contract.client import Client
from contract.running import create, show
from contract.world import World
from legacy_agents.legacy_agent import LegacyAgent


@pytest.fixture
def legacy_agent(world: World, monkeypatch: pytest.MonkeyPatch) -> LegacyAgent:
    monkeypatch.setattr(polling, "MAX_WAIT_S", 0.05)
    token, text = world.runtime.db.write_blocking(
        enrolment.create_enrolment, world.runtime.keyring, world.actors.ada, "old agents", 1
    )
    return LegacyAgent(world.client(), token.id, text)


async def take_job(world: World, legacy_agent: LegacyAgent, client: Client) -> dict[str, Any]:
    await legacy_agent.start()
    await create(client, await world.task(hostname=legacy_agent.hostname))
    (item,) = await legacy_agent.poll()
    return dict(item)


async def test_no_long_body_is_read_for_a_job_that_is_over(
    world: World, legacy_agent: LegacyAgent, ada: Client
) -> None:
    job = await take_job(world, legacy_agent, ada)
    assert (await legacy_agent.finish(job, "success")).status == 200
    before = await show(ada, job["id"])
    long = {"result": {"state": "failure", "data": {"log": "x" * (2 << 20)}}}
    refused = await legacy_agent.send("PUT", f"/acme/job/{job['id']}", long)
    assert (refused.status, refused.json["code"]) == (413, "too_large")
    short = {"result": {"state": "failure", "data": {"log": "forged"}}}
    assert (await legacy_agent.send("PUT", f"/acme/job/{job['id']}", short)).status == 200
    assert await show(ada, job["id"]) == before
    assert (await ada.get(f"/acme/job/{job['id']}/log")).text == "hello\n"


async def test_bodies_of_one_host_are_limited_together(
    world: World, legacy_agent: LegacyAgent, ada: Client
) -> None:
    job = await take_job(world, legacy_agent, ada)
    host_id = (await show(ada, job["id"]))["host_id"]
    busy: dict[Any, tuple[str, int]] = world.runtime.of(LegacyServices).ends_in_progress
    busy[asyncio.create_task(asyncio.sleep(0))] = (host_id, job_reports.MAX_IN_PROGRESS)
    assert (await legacy_agent.finish(job, "success")).status == 429
    busy.clear()
    assert (await legacy_agent.finish(job, "success")).status == 200


async def test_a_request_that_is_over_counts_no_more(
    world: World, legacy_agent: LegacyAgent, ada: Client
) -> None:
    job = await take_job(world, legacy_agent, ada)
    await asyncio.create_task(legacy_agent.finish(job, "success"))
    await asyncio.sleep(0)
    assert not world.runtime.of(LegacyServices).ends_in_progress


async def test_registrations_have_a_rate(
    world: World, legacy_agent: LegacyAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshakes, "MAX_HELLOS_PER_MINUTE", 3)
    world.runtime.handshakes = Handshakes()
    await legacy_agent.sign_in()
    body = {"hostname": legacy_agent.hostname, "version": "2.1.1", "info": legacy_agent.info}
    status = [(await legacy_agent.send("POST", "/acme/host", body)).status for _ in range(6)]
    assert status.count(429) >= 2 and status[0] == 200


async def test_open_polls_of_one_host_are_limited(
    world: World, legacy_agent: LegacyAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    await legacy_agent.start()
    monkeypatch.setattr(handshakes, "MAX_WAITING", 2)
    monkeypatch.setattr(polling, "MAX_WAIT_S", 1.0)
    target = f"/acme/job?hostname={legacy_agent.hostname}"
    responses = await asyncio.gather(*[legacy_agent.send("GET", target) for _ in range(5)])
    assert sorted(item.status for item in responses) == [200, 200, 429, 429, 429]
