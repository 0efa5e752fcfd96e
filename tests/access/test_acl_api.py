"""The four ACL endpoints that every kind of object has."""

from typing import Any

import msgspec
import pytest

from access.endpoints import Endpoints, scope
from belvedere.access import Actor
from belvedere.access.api import acl_routes
from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Forbidden, Invalid, NotFound
from belvedere.base.ids import new_id
from belvedere.db import Database, Tx
from call_handler import no_body
from people import Actors

TASK = new_id()


def find(tx: Tx, customer_id: str, object_id: str) -> object:
    """The only task belongs to the organization acme."""
    name = tx.value("select name from customers where id = ?", customer_id)
    if (name, object_id) != ("acme", TASK):
        raise NotFound("There is no such task.")
    return object_id


ROUTES = {route.method: route for route in acl_routes("task", "/task/{id}/acl", find)}


async def call_route(
    endpoints: Endpoints,
    method: str,
    actor: Actor,
    body: dict[str, Any] | None = None,
    query: dict[str, list[str]] | None = None,
    object_id: str = TASK,
) -> Any:
    route = ROUTES[method]
    checked = None if route.body is None else msgspec.convert(body or {}, route.body)
    request: AnyRequest = Request(
        scope({}, "http"),
        no_body,
        route,
        {"id": object_id},
        query or {},
        actor=actor,
        services=endpoints.runtime,
        body=checked,
    )
    return msgspec.to_builtins(await route.handler(request))


async def test_the_acl_routes_read_replace_and_change_an_acl(
    endpoints: Endpoints, db: Database, actors: Actors
) -> None:
    both = {
        "users": ["uma@acme.test", "vic@acme.test"],
        "acl": ["uma@acme.test", "vic@acme.test"],
        "pending": [],
    }
    fields = {"users": ["vic@acme.test"], "acl": ["vic@acme.test"], "pending": []}
    assert await call_route(endpoints, "GET", actors.max) == {"users": [], "acl": [], "pending": []}
    assert await call_route(endpoints, "PUT", actors.max, {"users": ["vic"]}) == fields
    assert (
        await call_route(endpoints, "PATCH", actors.max, {"users": ["uma"], "action": "add"})
        == both
    )
    assert (
        await call_route(endpoints, "PATCH", actors.max, {"users": ["uma"], "action": "remove"})
        == fields
    )
    assert await call_route(endpoints, "GET", actors.max) == fields
    assert await call_route(endpoints, "DELETE", actors.max) == {
        "users": [],
        "acl": [],
        "pending": [],
    }


def test_all_four_ask_for_a_manager_in_both_styles() -> None:
    assert sorted(ROUTES) == ["DELETE", "GET", "PATCH", "PUT"]
    assert {(route.level, route.style, route.from_interface) for route in ROUTES.values()} == {
        ("manager", "both", True)
    }


@pytest.mark.parametrize("method", sorted(ROUTES))
async def test_objects_of_others_and_missing_objects_are_not_found(
    endpoints: Endpoints, actors: Actors, method: str
) -> None:
    body = {"users": ["eve@globex.test"], "action": "add"}
    for actor, object_id in ((actors.eve, TASK), (actors.max, new_id())):
        with pytest.raises(NotFound):
            await call_route(endpoints, method, actor, body, object_id=object_id)


async def test_a_new_array_is_required(endpoints: Endpoints, actors: Actors) -> None:
    with pytest.raises(Invalid) as caught:
        await call_route(endpoints, "PUT", actors.max, {})
    assert caught.value.code == "missing_users"
    assert await call_route(endpoints, "PUT", actors.max, {"users": []}) == {
        "users": [],
        "acl": [],
        "pending": [],
    }


async def test_old_clients_send_the_query(endpoints: Endpoints, actors: Actors) -> None:
    for name in ("users", "users[]"):
        answer = await call_route(endpoints, "PUT", actors.max, None, {name: ["vic", "uma"]})
        assert len(answer["acl"]) == 2
    query = {"users": ["vic"], "action": ["remove"]}
    assert (await call_route(endpoints, "PATCH", actors.max, None, query))["acl"] == [
        "uma@acme.test"
    ]


@pytest.mark.parametrize(
    "body", [{"users": ["vic"]}, {"users": [], "action": "add"}, {"users": ["x"], "action": "add"}]
)
async def test_an_ambiguous_patch_is_refused(
    endpoints: Endpoints, actors: Actors, body: dict[str, Any]
) -> None:
    with pytest.raises(Invalid):
        await call_route(endpoints, "PATCH", actors.max, body)


async def test_the_operation_checks_permissions_too(endpoints: Endpoints, actors: Actors) -> None:
    with pytest.raises(Forbidden):
        await call_route(endpoints, "PUT", actors.vic, {"users": ["vic"]})
