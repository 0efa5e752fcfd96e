"""The whole life of a TheEye agent over a real socket, to its sudden end."""

import asyncio
from typing import Any

import run_timeouts
from belvedere.access.credentials import enrolment
from belvedere.server.background import loops
from belvedere.server.transport.http_protocol import KEEP_ALIVE_S
from contract.client import Client
from contract.running import create, show
from contract.wire import Socket, run_server
from contract.world import World
from legacy_agents.legacy_agent import LegacyAgent
from manual_clock import ManualClock

PATIENCE_S = 30


async def test_a_theeye_agent_stays_connected(
    world: World, ada: Client, clock: ManualClock
) -> None:
    runtime = world.runtime
    token, text = runtime.db.write_blocking(
        enrolment.create_enrolment, runtime.keyring, world.actors.ada
    )
    async with run_server(runtime) as port, asyncio.timeout(PATIENCE_S):
        wire = Socket(port)
        agent = LegacyAgent(wire, token.id, text)
        assert await agent.start() == []
        await _runs_two_jobs(world, agent, ada)
        await _watches(agent, ada)
        await _tells_of_its_machine(agent, ada)
        # One after the other on one connection, except for the requests that wait for jobs.
        assert wire.opened <= 2
        job = await _is_killed_with_a_job_in_hand(world, agent, ada)
        await wire.hang_up()
        await _is_given_up(world, ada, clock, job)


async def _runs_two_jobs(world: World, agent: LegacyAgent, ada: Client) -> None:
    task = await world.task(hostname="old-1", task_arguments=[{"type": "input", "label": "n"}])
    items = [await create(ada, task, [word]) for word in ("it's one", "two")]
    jobs = await agent.poll()
    assert [job["id"] for job in jobs] == [job["id"] for job in items]
    assert [job["task_arguments_values"] for job in jobs] == [["it's one"], ["two"]]
    assert (await agent.keep_alive()).status == 204
    for job in jobs:
        assert await agent.fetch(job) == b"#!/bin/sh\necho hello\n"
        assert (await agent.finish(job, "ok", lastline="ok")).status == 200
        assert (await show(ada, job["id"]))["state"] == "success"


async def _watches(agent: LegacyAgent, ada: Client) -> None:
    """A monitor is created while a request waits; the response tells the agent to read its
    configuration."""
    hosts = (await ada.get("/acme/host?where[hostname]=old-1")).json
    body = {"name": "health", "type": "dstat", "host_id": hosts[0]["id"]}
    question = asyncio.create_task(agent.poll())
    monitor = (await ada.post("/acme/monitor", body)).json
    (update,) = await question
    assert update["_type"] == "AgentUpdateJob"
    (worker,) = await agent.update_config(update)
    assert (worker["type"], worker["resource_id"]) == ("dstat", monitor["id"])
    fields: dict[str, Any] = {
        "cpu": 0,
        "mem": 3.6,
        "cache": None,
        "disk": [{"name": "vda", "value": 1}],
    }
    response = await agent.report(worker["resource_id"], "normal", "host:stats:normal", **fields)
    assert response.status == 200
    record = (await ada.get(f"/acme/monitor/{monitor['id']}")).json
    # A host without swap reports null, which means 0.
    actual_fields = {**fields, "cache": 0}
    assert (record["state"], record["resource"]["last_event"]["data"]) == ("normal", actual_fields)


async def _tells_of_its_machine(agent: LegacyAgent, ada: Client) -> None:
    for target, body in (
        ("/acme/dstat/old-1", {"dstat": {"cpu_used": 0, "mem_total": 24_682_740}}),
        ("/acme/psaux/old-1", {"psaux": [{"user": "root", "pid": "1", "command": "init"}] * 400}),
    ):
        assert (await agent.send("POST", target, body)).status == 200


async def _is_killed_with_a_job_in_hand(world: World, agent: LegacyAgent, ada: Client) -> str:
    job = await create(ada, await world.task(hostname="old-1", timeout=60_000))
    (item,) = await agent.poll()
    assert item["id"] == job["id"]
    return item["id"]  # type: ignore[no-any-return]


async def _is_given_up(world: World, ada: Client, clock: ManualClock, job_id: str) -> None:
    """First marked as unreachable, then lost: the outcome is unknown."""
    clock.move(31)
    await loops.record_seen(world.runtime)
    run_timeouts.mark_silent(world.runtime.db)
    await loops.mark_silent(world.runtime)
    run_timeouts.lose_overdue(world.runtime.db)
    marked = await show(ada, job_id)
    assert (marked["lifecycle"], marked["waiting_reason"]) == ("assigned", "unreachable")
    clock.move(60 + 5 + 60)
    run_timeouts.lose_overdue(world.runtime.db)
    lost = await show(ada, job_id)
    assert (lost["lifecycle"], lost["state"], lost["ran"]) == ("terminated", "lost", "maybe")
    hosts = (await ada.get("/acme/host?where[hostname]=old-1")).json
    assert hosts[0]["state"] == "unreachable"


def test_idle_connections_live_longer_than_its_loops() -> None:
    """With five seconds, three of ninety of its reports were lost to a closed connection."""
    assert KEEP_ALIVE_S > 30


async def test_a_body_may_come_in_chunks(world: World, ada: Client) -> None:
    """As programs upload that do not know the length."""
    headers = {
        "authorization": f"Bearer {world.credential('token')}",
        "content-type": "multipart/form-data; boundary=cut",
    }
    form = (
        b'--cut\r\nContent-Disposition: form-data; name="file"; filename="a.sh"\r\n\r\n'
        b"#!/bin/sh\necho a\n\r\n--cut\r\n"
        b'Content-Disposition: form-data; name="description"\r\n\r\nhello\r\n--cut--\r\n'
    )
    async with run_server(world.runtime) as port:
        wire = Socket(port)
        pieces = [form[at : at + 7] for at in range(0, len(form), 7)]
        response = await wire.request("POST", "/acme/file", headers=headers, pieces=pieces)
        await wire.hang_up()
    assert (response.status, response.json["filename"], response.json["description"]) == (
        200,
        "a.sh",
        "hello",
    )
    answer = await ada.get(f"/acme/file/{response.json['id']}/download")
    assert answer.body == b"#!/bin/sh\necho a\n"
