"""The remaining Job rows of interface.md, V1 and V2, each by its own test."""

import pytest

from belvedere.protocol import Cancel
from contract import interface_fields
from contract.client import Client
from contract.over_socket import every_transport
from contract.running import create, run, show
from contract.world import World


@pytest.fixture
def agent_client(world: World) -> Client:
    return world.client("web-1")


@every_transport
async def test_a_job_is_read_by_its_id(world: World, vic: Client, uma: Client) -> None:
    """GET /{customer}/job/{id}: get job by id, one job record."""
    async with world.agent() as agent:
        job = await run(
            uma, agent, await world.task(), log="a\nb\n", lastline="b", elapsed_ns=3_000_000_007
        )
    response = await vic.get(f"/acme/job/{job['id']}")
    assert response.status == 200
    assert interface_fields.missing(response.json, interface_fields.ENDED) == []
    assert (response.json["lifecycle"], response.json["state"]) == ("finished", "normal")
    assert response.json["result"]["code"] == 0
    assert response.json["result"]["log"] == "a\nb\n" and response.json["result"]["lastline"] == "b"
    assert response.json["result"]["times"] == {"seconds": 3, "nanoseconds": 7}
    assert response.json["trigger_name"] == "success"


async def test_a_job_can_be_read_with_the_organization_in_the_query(
    world: World, uma: Client
) -> None:
    job = await create(uma, await world.task())
    assert (await uma.get(f"/job/{job['id']}?customer=acme")).json["id"] == job["id"]


async def test_all_jobs_are_an_array_newest_first(world: World, vic: Client, uma: Client) -> None:
    """GET /{customer}/job: get all jobs."""
    task = await world.task()
    ids = [(await create(uma, task))["id"] for _ in range(3)]
    response = await vic.get("/acme/job")
    assert response.status == 200
    assert [record["id"] for record in response.json] == ids[::-1]
    assert (await vic.get("/job?customer=acme")).body == response.body


async def test_an_agent_finishes_a_job(world: World, uma: Client, agent_client: Client) -> None:
    """PUT /{customer}/job/{id}: finish a job and update its execution status."""
    line = '{"state":"success","output":["a",{"b":1}]}'
    data = {"code": 0, "log": line, "lastline": line, "signal": None, "killed": False}
    data |= {"times": {"seconds": 1, "nanoseconds": 5}, "output": ["a", {"b": 1}]}
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        await agent.order()
        body = {"result": {"state": "success", "data": data}}
        ended = await agent_client.put(f"/acme/job/{job['id']}", body)
    assert ended.status == 200
    assert (ended.json["lifecycle"], ended.json["state"]) == ("finished", "success")
    assert ended.json["output"] == ["a", '{"b":1}']
    assert {name: ended.json["result"][name] for name in interface_fields.RESULT} == {
        name: data[name] for name in interface_fields.RESULT
    }


async def test_an_agent_may_report_the_fields_without_nesting(
    world: World, uma: Client, agent_client: Client
) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        await agent.order()
        body = {"state": "failure", "code": 3, "log": "bad", "lastline": "bad"}
        ended = await agent_client.put(f"/acme/job/{job['id']}", body)
    assert (ended.status, ended.json["state"]) == (200, "failure")
    assert (ended.json["result"]["code"], ended.json["result"]["log"]) == (3, "bad")


async def test_a_late_result_changes_nothing(
    world: World, uma: Client, agent_client: Client
) -> None:
    async with world.agent() as agent:
        job = await run(uma, agent, await world.task(), log="true\n", lastline="true")
        late = await agent_client.put(f"/acme/job/{job['id']}", {"state": "failure", "code": 9})
    assert late.status == 200
    assert late.json["state"] == "normal" and late.json["version"] == job["version"]
    assert await show(uma, job["id"]) == job


async def test_only_the_agent_of_its_host_finishes_a_job(world: World, ada: Client) -> None:
    async with world.agent() as agent:
        job = await create(ada, await world.task())
        await agent.order()
        body = {"result": {"state": "success", "data": {"code": 0}}}
        other = await world.client("web-2").put(f"/acme/job/{job['id']}", body)
        person = await ada.put(f"/acme/job/{job['id']}", body)
        foreign = await world.client("box-1").put(f"/job/{job['id']}", body)
    assert (other.status, other.code) == (403, "other_host")
    assert (person.status, person.code) == (403, "level")
    assert foreign.status == 404
    assert (await show(ada, job["id"]))["lifecycle"] == "assigned"


async def test_the_lifecycle_is_a_bare_string(world: World, uma: Client, vic: Client) -> None:
    """GET /{customer}/job/{id}/lifecycle, for users."""
    job = await create(uma, await world.task())
    response = await uma.get(f"/acme/job/{job['id']}/lifecycle")
    assert (response.status, response.body) == (200, b'"ready"')
    assert (await uma.get(f"/job/{job['id']}/lifecycle?customer=acme")).body == b'"ready"'
    assert (await vic.get(f"/acme/job/{job['id']}/lifecycle")).status == 403


async def test_a_waiting_job_is_cancelled_at_once(world: World, uma: Client) -> None:
    """PUT /{customer}/job/{id}/cancel."""
    job = await create(uma, await world.task())
    canceled = await uma.put(f"/acme/job/{job['id']}/cancel")
    assert canceled.status == 200
    assert (canceled.json["lifecycle"], canceled.json["state"]) == ("canceled", "canceled")
    assert canceled.json["trigger_name"] == "canceled"
    assert canceled.json["canceled_by"] == "uma@acme.test"
    assert "result" not in canceled.json


async def test_cancelling_an_ended_job_is_refused(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    await uma.put(f"/job/{job['id']}/cancel?customer=acme")
    again = await uma.put(f"/job/{job['id']}/cancel?customer=acme")
    assert (again.status, again.code) == (409, "wrong_lifecycle")


@every_transport
async def test_a_running_job_is_cancelled_by_its_agent(world: World, uma: Client) -> None:
    async with world.agent() as agent:
        job = await create(uma, await world.task())
        order = await agent.order()
        response = await uma.put(f"/acme/job/{job['id']}/cancel")
        assert response.status == 200
        assert (
            response.json["lifecycle"] == "assigned" and response.json["cancel_requested"] is True
        )
        assert (await agent.hear(Cancel)).fence == order.fence
        await agent.end(order, ending="canceled", code=143, signal="SIGTERM")
    ended = await show(uma, job["id"])
    assert (ended["lifecycle"], ended["state"]) == ("terminated", "canceled")
    assert ended["result"]["killed"] is True and ended["result"]["signal"] == "SIGTERM"


async def test_a_viewer_may_not_cancel(world: World, uma: Client, vic: Client) -> None:
    job = await create(uma, await world.task())
    assert (await vic.put(f"/acme/job/{job['id']}/cancel")).status == 403


async def test_a_task_may_forbid_its_jobs_to_be_cancelled(
    world: World, uma: Client, ada: Client
) -> None:
    job = await create(uma, await world.task(cancellable=False))
    refused = await uma.put(f"/acme/job/{job['id']}/cancel")
    assert (refused.status, refused.code) == (403, "not_cancellable")
    assert (await ada.put(f"/acme/job/{job['id']}/cancel")).status == 200


async def test_a_job_of_another_organization_is_not_found(
    world: World, uma: Client, eve: Client
) -> None:
    job = await create(uma, await world.task())
    for method, tail in (("GET", ""), ("GET", "/lifecycle"), ("PUT", "/cancel"), ("GET", "/log")):
        response = await eve.request(method, f"/job/{job['id']}{tail}")
        missing = await eve.request(method, f"/job/{'0' * 24}{tail}")
        assert response.status == missing.status == 404
        assert {**response.json, "request_id": ""} == {**missing.json, "request_id": ""}


async def test_the_person_who_started_a_job_sees_it_whatever_the_acl_is(
    world: World, uma: Client, vic: Client, ada: Client
) -> None:
    task = await world.task()
    job = await create(uma, task)
    await ada.delete(f"/acme/task/{task}/acl")
    assert (await uma.get(f"/acme/job/{job['id']}")).status == 200
    assert (await vic.get(f"/acme/job/{job['id']}")).status == 404
    assert (await vic.get("/acme/job")).json == []
    assert [record["id"] for record in (await uma.get("/acme/job")).json] == [job["id"]]
