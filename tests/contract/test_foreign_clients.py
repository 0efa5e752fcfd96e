"""Clients of TheEye: an access token, and the forms that they send."""

import base64
from typing import Any

import pytest

from belvedere.access.credentials import secret_keys
from contract.client import Client
from contract.world import World
from people import PASSWORD

ONE = [{"type": "input", "label": "one"}]
TWO = [*ONE, {"type": "input", "label": "two"}]


@pytest.fixture
def bare_client(world: World) -> Client:
    """No header, no cookie: only the query contains the token, and nothing names the
    organization."""
    return world.client()


def token_of(world: World) -> str:
    return world.credential("token")


async def test_the_first_steps_of_the_documentation_run(world: World, bare_client: Client) -> None:
    """The first steps of the documentation from which interface.md was written."""
    task = await world.task(task_arguments=TWO)
    text = f"access_token={token_of(world)}&customer=acme"
    tasks = (await bare_client.get(f"/acme/task?access_token={token_of(world)}")).json
    assert [item["id"] for item in tasks if item["name"] == "echo"] == [task]
    response = await bare_client.post(f"/job?{text}", {"task": task, "task_arguments": ["a", "b"]})
    assert (response.status, response.json["origin"], response.json["user"]["email"]) == (
        200,
        "user",
        "",
    )
    reply = await bare_client.get(f"/acme/job/{response.json['id']}?access_token={token_of(world)}")
    assert reply.json["task_arguments_values"] == ["a", "b"]
    lifecycle = await bare_client.get(f"/acme/job/{response.json['id']}/lifecycle?{text}")
    assert lifecycle.json == "ready"


async def test_a_token_implies_the_organization(world: World) -> None:
    client = world.client("token")
    task = await world.task()
    assert (await client.post("/job", {"task": task})).json["customer_name"] == "acme"
    for path in ("/task", "/job", "/monitor", "/indicator", "/webhook", "/host", "/file", "/event"):
        assert (await client.get(path)).status == 200, path


async def run_by(client: Client, target: str, **item: Any) -> Any:
    response = await client.post(target, **item)
    assert response.status == 200, response.body
    return response.json["task_arguments_values"]


async def test_a_bare_array_is_the_list_of_arguments(world: World, uma: Client) -> None:
    task = await world.task(task_arguments=TWO)
    arguments = ["a", {"b": 1}]
    assert await run_by(uma, f"/acme/task/{task}/job", body=arguments) == ["a", '{"b":1}']
    assert await run_by(uma, f"/job?customer=acme&task={task}", body=arguments) == ["a", '{"b":1}']
    refused = await uma.post(f"/task/{task}/job", ["a"])
    assert (refused.status, refused.code) == (400, "missing_arguments")


async def test_a_bare_array_is_accepted_with_a_secret(world: World, anonymous: Client) -> None:
    task = await world.task(task_arguments=TWO)
    runtime = world.runtime
    secret = await runtime.db.write(
        secret_keys.reveal, runtime.keyring, world.actors.ada, "task", task
    )
    for target in (
        f"/task/{task}/secret/{secret}/job",
        f"/acme/task/{task}/secret/{secret}/job",
        f"/task/{task}/secret/{secret}/job?customer=acme",
        f"/job/secret/{secret}?customer=acme&task={task}",
    ):
        assert await run_by(anonymous, target, body=["a", "b"]) == ["a", "b"]
    refused = await anonymous.post(f"/task/{task}/secret/{'0' * 64}/job", ["a", "b"])
    assert refused.status == 403


async def test_an_object_is_the_argument_of_a_task_with_one_argument(
    world: World, uma: Client
) -> None:
    fixed = {"type": "fixed", "label": "f", "value": "x"}
    task = await world.task(task_arguments=[fixed, *ONE])
    body = {"event": "push", "size": 1.0, "tags": [None]}
    values = await run_by(uma, f"/acme/task/{task}/job", body=body)
    assert values == ["x", '{"event":"push","size":1.0,"tags":[null]}']
    # A body with a field of our own API is no payload, nor if there are two arguments to fill.
    spoken = {"lifecycle": "onhold", "a": 1}
    assert await run_by(uma, f"/acme/task/{task}/job", body=spoken) == []
    two = await world.task("two", task_arguments=TWO)
    assert (await uma.post(f"/acme/task/{two}/job", body)).status == 400
    # Nor if the path does not name the task.
    assert (await uma.post(f"/job?customer=acme&task={task}", body)).status == 400


@pytest.mark.parametrize(
    ("path", "field", "value"),
    [
        ("/task", "name", "echo"),
        ("/task", "hostname", "web-1"),
        ("/task", "acl", "uma@acme.test"),
        ("/task", "type", "script"),
        ("/file", "filename", "echo.sh"),
        ("/file", "_type", "Script"),
        ("/script", "filename", "echo.sh"),
        ("/monitor", "name", "health"),
        ("/monitor", "type", "dstat"),
        ("/monitor", "state", "unknown"),
        ("/host", "hostname", "web-1"),
        ("/job", "name", "echo"),
        ("/job", "lifecycle", "ready"),
    ],
)
async def test_lists_are_narrowed(
    world: World, ada: Client, path: str, field: str, value: str
) -> None:
    task = await world.task()
    await ada.post("/job", {"task": task})
    host = world.things.hosts["web-1"].host_id
    await ada.post(f"/monitor?host_id={host}", {"name": "health", "type": "dstat"})
    response = await ada.get(f"{path}?customer=acme&where[{field}]={value}")
    assert response.status == 200 and len(response.json) == 1, response.body
    assert (await ada.get(f"{path}?customer=acme&where[{field}]=nothing")).json == []


async def test_a_file_comes_as_a_form(world: World, bare_client: Client) -> None:
    form = (
        b'--b\r\nContent-Disposition: form-data; name="description"\r\n\r\nwhat it is\r\n'
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="deploy.sh"\r\n'
        b"Content-Type: application/x-sh\r\n\r\n#!/bin/sh\r\n--b\r\n"
        b'Content-Disposition: form-data; name="public"\r\n\r\nfalse\r\n--b--\r\n'
    )
    headers = {"content-type": "multipart/form-data; boundary=b"}
    text = f"access_token={token_of(world)}"
    response = await bare_client.post(f"/acme/file?{text}", raw=form, headers=headers)
    assert (response.status, response.json["filename"], response.json["_type"]) == (
        200,
        "deploy.sh",
        "Script",
    )
    again = await bare_client.put(
        f"/acme/file/{response.json['id']}?{text}", raw=form, headers=headers
    )
    assert again.status == 200
    bytes_ = await bare_client.get(f"/acme/file/{response.json['id']}/download?{text}")
    assert bytes_.body == b"#!/bin/sh"
    assert bytes_.headers["content-disposition"].startswith("attachment")


async def test_a_person_signs_in_with_http_basic_and_asks_who_it_is(
    world: World, anonymous: Client
) -> None:
    for name in ("ada", "ada@acme.test", "ADA@acme.test"):
        pair = base64.b64encode(f"{name}:{PASSWORD}".encode()).decode()
        headers = {"authorization": f"Basic {pair}"}
        done = await anonymous.post("/api/auth/login?customer=acme", headers=headers)
        assert done.status == 200
        token = done.json["access_token"]
        record = (await anonymous.get(f"/api/session/profile?access_token={token}")).json
        assert (record["username"], record["email"]) == ("ada", "ada@acme.test")
        assert record["current_customer"]["name"] == "acme" and record["credential"] == "admin"
        assert [place["name"] for place in record["customers"]] == ["acme"]


async def test_a_browser_asks_before_it_sends(world: World, anonymous: Client) -> None:
    """The preflight of a page of another origin, and the request that follows."""
    fields = {
        "origin": "https://console.test",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,idempotency-key",
    }
    first = await anonymous.request("OPTIONS", "/job?customer=acme", headers=fields)
    assert first.status == 204
    assert first.headers["access-control-allow-origin"] == "https://console.test"
    assert "POST" in first.headers["access-control-allow-methods"]
    allowed = first.headers["access-control-allow-headers"].split(", ")
    assert {"authorization", "content-type", "idempotency-key"} <= set(allowed)
    client = world.client("token", headers={"origin": "https://console.test"})
    response = await client.post("/job?customer=acme", {"task": await world.task()})
    assert response.status == 200
    assert response.headers["access-control-allow-origin"] == "https://console.test"
