"""Running workflows: by token, by secret in every encoding, and the jobs that follow."""

from typing import Any
from urllib.parse import urlencode

import pytest

from contract import interface_fields
from contract.client import FORM, Client
from contract.flowing import create_workflow, run, secret_of, step
from contract.test_triggers import react
from contract.world import World

MISSING = "0" * 24
TWO = [{"type": "input", "label": "a"}, {"type": "input", "label": "b"}]


async def taking_two(world: World, ada: Client, **more: Any) -> dict[str, Any]:
    """A workflow whose first task takes two arguments."""
    task = await world.task("first", task_arguments=TWO)
    return await create_workflow(
        world, ada, graph={"nodes": [{"id": "a", "task_id": task}]}, **more
    )


async def steps(client: Client, flow: Any, job: Any, query: str = "") -> list[dict[str, Any]]:
    response = await client.get(f"/acme/workflows/{flow['id']}/job/{job['id']}/jobs{query}")
    assert response.status == 200, response.body
    listed: list[dict[str, Any]] = response.json
    return listed


async def test_a_workflow_job_is_created(world: World, ada: Client, uma: Client) -> None:
    flow = await create_workflow(world, ada)
    job = await run(uma, flow)
    assert (job["_type"], job["name"], job["task_id"]) == ("WorkflowJob", "release", None)
    assert (job["lifecycle"], job["state"]) == ("ready", "in_progress")
    assert (job["workflow_id"], job["origin"]) == (flow["id"], "user")
    assert job["user"]["username"] == "uma" and interface_fields.moment(job["creation_date"])
    target = f"/acme/workflows/{flow['id']}/job/{job['id']}"
    async with world.agent() as agent:
        order = await agent.order()
        await react(world)
        assert (await uma.get(target)).json["lifecycle"] == "started"
        await agent.end(order)
        await react(world)
        await step(world, agent)
    over = (await uma.get(target)).json
    assert (over["lifecycle"], over["state"]) == ("finished", "normal")
    assert over == (await uma.get(f"/acme/job/{job['id']}")).json
    actual_steps = await steps(uma, flow, job)
    assert [item["name"] for item in actual_steps] == ["b", "a"]
    assert {item["workflow_job_id"] for item in actual_steps} == {job["id"]}


@pytest.mark.parametrize("style", ["/workflows/{}/job?customer=acme", "/acme/workflows/{}/job"])
@pytest.mark.parametrize("body", [{"task_arguments": ["x", 2]}, ["x", 2]])
async def test_arguments_go_to_the_first_step(
    world: World, ada: Client, style: str, body: Any
) -> None:
    flow = await taking_two(world, ada)
    job = (await ada.post(style.format(flow["id"]), body)).json
    (first,) = await steps(ada, flow, job, "?include[task_arguments_values]=1")
    assert first["task_arguments_values"] == ["x", "2"]


@pytest.mark.parametrize("texts", [[], ["x"], ["x", "y", "z"]])
async def test_arguments_that_do_not_fit_start_nothing(
    world: World, ada: Client, texts: list[str]
) -> None:
    flow = await taking_two(world, ada)
    refused = await ada.post(f"/acme/workflows/{flow['id']}/job?strict=1", texts)
    assert refused.status == 400
    assert (await ada.get("/acme/job")).json == []


async def test_another_start_can_be_named(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada)
    target = f"/acme/workflows/{flow['id']}/job"
    for name in ("b", flow["graph"]["nodes"][1]["task_id"]):
        job = (await ada.post(target, {"task": name})).json
        assert [item["name"] for item in await steps(ada, flow, job)] == ["b"]
    refused = await ada.post(target, {"task": MISSING})
    assert (refused.status, refused.code) == (400, "invalid_start")


async def approved_workflow(world: World, ada: Client) -> dict[str, Any]:
    """a, then the approval ask, then b and c."""
    names: dict[str, dict[str, Any]] = {
        "a": {},
        "ask": {"type": "approval", "approvers": ["vic"]},
        "b": {},
        "c": {},
    }
    nodes = [{"id": n, "task_id": await world.task(n, **fields)} for n, fields in names.items()]
    edges = [{"source": s, "target": t} for s, t in (("a", "ask"), ("ask", "b"), ("b", "c"))]
    return await create_workflow(world, ada, graph={"nodes": nodes, "edges": edges})


async def test_only_an_admin_may_start_after_an_approval(
    world: World, ada: Client, uma: Client
) -> None:
    flow = await approved_workflow(world, ada)
    target = f"/acme/workflows/{flow['id']}/job"
    for client, start in ((uma, "b"), (uma, "c"), (uma, flow["graph"]["nodes"][2]["task_id"])):
        refused = await client.post(target, {"task": start})
        assert (refused.status, refused.code) == (409, "approval_needed")
    assert (await ada.get("/acme/job")).json == []
    for client, start in ((uma, "a"), (uma, "ask"), (ada, "c")):
        assert (await client.post(target, {"task": start})).status == 200


async def test_the_approval_of_a_nested_workflow_counts(
    world: World, ada: Client, uma: Client
) -> None:
    inner = await approved_workflow(world, ada)
    middle = await create_workflow(world, ada, graph={"nodes": [workflow_node("in", inner)]})
    last = {"id": "z", "task_id": await world.task("z")}
    edges = [{"source": "mid", "target": "z"}]
    graph = {"nodes": [workflow_node("mid", middle), last], "edges": edges}
    outer = await create_workflow(world, ada, graph=graph)
    refused = await uma.post(f"/acme/workflows/{outer['id']}/job", {"task": "z"})
    assert (refused.status, refused.code) == (409, "approval_needed")


def workflow_node(name: str, flow: dict[str, Any]) -> dict[str, str]:
    return {"id": name, "workflow_id": flow["id"]}


async def test_a_run_after_an_approval_is_repeated_by_admins_only(
    world: World, ada: Client, uma: Client
) -> None:
    flow = await approved_workflow(world, ada)
    target = f"/acme/workflows/{flow['id']}/job"
    job = (await ada.post(target, {"task": "c"})).json
    await ada.put(f"{target}/{job['id']}/cancel")
    refused = await uma.put(f"{target}/{job['id']}/restart?from=start")
    assert (refused.status, refused.code) == (409, "approval_needed")
    assert (await ada.put(f"{target}/{job['id']}/restart?from=start")).status == 200


async def test_running_a_workflow_needs_permission(
    world: World, ada: Client, uma: Client, vic: Client, eve: Client
) -> None:
    flow = await create_workflow(world, ada, acl=["vic"])
    target = f"/acme/workflows/{flow['id']}/job"
    for client, status in ((vic, 403), (uma, 404), (world.client("max"), 403), (eve, 403)):
        assert (await client.post(target, [])).status == status
    assert (await eve.post(f"/globex/workflows/{flow['id']}/job", [])).status == 404
    assert (await world.client("token").post(target, [])).status == 200


async def test_a_disabled_workflow_does_not_run(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada, enable=False)
    refused = await ada.post(f"/acme/workflows/{flow['id']}/job", [])
    assert (refused.status, refused.code) == (409, "workflow_disabled")


async def test_one_idempotency_key_creates_one_job(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada)
    target, key = f"/acme/workflows/{flow['id']}/job", {"idempotency-key": "k"}
    first = await ada.post(target, [], headers=key)
    again = await ada.post(target, [], headers=key)
    assert again.json["id"] == first.json["id"]
    assert again.headers["idempotency-replayed"] == "true"
    other = await ada.post(target, {"task": "b"}, headers=key)
    assert (other.status, other.code) == (422, "idempotency_key_reused")
    assert len((await ada.get("/acme/job")).json) == 2


async def test_a_caller_can_wait_for_the_end(world: World, ada: Client) -> None:
    task = await world.task("note", type="notification", subject="x")
    flow = await create_workflow(world, ada, graph={"nodes": [{"id": "a", "task_id": task}]})
    target = f"/acme/workflows/{flow['id']}/job?wait_result=true&wait_timeout=0"
    late = await ada.post(target, [])
    assert (late.status, late.json["lifecycle"]) == (202, "ready")
    await react(world)
    assert (await ada.get(f"/acme/job/{late.json['id']}/lifecycle")).json == "finished"


# With its secret key


async def test_json_by_secret(world: World, ada: Client, anonymous: Client) -> None:
    """interface.md: JSON body with task_arguments (array)."""
    flow = await taking_two(world, ada)
    target = f"/workflows/{flow['id']}/secret/{await secret_of(ada, flow)}/job?customer=acme"
    answer = await anonymous.post(target, {"task_arguments": ["x", "y"]})
    assert answer.status == 200
    job = answer.json
    assert (job["_type"], job["origin"], job["lifecycle"]) == ("WorkflowJob", "secret", "ready")
    assert job["user"] == {"id": "", "username": "", "email": ""}
    (first,) = await steps(ada, flow, job, "?include[task_arguments_values]=1")
    assert first["task_arguments_values"] == ["x", "y"]
    assert (await anonymous.post(target, {"task_arguments": ["x"]})).status == 400


async def test_an_html_form_by_secret(world: World, ada: Client, anonymous: Client) -> None:
    """interface.md: an HTML form with hidden customer and task_arguments[] fields."""
    flow = await taking_two(world, ada)
    fields = [("customer", "acme"), ("task_arguments[]", "x y"), ("task_arguments[]", "é")]
    answer = await anonymous.post(
        f"/workflows/{flow['id']}/secret/{await secret_of(ada, flow)}/job",
        raw=urlencode(fields).encode(),
        headers={"content-type": FORM, "origin": "https://elsewhere.test"},
    )
    assert answer.status == 200, answer.body
    (first,) = await steps(ada, flow, answer.json, "?include[task_arguments_values]=1")
    assert first["task_arguments_values"] == ["x y", "é"]


async def test_all_invalid_requests_get_the_same_refusal(
    world: World, ada: Client, eve: Client, anonymous: Client
) -> None:
    flow, other = await create_workflow(world, ada), await create_workflow(world, ada, name="other")
    secret = await secret_of(ada, flow)
    theirs = await world.task(by="eve")
    graph = {"nodes": [{"id": "a", "task_id": theirs}]}
    foreign = (await eve.post("/globex/workflows", {"name": "x", "graph": graph})).json
    answers = [
        await anonymous.post(f"/workflows/{workflow}/secret/{key}/job?customer={customer}", [])
        for workflow, key, customer in (
            (flow["id"], "0" * 64, "acme"),
            (flow["id"], "x", "acme"),
            (other["id"], secret, "acme"),
            (foreign["id"], secret, "acme"),
            (MISSING, secret, "acme"),
            (flow["id"], secret, "globex"),
            (flow["id"], secret, "nowhere"),
        )
    ]
    names = {(answer.status, answer.code, answer.json["message"]) for answer in answers}
    assert names == {(403, "wrong_secret", "Invalid secret key.")}


async def test_the_organization_may_be_left_out(
    world: World, ada: Client, anonymous: Client
) -> None:
    flow = await create_workflow(world, ada)
    path = f"/workflows/{flow['id']}/secret/{await secret_of(ada, flow)}/job"
    assert (await anonymous.post(path, [])).json["customer_name"] == "acme"
    refused = await anonymous.post(path.replace(flow["id"], MISSING), [])
    assert (refused.status, refused.code) == (403, "wrong_secret")


async def test_a_rotated_secret_is_invalid(world: World, ada: Client, anonymous: Client) -> None:
    flow = await create_workflow(world, ada)
    old = await secret_of(ada, flow)
    await ada.post(f"/acme/workflows/{flow['id']}/credentials/rotate", {})
    new = await secret_of(ada, flow)
    for secret, status in ((old, 403), (new, 200)):
        target = f"/workflows/{flow['id']}/secret/{secret}/job?customer=acme"
        assert (await anonymous.post(target, [])).status == status


# Its jobs


async def test_the_list_contains_the_workflow_job_and_its_steps(world: World, ada: Client) -> None:
    flow, other = await create_workflow(world, ada), await create_workflow(world, ada, name="other")
    job = await run(ada, flow)
    await run(ada, other)
    records = (await ada.get(f"/acme/workflows/{flow['id']}/job")).json
    assert [record["_type"] for record in records] == ["ScriptJob", "WorkflowJob"]
    assert records[1]["id"] == job["id"]
    only = f"/workflows/{flow['id']}/job?customer=acme&where[_type]=WorkflowJob"
    assert [record["id"] for record in (await ada.get(only)).json] == [job["id"]]


async def test_jobs_are_found_by_the_acl_of_the_workflow(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada, acl=["uma"])
    await run(ada, flow)
    for entry, count in (("uma@acme.test", 2), ("vic@acme.test", 0)):
        assert len((await ada.get(f"/acme/job?where[acl]={entry}")).json) == count


async def test_a_job_belongs_to_its_workflow(world: World, ada: Client, eve: Client) -> None:
    flow, other = await create_workflow(world, ada), await create_workflow(world, ada, name="other")
    job = await run(ada, flow)
    (first,) = await steps(ada, flow, job)
    place = f"/acme/workflows/{other['id']}/job/{job['id']}"
    for target in (place, f"{place}/jobs", f"/acme/workflows/{flow['id']}/job/{MISSING}"):
        answer = await ada.get(target)
        assert (answer.status, answer.code) == (404, "job_not_found")
    assert (await ada.put(f"{place}/cancel")).status == 404
    assert (await ada.put(f"{place}/restart")).status == 404
    inner = f"/acme/workflows/{flow['id']}/job/{first['id']}"
    assert (await ada.get(inner)).json["id"] == first["id"]
    assert (await ada.get(f"{inner}/jobs")).status == 404
    assert (await ada.put(f"{inner}/cancel")).status == 404
    assert (await eve.get(f"/globex/workflows/{flow['id']}/job/{job['id']}")).status == 404


async def test_cancel_ends_every_step(world: World, ada: Client, vic: Client) -> None:
    flow = await create_workflow(world, ada)
    job = await run(ada, flow)
    target = f"/acme/workflows/{flow['id']}/job/{job['id']}/cancel"
    assert (await vic.put(target)).status == 403
    canceled = await ada.put(target)
    assert canceled.status == 200
    assert (canceled.json["lifecycle"], canceled.json["state"]) == ("terminated", "canceled")
    assert [item["lifecycle"] for item in await steps(ada, flow, job)] == ["canceled"]
    again = await ada.put(target)
    assert (again.status, again.code) == (409, "wrong_lifecycle")


async def test_restart_continues_from_the_failed_step(
    world: World, ada: Client, vic: Client
) -> None:
    flow = await create_workflow(world, ada)
    job = await run(ada, flow)
    target = f"/acme/workflows/{flow['id']}/job/{job['id']}/restart"
    assert (await ada.put(target)).code == "wrong_lifecycle"
    async with world.agent() as agent:
        await step(world, agent)
        await step(world, agent, code=1)
        assert (await vic.put(target)).status == 403
        again = await ada.put(target)
        assert again.status == 200
        assert again.json["restarted_from"] == job["id"]
        assert [item["name"] for item in await steps(ada, flow, again.json)] == ["b"]
        nodes = (await ada.get(f"/acme/workflows/{flow['id']}/job/{again.json['id']}/steps")).json
        first = {item["name"]: item["id"] for item in await steps(ada, flow, job)}
        assert [item["node_id"] for item in nodes] == ["a", "b"]
        assert nodes[0] == {
            "node_id": "a",
            "job_id": first["a"],
            "state": "ended",
            "trigger_name": "success",
            "is_good": True,
            "tries": 0,
            "visit": 1,
            "causes": [],
        }
        assert (nodes[1]["state"], nodes[1]["trigger_name"]) == ("open", None)
        assert nodes[1]["causes"] == [{"node_id": "a", "visit": 1}]
        await step(world, agent)
    ended = (await ada.get(f"/acme/job/{again.json['id']}")).json
    assert (ended["lifecycle"], ended["state"]) == ("finished", "normal")
    good = await ada.put(f"/acme/workflows/{flow['id']}/job/{again.json['id']}/restart")
    assert (good.status, good.code) == (409, "nothing_failed")


async def test_a_succeeded_job_runs_again_from_the_start(
    world: World, ada: Client, vic: Client, eve: Client
) -> None:
    flow = await taking_two(world, ada)
    job = (await ada.post(f"/acme/workflows/{flow['id']}/job", ["x", "y"])).json
    target = f"/acme/workflows/{flow['id']}/job/{job['id']}/restart?from=start"
    assert (await ada.put(target)).code == "wrong_lifecycle"
    async with world.agent() as agent:
        await step(world, agent)
    assert (await vic.put(target)).status == 403
    assert (await eve.put(target)).status == 403
    key = {"idempotency-key": "again"}
    again = await ada.put(target, headers=key)
    assert (again.status, again.json["restarted_from"]) == (200, job["id"])
    assert (await ada.put(target, headers=key)).json["id"] == again.json["id"]
    (first,) = await steps(ada, flow, again.json, "?include[task_arguments_values]=1")
    assert first["task_arguments_values"] == ["x", "y"]
    wrong = await ada.put(target.replace("from=start", "from=middle"))
    assert (wrong.status, wrong.code) == (400, "invalid_query")


async def test_a_step_runs_again_with_other_arguments(
    world: World, ada: Client, vic: Client, eve: Client
) -> None:
    flow = await taking_two(world, ada)
    job = (await ada.post(f"/acme/workflows/{flow['id']}/job", ["x", "y"])).json
    async with world.agent() as agent:
        await step(world, agent)
    target = f"/acme/workflows/{flow['id']}/job/{job['id']}/restart"
    body = {"task_arguments": ["x", 7]}
    node = f"{target}?from=step&step={flow['graph']['nodes'][0]['id']}"
    assert (await vic.put(node, body)).status == 403
    assert (await eve.put(node, body)).status == 403
    for wrong in (await ada.put(target, body), await ada.put(f"{target}?from=start", body)):
        assert (wrong.status, wrong.json["errors"][0]["field"]) == (400, "task_arguments")
    again = await ada.put(node, body)
    assert (again.status, again.json["restarted_from"]) == (200, job["id"])
    (first,) = await steps(ada, flow, again.json, "?include[task_arguments_values]=1")
    assert first["task_arguments_values"] == ["x", "7"]


async def test_a_waiting_job_shows_the_reason(world: World, ada: Client) -> None:
    task = await world.task("ask", type="approval", approvers=["max"])
    flow = await create_workflow(world, ada, graph={"nodes": [{"id": "a", "task_id": task}]})
    job = await run(ada, flow)
    target = f"/acme/workflows/{flow['id']}/job/{job['id']}"
    record = (await ada.get(target)).json
    assert record["waiting_reason"] == "approval"
    (first,) = await steps(ada, flow, job)
    assert record["waiting_detail"]["job_id"] == first["id"]
    assert (await world.client("max").put(f"/acme/job/{first['id']}/approve")).status == 200
    await react(world)
    assert (await ada.get(target)).json["state"] == "normal"


async def test_history_is_deleted_with_its_steps(world: World, ada: Client) -> None:
    flow = await create_workflow(world, ada)
    async with world.agent() as agent:
        await run(ada, flow)
        await step(world, agent)
        await step(world, agent)
        going = await run(ada, flow)
        await step(world, agent)
    target = f"/acme/workflows/{flow['id']}/job"
    assert (await ada.delete(target)).json == {"deletedCount": 3}
    # What a running workflow has done so far stays.
    records = (await ada.get(target)).json
    assert {going["id"]} == {record["workflow_job_id"] or record["id"] for record in records}
    assert len(records) == 3


async def test_a_lost_secret_is_not_in_its_records(world: World, ada: Client) -> None:
    masked = [{"type": "input", "label": "a", "masked": True}]
    task = await world.task("first", task_arguments=masked)
    flow = await create_workflow(world, ada, graph={"nodes": [{"id": "a", "task_id": task}]})
    job = await run(ada, flow, "canary")
    for target in (
        f"/acme/workflows/{flow['id']}/job/{job['id']}",
        f"/acme/workflows/{flow['id']}/job?include[task_arguments_values]=1&include[output]=1",
    ):
        assert "canary" not in (await ada.get(target)).text
    guess = f"/acme/workflows/{flow['id']}/job?where[task_arguments_values.0]=canary"
    assert (await ada.get(guess)).json == []
