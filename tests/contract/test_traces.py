"""A trace context is passed from the request through job and order to the script and the record."""

import pytest

from belvedere.base.log_format import REQUEST, RequestIds
from belvedere.base.text import trace_context
from contract.client import Client
from contract.running import show
from contract.world import World

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@pytest.mark.parametrize("path", ["/acme/job", "/acme/task/{id}/job"])
async def test_a_script_gets_the_trace_of_its_request(world: World, ada: Client, path: str) -> None:
    task_id = await world.task()
    async with world.agent() as agent:
        target = path.replace("{id}", task_id)
        job = (await ada.post(target, {"task": task_id}, headers={"traceparent": PARENT})).json
        order = await agent.order()
        await agent.end(order)
    assert job["traceparent"] == PARENT
    assert order.env["TRACEPARENT"] == f"00-{TRACE}-{job['id'][-16:]}-01"
    assert (await show(ada, job["id"]))["traceparent"] == PARENT


async def test_a_job_that_waits_keeps_its_trace(world: World, ada: Client) -> None:
    body = {"task": await world.task()}
    await ada.post("/acme/job", body, headers={"traceparent": PARENT})
    async with world.agent() as agent:
        assert TRACE in (await agent.order()).env["TRACEPARENT"]


@pytest.mark.parametrize("text", ["", "nonsense", PARENT.replace("00-4", "ff-4"), "a" * 10_000])
async def test_jobs_without_a_valid_trace_have_none(world: World, ada: Client, text: str) -> None:
    body = {"task": await world.task()}
    async with world.agent() as agent:
        headers = {"traceparent": text} if text else {}
        job = (await ada.post("/acme/job", body, headers=headers)).json
        assert "TRACEPARENT" not in (await agent.order()).env
    assert "traceparent" not in job


async def test_the_steps_of_a_workflow_are_children_of_its_job(world: World, ada: Client) -> None:
    task_id = await world.task()
    graph = {"nodes": [{"id": task_id, "task_id": task_id}], "edges": []}
    body = {"name": "flow", "start_task_id": task_id, "graph": graph}
    created = await ada.post("/acme/workflows", body)
    assert created.status < 300, created.body
    async with world.agent() as agent:
        target = f"/acme/workflows/{created.json['id']}/job"
        flow = (await ada.post(target, {}, headers={"traceparent": PARENT})).json
        order = await agent.order()
    step = await show(ada, order.job_id)
    assert flow["traceparent"] == PARENT
    assert step["traceparent"] == f"00-{TRACE}-{flow['id'][-16:]}-01"
    assert order.env["TRACEPARENT"] == f"00-{TRACE}-{step['id'][-16:]}-01"


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [
        (PARENT, True),
        (f" {PARENT} ", True),
        (PARENT.replace("00-4", "01-4") + "-later", True),
        (PARENT + "-more", False),
        (PARENT.upper(), False),
        (f"00-{'0' * 32}-00f067aa0ba902b7-01", False),
        (f"00-{TRACE}-{'0' * 16}-01", False),
        (PARENT[:-1], False),
    ],
)
def test_the_form_of_the_header(text: str, is_valid: bool) -> None:
    assert (trace_context.read_header(text) == PARENT) == is_valid
    assert (trace_context.read_header(text) is None) != is_valid


async def test_log_lines_of_a_request_name_its_trace(
    anonymous: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[RequestIds] = []

    def note(*_: object) -> None:
        ids = REQUEST.get()
        lines.append(RequestIds(ids.request_id, ids.trace_id))

    monkeypatch.setattr(anonymous.app, "_log_access", note)
    first = await anonymous.get("/-/health", headers={"traceparent": PARENT})
    second = await anonymous.get("/-/health")
    assert [ids.request_id for ids in lines] == [
        response.headers["x-request-id"] for response in (first, second)
    ]
    assert [ids.trace_id for ids in lines] == [TRACE, ""]
