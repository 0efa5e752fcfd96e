"""An agent of the original system that sends too much, too often, or for jobs that are over."""

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
from legacy_agents.legacy_agent import OldAgent


@pytest.fixture
def old(world: World, monkeypatch: pytest.MonkeyPatch) -> OldAgent:
    monkeypatch.setattr(polling, "MAX_WAIT_S", 0.05)
    made, text = world.runtime.db.write_blocking(
        enrolment.create_enrolment, world.runtime.keyring, world.actors.ada, "old agents", 1
    )
    return OldAgent(world.client(), made.id, text)


async def given(world: World, old: OldAgent, client: Client) -> dict[str, Any]:
    await old.start()
    await create(client, await world.task(hostname=old.hostname))
    (found,) = await old.poll()
    return dict(found)


async def test_no_long_body_is_read_for_a_job_that_is_over(
    world: World, old: OldAgent, ada: Client
) -> None:
    job = await given(world, old, ada)
    assert (await old.finish(job, "success")).status == 200
    before = await show(ada, job["id"])
    long = {"result": {"state": "failure", "data": {"log": "x" * (2 << 20)}}}
    refused = await old.send("PUT", f"/acme/job/{job['id']}", long)
    assert (refused.status, refused.json["code"]) == (413, "too_large")
    short = {"result": {"state": "failure", "data": {"log": "forged"}}}
    assert (await old.send("PUT", f"/acme/job/{job['id']}", short)).status == 200
    assert await show(ada, job["id"]) == before
    assert (await ada.get(f"/acme/job/{job['id']}/log")).text == "hello\n"


async def test_bodies_of_one_host_are_limited_together(
    world: World, old: OldAgent, ada: Client
) -> None:
    job = await given(world, old, ada)
    host_id = (await show(ada, job["id"]))["host_id"]
    busy: dict[Any, tuple[str, int]] = world.runtime.of(LegacyServices).ends_in_progress
    busy[asyncio.create_task(asyncio.sleep(0))] = (host_id, job_reports.MAX_IN_PROGRESS)
    assert (await old.finish(job, "success")).status == 429
    busy.clear()
    assert (await old.finish(job, "success")).status == 200


async def test_a_request_that_is_over_counts_no_more(
    world: World, old: OldAgent, ada: Client
) -> None:
    job = await given(world, old, ada)
    await asyncio.create_task(old.finish(job, "success"))
    await asyncio.sleep(0)
    assert not world.runtime.of(LegacyServices).ends_in_progress


async def test_registrations_have_a_rate(
    world: World, old: OldAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshakes, "MAX_HELLOS_PER_MINUTE", 3)
    world.runtime.handshakes = Handshakes()
    await old.sign_in()
    body = {"hostname": old.hostname, "version": "2.1.1", "info": old.info}
    found = [(await old.send("POST", "/acme/host", body)).status for _ in range(6)]
    assert found.count(429) >= 2 and found[0] == 200


async def test_open_polls_of_one_host_are_limited(
    world: World, old: OldAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    await old.start()
    monkeypatch.setattr(handshakes, "MAX_WAITING", 2)
    monkeypatch.setattr(polling, "MAX_WAIT_S", 1.0)
    target = f"/acme/job?hostname={old.hostname}"
    found = await asyncio.gather(*[old.send("GET", target) for _ in range(5)])
    assert sorted(item.status for item in found) == [200, 200, 429, 429, 429]
