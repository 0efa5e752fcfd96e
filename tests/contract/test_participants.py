"""The people of one job: assignees, its own ACL, participants; putting a job on hold."""

from typing import Any

import pytest

from belvedere.access.customers import member_changes
from belvedere.jobs.history import consistency
from belvedere.server.background import loops
from contract import flowing
from contract.client import Client, Response
from contract.notifying import deliver_notices
from contract.running import create, show
from contract.sse import Stream
from contract.test_triggers import react
from contract.world import World
from egress.fake_pool import FakeEgressPool
from manual_clock import ManualClock

MISSING = "0" * 24


@pytest.fixture(autouse=True)
def pool(world: World) -> FakeEgressPool:
    world.runtime.egress = fake_egress_pool = FakeEgressPool()
    return fake_egress_pool


async def approval(world: World, **fields: Any) -> str:
    return await world.task(
        "release",
        **{"type": "approval", "approvals_target": "assignees", "acl": ["uma"], **fields},
    )


async def start(client: Client, task: str, **fields: Any) -> Response:
    return await client.post("/acme/job", {"task": task, "task_arguments": [], **fields})


async def list_audit(ada: Client, action: str) -> list[Any]:
    rows = (await ada.get("/api/audit")).json
    return [(row["before"], row["after"]) for row in rows if row["action"] == action]


async def check_consistency(world: World) -> None:
    """Every event of a job continues the one before."""
    assert await world.runtime.db.read(consistency.check, "", 100) == []


# Assignees at creation


@pytest.mark.parametrize("way", ["email", "username", "user id", "member id"])
async def test_assignees_decide_an_approval(world: World, uma: Client, way: str) -> None:
    vic = world.actors.vic
    names = {
        "email": "VIC@acme.test",
        "username": vic.username,
        "user id": vic.user_id,
        "member id": vic.member_id,
    }
    job = (await start(uma, await approval(world), assignee=[names[way]])).json
    waiting = await show(uma, job["id"])
    assert waiting["waiting_detail"]["approvers"] == [vic.user_id]
    assert (await uma.put(f"/acme/job/{job['id']}/approve")).code == "not_an_approver"
    vics = world.client("vic")
    assert [record["id"] for record in (await vics.get("/acme/job")).json] == [job["id"]]
    assert (await vics.put(f"/acme/job/{job['id']}/approve")).json["state"] == "success"


async def test_assignees_replace_those_of_the_task(world: World, uma: Client) -> None:
    task = await approval(world, assigned_users=["max@acme.test"])
    job = (await start(uma, task, assignee=["vic"])).json
    assert (await world.client("max").put(f"/acme/job/{job['id']}/approve")).status == 403
    other = (await start(uma, task)).json
    assert (await world.client("vic").get(f"/acme/job/{other['id']}")).status == 404
    assert (await world.client("max").put(f"/acme/job/{other['id']}/approve")).status == 200


async def test_assignees_do_not_replace_fixed_approvers(world: World, uma: Client) -> None:
    task = await approval(world, approvals_target="fixed", approvers=["max"])
    job = (await start(uma, task, assignee=["vic"])).json
    assert (await world.client("vic").put(f"/acme/job/{job['id']}/approve")).status == 403
    assert (await world.client("max").put(f"/acme/job/{job['id']}/approve")).status == 200


@pytest.mark.parametrize("target", ["/acme/job?task={}&assignee[]=vic&assignee[]=max", "/acme/job"])
async def test_query_and_form_name_assignees(world: World, uma: Client, target: str) -> None:
    task = await approval(world)
    form = f"task={task}&assignee[]=vic&assignee[]=max"
    kind = "application/x-www-form-urlencoded"
    text = "" if "?" in target else form
    response = await uma.post(
        target.format(task), raw=text.encode(), headers={"content-type": kind}
    )
    assert response.status == 200, response.body
    assert "belvedere-ignored" not in response.headers
    people = (await uma.get(f"/acme/job/{response.json['id']}/participants")).json
    assert {person["username"] for person in people["assignee"]} == {"vic", "max"}


@pytest.mark.parametrize(
    ("assignee", "code"),
    [
        ([], "invalid_assignee"),
        ("vic", "invalid_assignee"),
        ([1], "invalid_assignee"),
        (["nobody"], "unknown_members"),
        (["eve@globex.test"], "unknown_members"),
        (["vic"] * 101, "unknown_members"),
    ],
)
async def test_invalid_assignees_are_refused(
    world: World, uma: Client, assignee: Any, code: str
) -> None:
    refused = await start(uma, await approval(world), assignee=assignee)
    assert (refused.status, refused.code) == (400, code)
    assert (await uma.get("/acme/job")).json == []


async def test_a_payload_with_such_a_field_stays_the_argument(world: World, uma: Client) -> None:
    """Issue trackers send objects with a field `assignee`."""
    task = await world.task(task_arguments=[{"type": "input", "label": "payload"}])
    payload = {"assignee": {"name": "vic"}, "key": "OPS-1"}
    job = (await uma.post(f"/acme/task/{task}/job", payload)).json
    assert job["task_arguments_values"] == ['{"assignee":{"name":"vic"},"key":"OPS-1"}']


async def test_a_body_with_only_assignees_assigns(world: World, uma: Client) -> None:
    task = await approval(world)
    response = await uma.post(f"/acme/task/{task}/job", {"assignee": ["vic"]})
    assert response.status == 200, response.body


async def test_a_secret_key_chooses_no_approvers(
    world: World, ada: Client, anonymous: Client
) -> None:
    task = await approval(world, assigned_users=["max@acme.test"])
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    response = await anonymous.post(
        f"/job/secret/{secret}?customer=acme&task={task}", {"assignee": ["vic"], "customer": "acme"}
    )
    assert response.headers["belvedere-ignored"] == "assignee"
    job_id = response.json["id"]
    assert (await world.client("vic").get(f"/acme/job/{job_id}")).status == 404


# No approver


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "Name members with `assignee`"),
        ({"assigned_users": ["left@acme.test"]}, "Name members with `assignee`"),
        ({"approvals_target": "fixed", "approvers": ["vic"]}, "Change the task's approvers"),
        (
            {"approvals_target": "fixed", "approvers": ["uma"], "four_eyes": True},
            "let another person start it",
        ),
    ],
)
async def test_an_approval_without_an_approver_is_not_created(
    world: World, uma: Client, fields: dict[str, Any], words: str
) -> None:
    task = await approval(world, **fields)
    vic = world.actors.vic.member_id
    await world.runtime.db.write(member_changes.change, world.actors.olga, vic, enabled=False)
    refused = await start(uma, task)
    assert (refused.status, refused.code) == (400, "no_approver")
    assert words in refused.json["message"]
    assert (await uma.get("/acme/job")).json == []


async def test_the_initiator_decides_only_if_a_person_or_a_token_starts(
    world: World, ada: Client, anonymous: Client
) -> None:
    task = await approval(world, approvals_target="initiator")
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    refused = await anonymous.post(f"/job/secret/{secret}?customer=acme&task={task}")
    assert (refused.status, refused.code) == (400, "no_approver")
    token = world.client("token")
    job = (await start(token, task)).json
    assert (await token.put(f"/acme/job/{job['id']}/approve")).status == 200


async def test_a_webhook_without_possible_approvers_is_refused(world: World, ada: Client) -> None:
    task = await approval(world)
    hook = (await ada.post("/acme/webhook", {"name": "push", "tasks": [task]})).json["id"]
    refused = await ada.post(f"/acme/webhook/{hook}/trigger", [])
    assert (refused.status, refused.code) == (400, "no_approver")
    assert (await ada.get("/acme/job")).json == []


async def test_a_schedule_records_that_there_is_no_approver(
    world: World, ada: Client, clock: ManualClock
) -> None:
    task = await approval(world)
    path = f"/acme/task/{task}/schedule"
    schedule = (await ada.post(path, {"repeatEvery": "* * * * *"})).json
    # Whatever the second: one minute contains one run.
    clock.move(60)
    await loops.fire_schedules(world.runtime)
    (run,) = (await ada.get(f"/acme/schedule/{schedule['id']}/run")).json
    assert (run["state"], run["reason"], run["job_id"]) == ("missed", "no_approver", None)
    assert "assigned_users" in run["message"]


async def test_a_trigger_reports_that_there_is_no_approver(
    world: World, ada: Client, uma: Client
) -> None:
    source = await world.task()
    await approval(world, triggers=[f"task:{source}:success"])
    async with world.agent() as agent, Stream(ada, "/-/events") as stream:
        await create(uma, source)
        await agent.end(await agent.order())
        await react(world)
        event = await stream.until("trigger.refused")
    assert event.data["data"]["code"] == "no_approver"


async def workflow(world: World, ada: Client, second: str) -> dict[str, Any]:
    tasks = [await world.task(), second]
    graph = {
        "nodes": [{"id": n, "task_id": t} for n, t in zip("ab", tasks, strict=True)],
        "edges": [{"source": "a", "target": "b"}],
    }
    return await flowing.create_workflow(world, ada, graph=graph)


async def steps_of(client: Client, flow: dict[str, Any], job: dict[str, Any]) -> list[Any]:
    """Newest first."""
    answer = await client.get(f"/acme/workflows/{flow['id']}/job/{job['id']}/jobs")
    assert answer.status == 200, answer.body
    steps: list[Any] = answer.json
    return steps


async def test_a_step_without_possible_approvers_ends_in_error(
    world: World, ada: Client, uma: Client
) -> None:
    flow = await workflow(world, ada, await approval(world))
    async with world.agent() as agent:
        job = await flowing.run(uma, flow)
        await flowing.step(world, agent)
    step, _ = await steps_of(ada, flow, job)
    assert (step["lifecycle"], step["state"]) == ("finished", "error")
    assert "Nobody could decide this approval" in step["reason"]
    ended = await show(ada, job["id"])
    assert (ended["lifecycle"], ended["state"]) == ("finished", "failure")


async def test_steps_have_the_assignees_of_their_workflow_job(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    inner = await flowing.create_workflow(
        world, ada, name="inner", graph={"nodes": [{"id": "x", "task_id": await approval(world)}]}
    )
    graph = {
        "nodes": [
            {"id": "a", "task_id": await world.task()},
            {"id": "b", "workflow_id": inner["id"]},
        ],
        "edges": [{"source": "a", "target": "b"}],
    }
    flow = await flowing.create_workflow(world, ada, graph=graph)
    async with world.agent() as agent:
        body = {"task_arguments": [], "assignee": ["vic"]}
        response = await uma.post(f"/acme/workflows/{flow['id']}/job", body)
        await flowing.step(world, agent)
    nested, _ = await steps_of(ada, flow, response.json)
    (step,) = await steps_of(ada, inner, nested)
    assert (await vic.put(f"/acme/job/{step['id']}/approve")).status == 200
    await react(world)
    assert (await show(ada, response.json["id"]))["state"] == "normal"
    # Run again from the start: the same people.
    path = f"/acme/workflows/{flow['id']}/job/{response.json['id']}/restart?from=start"
    again = (await uma.put(path)).json
    people = (await uma.get(f"/acme/job/{again['id']}/participants")).json
    assert [person["username"] for person in people["assignee"]] == ["vic"]


async def test_a_restarted_approval_has_the_same_assignees(
    world: World, uma: Client, vic: Client
) -> None:
    job = (await start(uma, await approval(world), assignee=["vic"])).json
    assert (await vic.put(f"/acme/job/{job['id']}/reject")).status == 200
    again = (await uma.put(f"/acme/job/{job['id']}/restart")).json
    assert (await vic.put(f"/acme/job/{again['id']}/approve")).status == 200


# PUT /job/{id}/assignee


async def test_an_admin_replaces_the_assignees(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    job = (await start(uma, await approval(world), assignee=["max"])).json
    await deliver_notices(world.runtime)
    answer = await ada.put(f"/acme/job/{job['id']}/assignee", ["vic"])
    assert (answer.status, answer.json) == (200, [world.actors.vic.member_id])
    assert (await world.client("max").put(f"/acme/job/{job['id']}/approve")).status == 403
    await deliver_notices(world.runtime)
    assert [note["title"] for note in (await vic.get("/acme/notification")).json] == [
        "release is waiting for an approval"
    ]
    assert (await vic.put(f"/acme/job/{job['id']}/approve")).status == 200
    ids = [[world.actors.max.user_id], [world.actors.vic.user_id]]
    assert await list_audit(ada, "job.assign") == [({"assignees": ids[0]}, {"assignees": ids[1]})]
    await check_consistency(world)


async def test_assignees_of_a_workflow_job_are_those_of_its_steps(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    task = await approval(world, assigned_users=["max@acme.test"])
    flow = await workflow(world, ada, task)
    async with world.agent() as agent:
        job = await flowing.run(uma, flow)
        await flowing.step(world, agent)
    answer = await ada.put(f"/job/{job['id']}/assignee?customer=acme", {"assignee": ["vic"]})
    assert answer.status == 200, answer.body
    step, _ = await steps_of(ada, flow, job)
    assert (await world.client("max").put(f"/acme/job/{step['id']}/approve")).status == 403
    assert (await vic.put(f"/acme/job/{step['id']}/approve")).status == 200
    await check_consistency(world)


async def test_assignees_who_could_not_decide_are_refused(
    world: World, ada: Client, uma: Client
) -> None:
    task = await approval(world, four_eyes=True)
    job = (await start(uma, task, assignee=["max"])).json
    refused = await ada.put(f"/acme/job/{job['id']}/assignee", ["uma"])
    assert (refused.status, refused.code) == (400, "no_approver")
    assert (await world.client("max").put(f"/acme/job/{job['id']}/approve")).status == 200


@pytest.mark.parametrize("action", ["assignee", "acl"])
@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ([], {"unknown_members", "missing_users"}),
        (["nobody"], {"unknown_members"}),
        ([1], {"unknown_members"}),
        ({}, {"unknown_members", "missing_users"}),
        ("uma", {"invalid_body"}),
        (["x"] * 2_000, {"unknown_members", "acl_too_long"}),
    ],
)
async def test_invalid_people_are_refused(
    world: World, ada: Client, action: str, body: Any, codes: set[str]
) -> None:
    job = await create(ada, await world.task())
    refused = await ada.put(f"/acme/job/{job['id']}/{action}", body)
    assert refused.status == 400
    assert refused.code in codes


@pytest.mark.parametrize("action", ["assignee", "acl"])
async def test_only_an_admin_of_the_organization_changes_people(
    world: World, ada: Client, eve: Client, action: str
) -> None:
    job = await create(ada, await world.task())
    assert (await world.client("max").put(f"/acme/job/{job['id']}/{action}", ["uma"])).status == 403
    for client, job_id in ((eve, job["id"]), (ada, MISSING)):
        customer = "globex" if client is eve else "acme"
        missing = await client.put(f"/{customer}/job/{job_id}/{action}", ["uma"])
        assert (missing.status, missing.code) == (404, "job_not_found")


# PUT /job/{id}/acl


async def test_the_acl_of_a_job_replaces_that_of_its_task(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    task = await world.task(acl=["uma"])
    job = await create(ada, task)
    other = await create(ada, task)
    answer = await ada.put(f"/acme/job/{job['id']}/acl", ["Vic"])
    assert (answer.status, answer.json) == (200, ["vic@acme.test"])
    assert (await uma.get(f"/acme/job/{job['id']}")).status == 404
    assert [record["id"] for record in (await uma.get("/acme/job")).json] == [other["id"]]
    assert [record["id"] for record in (await vic.get("/acme/job")).json] == [job["id"]]
    assert (await uma.put(f"/acme/job/{job['id']}/cancel")).status == 404
    assert await list_audit(ada, "job.acl") == [({"acl": []}, {"acl": ["vic@acme.test"]})]
    await check_consistency(world)


async def test_events_follow_the_acl_of_the_job(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    task = await world.task(acl=["uma"])
    job = await create(ada, task)
    other = await create(ada, task)
    async with Stream(vic, "/-/events") as vics, Stream(uma, "/-/events") as umas:
        assert (await ada.put(f"/acme/job/{job['id']}/acl", ["vic"])).status == 200
        await vics.until("job.acl_changed")
        for job_id in (job["id"], other["id"]):
            assert (await ada.put(f"/acme/job/{job_id}/cancel")).status == 200
        assert (await vics.until("job.canceled")).data["object_id"] == job["id"]
        assert (await umas.until("job.canceled")).data["object_id"] == other["id"]


async def test_the_acl_of_a_workflow_job_covers_its_steps(
    world: World, ada: Client, uma: Client, vic: Client
) -> None:
    flow = await flowing.create_workflow(world, ada, acl=["uma"])
    async with world.agent() as agent:
        job = await flowing.run(ada, flow)
        path = f"/acme/workflows/{flow['id']}/job/{job['id']}/acl"
        assert (await ada.put(path, {"users": ["vic"]})).json == ["vic@acme.test"]
        await flowing.step(world, agent)
    # One step is older than the ACL, the other newer.
    for step in await steps_of(ada, flow, job):
        assert (await vic.get(f"/acme/job/{step['id']}")).status == 200
        assert (await uma.get(f"/acme/job/{step['id']}")).status == 404
    assert (await uma.get(f"/acme/job/{job['id']}")).status == 404
    assert (await ada.put(path.replace(job["id"], MISSING), ["vic"])).status == 404
    step = (await steps_of(ada, flow, job))[0]
    assert (await ada.put(path.replace(job["id"], step["id"]), ["vic"])).status == 404


# GET /job/{id}/participants


async def test_participants(world: World, ada: Client, uma: Client, vic: Client) -> None:
    task = await world.task(acl=["uma", "max"])
    job = (await start(uma, task, assignee=["vic"])).json
    answer = await uma.get(f"/acme/job/{job['id']}/participants")
    assert answer.status == 200

    def person(name: str) -> dict[str, str]:
        actor = getattr(world.actors, name)
        return {"id": actor.user_id, "username": actor.username, "email": actor.email}

    assert answer.json["owner"] == person("uma")
    assert answer.json["assignee"] == [{**person("vic"), "email": ""}]
    assert sorted(observer["username"] for observer in answer.json["observers"]) == ["max", "uma"]
    seen_by_ada = (await ada.get(f"/acme/job/{job['id']}/participants")).json
    assert seen_by_ada["assignee"] == [person("vic")]
    # Vic sees the job as its assignee; the ACL does not name him, and he does not see it.
    assert (await vic.get(f"/acme/job/{job['id']}/participants")).json["observers"] == []
    secret = (await ada.get(f"/acme/task/{task}/credentials")).json["secret"]
    other = (await world.client().post(f"/job/secret/{secret}?customer=acme&task={task}")).json
    assert (await ada.get(f"/acme/job/{other['id']}/participants")).json["owner"] is None
    assert (await vic.get(f"/acme/job/{other['id']}/participants")).status == 404


# PUT /job/{id}/hold


async def test_a_queued_job_is_put_on_hold_and_released(
    world: World, ada: Client, uma: Client
) -> None:
    job = await create(uma, await world.task())
    for _ in range(2):
        response = await uma.put(f"/acme/job/{job['id']}/hold")
        assert response.status == 200, response.body
        assert (response.json["lifecycle"], response.json["waiting_reason"]) == ("onhold", "held")
    assert (await uma.get("/-/needs")).json == []
    async with world.agent() as agent:
        released = await uma.put(f"/acme/job/{job['id']}/release")
        assert (released.status, released.json["reason"]) == (200, None)
        await agent.end(await agent.order())
    assert (await show(uma, job["id"]))["lifecycle"] == "finished"
    assert len(await list_audit(ada, "job.hold")) == 1
    assert len(await list_audit(ada, "job.release")) == 1
    await check_consistency(world)


async def test_input_releases_a_job_on_hold(world: World, uma: Client) -> None:
    task = await world.task(task_arguments=[{"type": "input", "label": "a"}])
    job = await create(uma, task, ["old"])
    await uma.put(f"/acme/job/{job['id']}/hold")
    response = await uma.put(f"/acme/job/{job['id']}/input", {"args": ["new"]})
    assert (response.json["lifecycle"], response.json["reason"]) == ("ready", None)
    assert response.json["task_arguments_values"] == ["new"]


async def test_only_a_queued_job_is_put_on_hold(
    world: World, ada: Client, uma: Client, vic: Client, eve: Client
) -> None:
    job = await create(uma, await world.task())
    path = f"/acme/job/{job['id']}"
    assert (await vic.put(f"{path}/hold")).status == 403
    assert (await eve.put(f"/globex/job/{job['id']}/hold")).status == 404
    refused = await uma.put(f"{path}/release")
    assert (refused.status, refused.code) == (409, "wrong_lifecycle")
    async with world.agent() as agent:
        order = await agent.order()
        refused = await uma.put(f"{path}/hold")
        assert (refused.status, refused.code) == (409, "wrong_lifecycle")
        await agent.end(order)
    assert (await uma.put(f"{path}/hold")).code == "wrong_lifecycle"
    flow = await flowing.create_workflow(world, ada)
    run = await flowing.run(uma, flow)
    assert (await uma.put(f"/acme/job/{run['id']}/hold")).code == "wrong_lifecycle"
