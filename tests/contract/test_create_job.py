"""Creating a job: POST /job and POST /{customer}/job, the shape of the request and the answer."""

from typing import Any

from contract import interface_fields
from contract.client import Client
from contract.running import create
from contract.world import World

ONE_ARGUMENT = [{"type": "input", "label": "colour"}]


async def test_a_job_is_created(world: World, uma: Client) -> None:
    task = await world.task()
    response = await uma.post("/job?customer=acme", {"task": task, "task_arguments": []})
    assert response.status == 200
    assert (response.json["lifecycle"], response.json["state"]) == ("ready", "in_progress")
    assert response.json["_type"] == "ScriptJob"
    assert response.json["name"] == "echo" and response.json["task_id"] == task
    assert interface_fields.missing(response.json, interface_fields.CREATED) == []
    assert response.json["output"] is None and "result" not in response.json


async def test_the_organization_may_be_in_the_path(world: World, uma: Client) -> None:
    response = await uma.post("/acme/job", {"task": await world.task(), "task_arguments": []})
    assert (response.status, response.json["lifecycle"]) == (200, "ready")


async def test_the_organization_may_be_in_the_body(world: World, uma: Client) -> None:
    response = await uma.post(
        "/job", {"task": await world.task(), "task_arguments": [], "customer": "acme"}
    )
    assert (response.status, response.json["customer_name"]) == (200, "acme")


async def test_the_organizations_name_has_no_case(world: World, uma: Client) -> None:
    task = await world.task()
    assert (await uma.post("/ACME/job", {"task": task})).status == 200
    assert (await uma.post("/job?customer=Acme", {"task": task, "customer": "aCME"})).status == 200


async def test_two_organizations_that_disagree_are_refused(world: World, uma: Client) -> None:
    body = {"task": await world.task(), "task_arguments": []}
    for refused in (
        await uma.post("/job?customer=acme", {**body, "customer": "globex"}),
        await uma.post("/acme/job", {**body, "customer": "globex"}),
        await uma.post("/acme/job?customer=globex", body),
        await uma.post("/job?customer=acme&customer=globex", body),
    ):
        assert refused.status == 400
    assert (await uma.get("/job")).json == []


async def test_another_and_an_unknown_organization_get_the_same_refusal(
    world: World, uma: Client
) -> None:
    body, items = {"task": await world.task()}, []
    for name in ("globex", "nowhere", "a b", ".", "x" * 300):
        quoted = name.replace(" ", "%20")
        for refused in (
            await uma.post("/job", {**body, "customer": name}),
            await uma.post(f"/job?customer={quoted}", body),
            await uma.post(f"/{quoted}/job", body),
        ):
            assert (refused.status, refused.code) == (403, "other_customer"), name
            items.append({**refused.json, "request_id": ""})
    assert all(item == items[0] for item in items)


async def test_the_host_is_an_object_in_the_answer_and_an_id_later(
    world: World, uma: Client
) -> None:
    job = await create(uma, await world.task())
    assert job["host"]["hostname"] == "web-1" and job["host"]["id"] == job["host_id"]
    assert job["host"]["_id"] == job["host_id"]
    assert (await uma.get(f"/acme/job/{job['id']}")).json["host"] == job["host_id"]


async def test_arguments_are_returned_in_order(world: World, uma: Client) -> None:
    two = [{"type": "input", "label": "a"}, {"type": "input", "label": "b"}]
    job = await create(uma, await world.task(task_arguments=two), ["first", "second"])
    assert job["task_arguments_values"] == ["first", "second"]
    assert [task_argument["label"] for task_argument in job["task"]["task_arguments"]] == ["a", "b"]


async def test_the_user_is_the_caller(world: World, uma: Client) -> None:
    job = await create(uma, await world.task())
    assert job["user"] == {"id": job["user_id"], "username": "uma", "email": "uma@acme.test"}
    assert job["origin"] == "user"


async def test_a_token_is_its_own_user(world: World) -> None:
    job = await create(world.client("token"), await world.task())
    assert job["user"] == {"id": job["user_id"], "username": "token of acme", "email": ""}


UNFIT: list[tuple[dict[str, Any], str]] = [
    ({}, "missing_arguments"),
    ({"task_arguments": []}, "missing_arguments"),
    ({"task_arguments": "a"}, "bad_arguments"),
    ({"task_arguments": ["a\0b"]}, "bad_arguments"),
    ({"task_arguments": ["a", "b"]}, "too_many_arguments"),
    ({"task_arguments": [None]}, "bad_arguments"),
    ({"task_arguments": ["x" * (128 * 1024 + 1)]}, "bad_arguments"),
]


async def test_arguments_that_do_not_fit_make_no_job(world: World, uma: Client) -> None:
    task = await world.task(task_arguments=ONE_ARGUMENT)
    for record, code in UNFIT:
        refused = await uma.post("/acme/job?strict=1", {"task": task, **record})
        assert (refused.status, refused.code) == (400, code), record
        assert refused.json["errors"][0]["field"].startswith("task_arguments")
    assert (await uma.get("/acme/job")).json == []


async def test_a_task_must_be_named(uma: Client) -> None:
    for body in ({}, {"task": ""}, {"task": None}):
        refused = await uma.post("/acme/job", body)
        assert (refused.status, refused.code) == (400, "task_required")
    assert (await uma.post("/acme/job", {"task": 5})).status == 400


async def test_a_missing_task_is_reported(uma: Client) -> None:
    for task in ("0" * 24, "no id", "\0", "'", "é" * 24):
        missing = await uma.post("/acme/job", {"task": task})
        assert (missing.status, missing.code) == (404, "task_not_found"), task


async def test_a_task_of_another_organization_is_not_found(
    world: World, uma: Client, ada: Client
) -> None:
    """Also refused for an admin, whom no ACL excludes."""
    theirs = await world.task(by="eve")
    for client in (uma, ada):
        response = await client.post("/acme/job", {"task": theirs})
        missing = await client.post("/acme/job", {"task": "0" * 24})
        assert (response.status, response.code) == (404, "task_not_found")
        assert {**response.json, "request_id": ""} == {**missing.json, "request_id": ""}


async def test_a_task_whose_acl_does_not_name_the_caller_is_not_found(
    world: World, uma: Client
) -> None:
    missing = await uma.post("/acme/job", {"task": await world.task(acl=["vic"])})
    assert (missing.status, missing.code) == (404, "task_not_found")


async def test_a_viewer_is_refused(world: World, vic: Client) -> None:
    refused = await vic.post("/acme/job", {"task": await world.task()})
    assert (refused.status, refused.code) == (403, "level")


async def test_a_manager_runs_only_tasks_that_the_acl_grants(world: World) -> None:
    max_ = world.client("max")
    refused = await max_.post("/acme/job", {"task": await world.task(acl=["uma"])})
    assert (refused.status, refused.code) == (403, "may_not_run")
    assert (await max_.post("/acme/job", {"task": await world.task(acl=["max"])})).status == 200


async def test_a_job_may_be_created_on_its_task(world: World, uma: Client) -> None:
    task = await world.task()
    response = await uma.post(f"/acme/task/{task}/job", {"task_arguments": []})
    assert (response.status, response.json["task_id"]) == (200, task)


async def test_only_two_lifecycles_can_be_requested(world: World, uma: Client) -> None:
    task = await world.task()
    strange: list[Any] = ["finished", "assigned", "nonsense", 5, {}, [], True]
    for lifecycle in strange:
        refused = await uma.post("/acme/job", {"task": task, "lifecycle": lifecycle})
        assert refused.status == 400, lifecycle
    for lifecycle in ("onhold", "syncing"):
        response = await uma.post("/acme/job", {"task": task, "lifecycle": lifecycle})
        assert (response.status, response.json["lifecycle"]) == (200, lifecycle)
    for lifecycle in (None, ""):
        response = await uma.post("/acme/job", {"task": task, "lifecycle": lifecycle})
        assert (response.status, response.json["lifecycle"]) == (200, "ready")
