"""Hosts through their handlers."""

import pytest

from belvedere.access import Actor, Level
from belvedere.access.credentials.enrolment import create_enrolment
from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Database
from belvedere.hosts.api import ROUTES
from call_handler import Caller, services
from people import ADDRESS, Actors


@pytest.fixture
def call(db: Database, keys: Keyring) -> Caller:
    return Caller(services(db, keys), ROUTES)


async def test_a_host_enrols(call: Caller, db: Database, keys: Keyring, actors: Actors) -> None:
    _, text = await db.write(create_enrolment, keys, actors.ada)
    anyone = Actor("", "", Level.ANONYMOUS, "anonymous", address=ADDRESS)
    body = {"token": text, "hostname": "web-1", "fingerprint": "machine-1"}
    handler_reply = await call(anyone, "POST", "/-/enrol", body=body)
    assert handler_reply.status == 201
    assert set(handler_reply.body) == {"token", "host_id", "hostname", "customer", "update_key"}
    host_id = handler_reply.body["host_id"]
    response = (await call(actors.vic, "GET", "/host/{id}", object_id=host_id)).body
    assert (response["id"], response["_id"], response["_type"], response["ip"]) == (
        host_id,
        host_id,
        "Host",
        ADDRESS,
    )
    assert (response["customer_name"], response["integrations"], response["enable"]) == (
        "acme",
        {},
        True,
    )
    assert (await call(actors.vic, "GET", "/host")).body == [response]
    counted = await call(actors.vic, "GET", "/host", query={"count": ["true"]})
    assert counted.headers == {"X-Total-Count": "1"}


async def test_changes_and_deletion(
    call: Caller, db: Database, keys: Keyring, actors: Actors
) -> None:
    _, text = await db.write(create_enrolment, keys, actors.ada)
    body = {"token": text, "hostname": "web-1", "fingerprint": "machine-1"}
    host_id = (await call(actors.ada, "POST", "/-/enrol", body=body)).body["host_id"]
    changed = await call(
        actors.ada, "PATCH", "/host/{id}", object_id=host_id, body={"tags": ["a"], "draining": True}
    )
    assert (changed.body["tags"], changed.body["draining"]) == (["a"], True)
    off = await call(actors.ada, "PUT", "/host/{id}/disable", object_id=host_id)
    assert off.body == "ok"
    response = (await call(actors.vic, "GET", "/host/{id}", object_id=host_id)).body
    assert (response["state"], response["disabled"]) == ("disabled", True)
    await call(actors.ada, "PUT", "/host/{id}/enable", object_id=host_id)
    gone = await call(actors.ada, "DELETE", "/host/{id}", object_id=host_id)
    assert (gone.status, gone.body["id"]) == (200, host_id)
    assert (await call(actors.vic, "GET", "/host")).body == []
