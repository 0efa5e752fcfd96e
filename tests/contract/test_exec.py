"""A command on hosts or tags: POST /exec, ordinary jobs without a task."""

from typing import Any

import pytest

from belvedere.jobs.history import retention
from belvedere.jobs.lifecycle import commands
from belvedere.server.background import loops
from contract.client import Client
from contract.fakeagent import FakeAgent
from contract.running import create, show
from contract.world import World
from legacy_agents.legacy_agent import LegacyAgent
from legacy_agents.test_protocol import agent_of
from manual_clock import ManualClock


async def tag(ada: Client, world: World, hostname: str, *tags: str) -> None:
    host_id = world.things.hosts[hostname].host_id
    assert (await ada.patch(f"/acme/host/{host_id}", {"tags": list(tags)})).status == 200


async def execute(client: Client, *words: str, **more: Any) -> list[dict[str, Any]]:
    response = await client.post("/acme/exec", {"command": list(words), **more})
    assert response.status == 201, response.body
    jobs: list[dict[str, Any]] = response.json["jobs"]
    return jobs


async def test_a_command_runs_on_a_host(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        (job,) = await execute(ada, "uptime", "-p", hosts=["web-1"])
        assert (job["_type"], job["name"], job["hostname"]) == ("ScriptJob", "exec uptime", "web-1")
        order = await agent.order()
        assert (order.arguments, order.runas) == (["uptime", "-p"], [])
        assert await agent.fetch(order.sha256) == commands.SOURCE
        await agent.end(order, log="up 3 days\n", lastline="up 3 days")
    record = await show(ada, job["id"])
    assert (record["lifecycle"], record["state"], record["result"]["log"]) == (
        "finished",
        "normal",
        "up 3 days\n",
    )
    assert (record["task_id"], record["task_arguments_values"]) == (None, ["uptime", "-p"])
    assert record["user"]["username"] == "ada"


async def test_a_tag_means_every_host_with_it(world: World, ada: Client) -> None:
    await tag(ada, world, "web-1", "web", "blue")
    await tag(ada, world, "web-2", "web")
    jobs = await execute(ada, "uptime", tags=["web"])
    assert [job["hostname"] for job in jobs] == ["web-1", "web-2"]
    # Each host once, however it is named.
    jobs = await execute(ada, "uptime", hosts=["WEB-2"], tags=["web", "blue"])
    assert [job["hostname"] for job in jobs] == ["web-2", "web-1"]
    by_id = world.things.hosts["web-1"].host_id
    assert [job["hostname"] for job in await execute(ada, "x", hosts=[by_id])] == ["web-1"]


async def test_a_tag_is_compared_completely(world: World, ada: Client) -> None:
    await tag(ada, world, "web-1", 'odd "%_\\ tag', "web-old")
    await tag(ada, world, "web-2", "x")
    jobs = await execute(ada, "uptime", tags=['odd "%_\\ tag'])
    assert [job["hostname"] for job in jobs] == ["web-1"]
    for other in ("web", "odd", "%", "_", 'odd "', "ld"):
        refused = await ada.post("/acme/exec", {"command": ["x"], "tags": [other]})
        assert (refused.status, refused.code) == (400, "unknown_hosts"), other


async def test_hosts_are_listed_by_tag(world: World, ada: Client, vic: Client) -> None:
    await tag(ada, world, "web-1", "web")

    async def names(query: str) -> list[str]:
        return [host["hostname"] for host in (await vic.get(f"/acme/host?{query}")).json]

    assert await names("where[tags]=web") == ["web-1"]
    assert await names("where[tags][$in][]=web&where[tags][$in][]=x") == ["web-1"]
    assert await names("where[tags]=we") == []


async def test_one_unknown_host_refuses_the_whole_command(world: World, ada: Client) -> None:
    body = {"command": ["x"], "hosts": ["web-1", "nowhere", "box-1"], "tags": ["none"]}
    refused = await ada.post("/acme/exec", body)
    assert (refused.status, refused.code) == (400, "unknown_hosts")
    fields = [fault["field"] for fault in refused.json["errors"]]
    assert fields == ["hosts[1]", "hosts[2]", "tags[0]"]
    assert (await ada.get("/acme/job")).json == []
    assert (await ada.post("/acme/exec", {"command": ["x"]})).code == "unknown_hosts"


@pytest.mark.parametrize(
    "body",
    [
        {"command": []},
        {"command": [""]},
        {"command": ["a\0b"]},
        {"command": ["x"] * 1_001},
        {"command": ["x" * 200_000]},
        {"command": "uptime"},
        {"command": [1]},
        {"command": ["x"], "timeout": 0},
        {"command": ["x"], "timeout": 10**18},
        {"command": ["x"], "expires": 1},
        {"command": ["x"], "task": "y"},
        {"command": ["\ud800"]},
    ],
)
async def test_an_invalid_command_is_refused(world: World, ada: Client, body: Any) -> None:
    refused = await ada.post("/acme/exec", {"hosts": ["web-1"], **body})
    assert refused.status == 400, refused.body
    assert (await ada.get("/acme/job")).json == []


async def test_only_admins_run_commands(world: World, uma: Client, eve: Client) -> None:
    body = {"command": ["x"], "hosts": ["web-1"]}
    for who in ("vic", "uma", "max", "web-1"):
        assert (await world.client(who).post("/exec", body)).status == 403
    assert (await world.client().post("/exec", body)).status == 401
    assert (await world.client("token").post("/exec", body)).status == 201
    # Hosts of another organization are refused like hosts that do not exist.
    other = await eve.post("/globex/exec", body)
    nobody = await eve.post("/globex/exec", {"command": ["x"], "hosts": ["web-0"]})
    assert (other.status, other.code) == (nobody.status, nobody.code) == (400, "unknown_hosts")


async def test_managers_and_the_person_who_ran_it_see_a_command(
    world: World, ada: Client, uma: Client
) -> None:
    (job,) = await execute(ada, "uptime", hosts=["web-1"])
    assert (await uma.get(f"/acme/job/{job['id']}")).status == 404
    assert (await uma.get("/acme/job")).json == []
    assert (await world.client("max").get(f"/acme/job/{job['id']}")).status == 200
    listed = (await ada.get("/acme/job?include[task_arguments_values]=1")).json
    assert listed[0]["task_arguments_values"] == ["uptime"]


async def test_a_command_is_audited(world: World, ada: Client) -> None:
    (job,) = await execute(ada, "reboot", "now", hosts=["web-1"])
    entries = (await world.client("olga").get("/api/audit?where[action]=host.exec")).json
    entry = next(item for item in entries if item["action"] == "host.exec")
    assert entry["after"] == {
        "command": ["reboot", "now"],
        "hostname": "web-1",
        "job_id": job["id"],
    }


async def test_a_key_runs_a_command_once(world: World, ada: Client) -> None:
    key = {"idempotency-key": "once"}
    body = {"command": ["uptime"], "hosts": ["web-1", "web-2"]}
    first = await ada.post("/acme/exec", body, headers=key)
    again = await ada.post("/acme/exec", body, headers=key)
    ids = [job["id"] for job in first.json["jobs"]]
    assert [job["id"] for job in again.json["jobs"]] == ids
    assert again.headers["idempotency-replayed"] == "true"
    other = await ada.post("/acme/exec", {**body, "hosts": ["web-1"]}, headers=key)
    assert (other.status, other.code) == (422, "idempotency_key_reused")


async def test_a_command_can_be_canceled_but_not_restarted(world: World, ada: Client) -> None:
    (job,) = await execute(ada, "sleep", "9", hosts=["web-1"], timeout=5_000)
    assert job["timeout"] == 5_000
    assert (await ada.put(f"/acme/job/{job['id']}/cancel")).json["lifecycle"] == "canceled"
    refused = await ada.put(f"/acme/job/{job['id']}/restart", {})
    assert (refused.status, refused.code) == (400, "not_restartable")


async def test_a_command_expires_instead_of_waiting_for_days(
    world: World, ada: Client, clock: ManualClock
) -> None:
    (job,) = await execute(ada, "uptime", hosts=["web-1"])
    clock.move(601)
    await loops.expire(world.runtime)
    assert (await show(ada, job["id"]))["lifecycle"] == "expired"


async def test_a_command_is_not_delayed_by_tasks_at_their_limit(
    world: World, ada: Client, uma: Client
) -> None:
    async def next_job_id(agent: FakeAgent) -> str:
        return (await agent.order()).job_id

    task = await world.task(concurrency=1)
    async with world.agent() as agent:
        first = await create(uma, task)
        assert await next_job_id(agent) == first["id"]
        await create(uma, task)
        (job,) = await execute(ada, "uptime", hosts=["web-1"])
        assert await next_job_id(agent) == job["id"]


async def test_an_agent_of_theeye_gets_the_job_too(world: World, ada: Client) -> None:
    old: LegacyAgent = agent_of(world)
    await old.start()
    await execute(ada, "uptime", hosts=["old-1"])
    (job,) = await old.poll()
    assert (job["script_runas"], job["task_arguments_values"]) == ("%script%", ["uptime"])
    assert await old.fetch(job) == commands.SOURCE
    assert (await old.finish(job)).json["lifecycle"] == "finished"


async def test_old_commands_are_deleted(world: World, clock: ManualClock) -> None:
    ada = world.client("token")
    (job,) = await execute(ada, "uptime", hosts=["web-1"])
    await ada.put(f"/acme/job/{job['id']}/cancel")
    clock.move(89 * 86_400)
    while await world.runtime.db.write(retention.purge, {}):
        pass
    assert (await show(ada, job["id"]))["lifecycle"] == "canceled"
    clock.move(2 * 86_400)
    while await world.runtime.db.write(retention.purge, {}):
        pass
    assert (await ada.get(f"/acme/job/{job['id']}")).status == 404
