"""A host whose disk is full gets no work, says why, and resumes by itself."""

import asyncio
import json
from typing import Any

from belvedere.hosts import journal_warnings
from belvedere.jobs.lifecycle.finish import MAX_RETURNS
from belvedere.protocol import Heartbeat
from contract.client import Client
from contract.notifying import deliver_notices
from contract.running import create
from contract.world import World
from egress.fake_pool import FakeEgressPool

LACK = "/state has 5 bytes free; 16777216 are needed."


async def job_of(client: Client, job: dict[str, Any]) -> dict[str, Any]:
    return dict((await client.get(f"/acme/job/{job['id']}")).json)


async def until_host(client: Client, message: str) -> dict[str, Any]:
    """The host, when the server has recorded the agent's report."""
    async with asyncio.timeout(30):
        while True:
            hosts = (await client.get("/acme/host")).json
            [host] = [item for item in hosts if item["hostname"] == "web-1"]
            if host["disk_message"] == message:
                # The record that the host page shows.
                record = (await client.get(f"/acme/host/{host['id']}")).json
                names = ("disk_message", "disk_full_since")
                assert [record[name] for name in names] == [host[name] for name in names]
                return dict(host)
            await asyncio.sleep(0.01)


async def disk_events(world: World) -> list[tuple[str, dict[str, str]]]:
    rows = await world.runtime.db.read(
        lambda tx: tx.rows("select kind, data from events where kind like 'host.disk%' order by id")
    )
    return [(kind, json.loads(data)) for kind, data in rows]


async def test_a_host_with_a_full_disk_gets_work_when_it_has_space(
    world: World, uma: Client
) -> None:
    task = await world.task()
    async with world.agent(disk=LACK) as agent:
        job = await create(uma, task)
        waiting = await job_of(uma, job)
        assert (waiting["lifecycle"], waiting["waiting_reason"]) == ("ready", "host_disk_full")
        assert waiting["waiting_detail"]["message"] == LACK
        host = await until_host(uma, LACK)
        assert (host["state"], host["disk_full_since"] is None) == ("online", False)
        await agent.send_messages(Heartbeat([], disk=LACK), Heartbeat([], disk=""))
        order = await agent.order()
        assert order.job_id == job["id"]
        await agent.end(order)
        assert (await until_host(uma, ""))["disk_full_since"] is None
    assert await disk_events(world) == [
        ("host.disk_full", {"hostname": "web-1", "message": LACK}),
        ("host.disk_free", {"hostname": "web-1", "message": ""}),
    ]
    assert (await job_of(uma, job))["state"] == "normal"


async def test_a_rule_notifies_people_of_a_full_disk_with_the_reason(
    world: World, uma: Client
) -> None:
    world.runtime.egress = pool = FakeEgressPool()
    ada = world.client("ada")
    channel = {"name": "ops", "url": "https://example.com/hook"}
    channel_id = (await ada.post("/acme/notify/channel", channel)).json["id"]
    rule = {
        "name": "disks",
        "channels": [channel_id],
        "group": 0,
        "kinds": ["host.disk_full", "host.disk_free"],
    }
    assert (await ada.post("/acme/notify/rule", rule)).status == 201
    async with world.agent(disk=LACK) as agent:
        host = await until_host(uma, LACK)
        await deliver_notices(world.runtime)
        await agent.send_messages(Heartbeat([], disk=LACK), Heartbeat([], disk=""))
        await until_host(uma, "")
        await deliver_notices(world.runtime)
    full, free = pool.sent
    assert "web-1" in full.title and "disk is full" in full.title
    assert LACK in full.body and f"/ui/acme/hosts/{host['id']}" in full.body
    assert "web-1" in free.title and "has space again" in free.title


async def test_a_rule_without_kinds_notifies_people_of_hosts_that_get_no_jobs(
    world: World, uma: Client
) -> None:
    world.runtime.egress = pool = FakeEgressPool()
    ada = world.client("ada")
    channel = {"name": "ops", "url": "https://example.com/hook"}
    channel_id = (await ada.post("/acme/notify/channel", channel)).json["id"]
    rule = {"name": "alerts", "channels": [channel_id], "group": 0, "severity": "HIGH"}
    assert (await ada.post("/acme/notify/rule", rule)).status == 201
    async with world.agent(disk=LACK) as agent:
        host = await until_host(uma, LACK)
        await agent.send_messages(Heartbeat([], disk=LACK), Heartbeat([], disk=""))
        await until_host(uma, "")
    refusal = "The journal names fence 7."
    await world.runtime.db.write(journal_warnings.note_refused, host["id"], refusal)
    await deliver_notices(world.runtime)
    # No notification that the disk has space again: nobody has to act.
    full, refused = pool.sent
    assert "disk is full" in full.title and LACK in full.body
    assert "web-1" in refused.title and refusal in refused.body


async def test_an_order_that_a_full_disk_returns_is_not_failed(world: World, uma: Client) -> None:
    task = await world.task()
    async with world.agent() as agent:
        job = await create(uma, task)
        order = await agent.order()
        await agent.end(order, ending="error", reason="disk_full", message=LACK, log=None)
        await until_host(uma, LACK)
        returned = await job_of(uma, job)
        assert (returned["lifecycle"], returned["state"]) == ("ready", "in_progress")
        assert (returned["ran"], returned["waiting_reason"]) == ("no", "host_disk_full")
        # Other jobs wait too: the host gets no work until it has space.
        other = await create(uma, task)
        assert (await job_of(uma, other))["waiting_reason"] == "host_disk_full"
        await agent.send_messages(Heartbeat([], disk=LACK), Heartbeat([], disk=""))
        again = await agent.order()
        assert again.job_id == job["id"] and again.fence > order.fence
        await agent.end(again)
        assert (await agent.order()).job_id == other["id"]
    done = await job_of(uma, job)
    assert (done["state"], done["attempt_count"]) == ("normal", 1)


async def test_an_agent_that_does_not_report_its_disk_gets_work(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
        await agent.end(order, ending="error", reason="journal_unwritable", message="old")
        assert (await job_of(uma, job))["state"] == "error"


async def test_a_returned_order_whose_job_was_canceled_is_canceled(
    world: World, uma: Client
) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
        await uma.put(f"/acme/job/{job['id']}/cancel")
        await agent.end(order, ending="error", reason="disk_full", message=LACK, log=None)
        assert (await job_of(uma, job))["lifecycle"] == "canceled"


async def test_a_job_that_is_canceled_while_the_disk_is_full_is_never_ordered(
    world: World, uma: Client
) -> None:
    task = await world.task()
    async with world.agent(disk=LACK) as agent:
        job = await create(uma, task)
        assert (await job_of(uma, job))["waiting_reason"] == "host_disk_full"
        await uma.put(f"/acme/job/{job['id']}/cancel")
        later = await create(uma, task)
        await agent.send_messages(Heartbeat([], disk=LACK), Heartbeat([], disk=""))
        order = await agent.order()
        assert order.job_id == later["id"]
        await agent.end(order)
    ended = await job_of(uma, job)
    assert (ended["lifecycle"], ended["state"]) == ("canceled", "canceled")


async def test_a_job_that_never_fits_on_the_disk_ends(world: World, uma: Client) -> None:
    report = {"ending": "error", "reason": "disk_full", "message": LACK, "log": None}
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        for _ in range(MAX_RETURNS):
            await agent.end(await agent.order(), **report)
            # A claim that was in progress may have assigned it again already.
            assert (await job_of(uma, job))["lifecycle"] in ("ready", "assigned")
            await agent.send_messages(Heartbeat([], disk=LACK), Heartbeat([], disk=""))
        await agent.end(await agent.order(), **report)
    ended = await job_of(uma, job)
    assert (ended["lifecycle"], ended["state"], ended["ran"]) == ("finished", "error", "no")


async def test_lost_connections_are_not_returns_of_a_full_disk(world: World, uma: Client) -> None:
    report = {"ending": "error", "reason": "disk_full", "message": LACK, "log": None}
    job = await create(uma, await world.task())
    for greeting in range(1, MAX_RETURNS + 2):
        # The connection ends before the agent accepts the order; its next hello does not name it.
        async with world.agent(greeting=greeting) as agent:
            await agent.order()
    async with world.agent(greeting=MAX_RETURNS + 2) as agent:
        await agent.end(await agent.order(), **report)
        assert (await job_of(uma, job))["lifecycle"] in ("ready", "assigned")
        await agent.send_messages(Heartbeat([], disk=LACK), Heartbeat([], disk=""))
        await agent.end(await agent.order())
    assert (await job_of(uma, job))["state"] == "normal"
