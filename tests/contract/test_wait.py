"""wait_result: the response is the ended job, or 202 with the job in its current state."""

import asyncio
from typing import Any

import pytest

from belvedere.jobs.api import wait
from belvedere.jobs.queries import details
from belvedere.jobs.queries.ended_jobs import EndedJobs
from contract import interface_fields
from contract.client import Client, Response
from contract.over_socket import every_transport
from contract.running import show
from contract.world import World


async def start_request(client: Client, target: str, body: object) -> "asyncio.Task[Response]":
    return asyncio.create_task(client.post(target, body))


@every_transport
async def test_a_request_waits_for_the_result(world: World, uma: Client) -> None:
    task = await world.task()
    async with world.agent() as agent:
        waits = await start_request(uma, "/acme/job?wait_result=true", {"task": task})
        order = await agent.order()
        await agent.end(order, lastline='["a"]', log='["a"]\n')
        done = await waits
    assert done.status == 200
    assert (done.json["lifecycle"], done.json["output"]) == ("finished", ["a"])
    assert interface_fields.missing(done.json, interface_fields.ENDED) == []
    assert done.json == await show(uma, order.job_id)


async def test_the_wait_timeout_may_be_in_the_body(world: World, uma: Client) -> None:
    body = {"task": await world.task(), "wait_result": True}
    async with world.agent() as agent:
        waits = await start_request(uma, "/acme/job", body)
        await agent.end(await agent.order())
        assert (await waits).json["lifecycle"] == "finished"


@every_transport
async def test_a_job_that_takes_longer_is_202_with_the_job(world: World, uma: Client) -> None:
    task = await world.task()
    late = await uma.post("/acme/job?wait_result=true&wait_timeout=0.01", {"task": task})
    assert late.status == 202
    assert (late.json["lifecycle"], late.json["state"]) == ("ready", "in_progress")


async def test_a_secret_may_wait_too(world: World, ada: Client, anonymous: Client) -> None:
    task = await world.task(acl=[])
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    target = f"/job/secret/{secret}?customer=acme&task={task}&wait_result=true"
    async with world.agent() as agent:
        waits = await start_request(anonymous, target, {})
        await agent.end(await agent.order(), code=4)
        done = await waits
    assert (done.status, done.json["state"], done.json["result"]["code"]) == (200, "failure", 4)


async def test_a_cancelled_job_ends_the_waiting(world: World, uma: Client) -> None:
    waits = await start_request(uma, "/acme/job?wait_result=true", {"task": await world.task()})
    while not (jobs := (await uma.get("/acme/job")).json):
        await asyncio.sleep(0)
    await uma.put(f"/acme/job/{jobs[0]['id']}/cancel")
    assert (await waits).json["lifecycle"] == "canceled"


async def test_an_invalid_wait_timeout_creates_no_job(world: World, uma: Client) -> None:
    task = await world.task()
    for seconds in ("301", "-1", "nan", "inf", "soon", ""):
        target = f"/acme/job?wait_result=true&wait_timeout={seconds}"
        assert (await uma.post(target, {"task": task})).status == 400, seconds
    assert (await uma.get("/acme/job")).json == []


async def test_no_listener_remains(world: World, uma: Client) -> None:
    task = await world.task()
    await uma.post("/acme/job?wait_result=true&wait_timeout=0.01", {"task": task})
    assert not world.runtime.feed._listeners


async def test_the_caller_may_ask_for_the_result_only(world: World, uma: Client) -> None:
    """The same options as those of `/result`."""
    task = await world.task()
    last_line = '{"state": "success", "output": [{"a": 1}, "plain"]}'
    expected = {
        "parse=1": "plain",
        "parse": {"a": 1},
        "output": ['{"a":1}', "plain"],
        "result": last_line,
        "full": "finished",
    }
    async with world.agent() as agent:
        for option, value in expected.items():
            waits = await start_request(uma, f"/acme/job?wait_result=true&{option}", {"task": task})
            await agent.end(await agent.order(), lastline=last_line, log=f"{last_line}\n")
            body = (await waits).json
            selected = {"result": "lastline", "full": "lifecycle"}.get(option)
            assert (body[selected] if selected else body) == value


async def test_a_wrong_option_starts_nothing(world: World, uma: Client) -> None:
    task = await world.task()
    refused = await uma.post("/acme/job?wait_result=true&parse=x", {"task": task})
    assert refused.status == 400
    assert (await uma.get("/acme/job")).json == []


ENDS: dict[str, dict[str, Any]] = {
    "success": {"lastline": '{"state": "success", "output": [{"a": 1}, "b"]}', "log": "x\n"},
    "failure": {"code": 4, "log": "no\n", "elapsed_ns": 5_000_000},
    "not started": {"ending": "error", "reason": "spawn", "message": "no such interpreter"},
    "signaled": {"code": 137, "signal": "SIGKILL", "lastline": "last"},
}


@pytest.mark.parametrize("end", ENDS)
async def test_a_quick_end_is_answered_without_reading_the_job(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    """The record is the one that a read returns, with masked and ignored values."""
    monkeypatch.setattr(wait, "FIRST_WAIT_S", 60.0)
    task = await world.task(task_arguments=[{"type": "input", "label": "key", "masked": True}])
    body = {"task": task, "task_arguments": ["hidden", "too many"]}
    with monkeypatch.context() as patched:
        patched.setattr(details, "show", None)
        async with world.agent() as agent:
            waits = await start_request(ada, "/acme/job?wait_result=true", body)
            order = await agent.order()
            await agent.end(order, **ENDS[end])
            done = await waits
    assert (done.status, done.json) == (200, await show(ada, order.job_id))
    assert not world.runtime.of(EndedJobs)._listeners


async def test_a_job_with_a_second_attempt_is_read(world: World, ada: Client) -> None:
    task = await world.task(retry={"times": 1, "delay": 0})
    async with world.agent() as agent:
        waits = await start_request(ada, "/acme/job?wait_result=true", {"task": task})
        await agent.end(await agent.order(), code=1)
        second = await agent.order()
        await agent.end(second, code=2)
        done = await waits
    assert len(done.json["attempts"]) == 2
    assert done.json == await show(ada, second.job_id)
