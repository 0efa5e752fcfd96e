"""Tasks through their handlers."""

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Stale
from belvedere.db import Database
from belvedere.hosts.model import HostRow
from belvedere.tasks.api import ROUTES
from call_handler import Caller, services
from people import Actors

from .conftest import SOURCE


@pytest.fixture
def call(db: Database, keys: Keyring) -> Caller:
    return Caller(services(db, keys), ROUTES)


async def test_a_task_is_created_and_read(call: Caller, actors: Actors, host: HostRow) -> None:
    body = {
        "name": "greet",
        "type": "script",
        "hostname": "web-1",
        "script": {"filename": "greet.sh", "source": SOURCE},
    }
    response = (await call(actors.ada, "POST", "/task", body=body)).body
    task_id = response["id"]
    first_response = (await call(actors.ada, "GET", "/task/{id}", object_id=task_id)).body
    assert first_response == response
    assert (await call(actors.ada, "GET", "/task")).body == [response]
    assert (await call(actors.ada, "GET", "/task", query={"host": [host.id]})).body == [response]
    assert (await call(actors.ada, "GET", "/task", query={"host": ["0" * 24]})).body == []
    same = await call(actors.ada, "PUT", "/task/{id}", object_id=task_id, body=response)
    assert same.body == response
    gone = await call(actors.ada, "DELETE", "/task/{id}", object_id=task_id)
    assert (gone.status, gone.body) == (200, response)


async def test_changes_and_timeouts(call: Caller, actors: Actors) -> None:
    response = (await call(actors.ada, "POST", "/task", body={"name": "a", "type": "dummy"})).body
    changed = await call(
        actors.ada, "PATCH", "/task/{id}", object_id=response["id"], body={"name": "b"}
    )
    assert (changed.body["name"], changed.body["version"]) == ("b", 2)
    timed = await call(
        actors.ada,
        "PUT",
        "/api/task/{id}/timeout",
        object_id=response["id"],
        body={"timeout": 9_000},
        headers={"If-Match": '"2"'},
    )
    assert timed.body["timeout"] == 9_000
    with pytest.raises(Stale):
        await call(
            actors.ada,
            "PATCH",
            "/task/{id}",
            object_id=response["id"],
            body={"name": "c"},
            headers={"If-Match": "2"},
        )


async def test_credentials_and_their_rotation(call: Caller, actors: Actors) -> None:
    response = (await call(actors.ada, "POST", "/task", body={"name": "a", "type": "dummy"})).body
    path = "/task/{id}/credentials"
    first = (await call(actors.ada, "GET", path, object_id=response["id"])).body
    assert first["id"] == response["id"] and len(first["secret"]) == 64
    second = (await call(actors.ada, "POST", f"{path}/rotate", object_id=response["id"])).body
    assert second["secret"] != first["secret"]
    assert (await call(actors.ada, "GET", path, object_id=response["id"])).body == second


async def test_the_acl_routes(call: Caller, actors: Actors) -> None:
    response = (await call(actors.ada, "POST", "/task", body={"name": "a", "type": "dummy"})).body
    path, task_id = "/task/{id}/acl", response["id"]
    put = await call(actors.max, "PUT", path, object_id=task_id, body={"users": ["uma@acme.test"]})
    assert put.body == {"users": ["uma@acme.test"], "acl": ["uma@acme.test"], "pending": []}
    body = {"users": ["vic"], "action": "add"}
    patched = await call(actors.max, "PATCH", path, object_id=task_id, body=body)
    assert patched.body["users"] == ["uma@acme.test", "vic@acme.test"]
    assert (await call(actors.max, "GET", path, object_id=task_id)).body == patched.body
    assert (await call(actors.max, "DELETE", path, object_id=task_id)).body["acl"] == []
