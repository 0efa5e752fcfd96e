"""The four ACL doors that any record gets."""

from typing import Any

import msgspec
import pytest

from access.endpoints import Doors, scope
from belvedere.access import Actor
from belvedere.access.api import acl_routes
from belvedere.access.request import AnyRequest, Request
from belvedere.base.errors import Forbidden, Invalid, NotFound
from belvedere.base.ids import new_id
from belvedere.db import Database, Tx
from call_handler import no_body
from people import Cast

TASK = new_id()


def find(tx: Tx, customer_id: str, object_id: str) -> object:
    """The only task there is belongs to whoever is called acme."""
    name = tx.value("select name from customers where id = ?", customer_id)
    if (name, object_id) != ("acme", TASK):
        raise NotFound("There is no such task.")
    return object_id


ROUTES = {route.method: route for route in acl_routes("task", "/task/{id}/acl", find)}


async def knock(
    doors: Doors,
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
        services=doors.runtime,
        body=checked,
    )
    return msgspec.to_builtins(await route.handler(request))


async def test_it_works(doors: Doors, db: Database, cast: Cast) -> None:
    both = {"users": ["uma@acme.test", "vic@acme.test"], "acl": ["uma@acme.test", "vic@acme.test"]}
    one = {"users": ["vic@acme.test"], "acl": ["vic@acme.test"]}
    assert await knock(doors, "GET", cast.max) == {"users": [], "acl": []}
    assert await knock(doors, "PUT", cast.max, {"users": ["vic"]}) == one
    assert await knock(doors, "PATCH", cast.max, {"users": ["uma"], "action": "add"}) == both
    assert await knock(doors, "PATCH", cast.max, {"users": ["uma"], "action": "remove"}) == one
    assert await knock(doors, "GET", cast.max) == one
    assert await knock(doors, "DELETE", cast.max) == {"users": [], "acl": []}


def test_all_four_ask_for_a_manager_in_both_styles() -> None:
    assert sorted(ROUTES) == ["DELETE", "GET", "PATCH", "PUT"]
    assert {(route.level, route.style, route.from_interface) for route in ROUTES.values()} == {
        ("manager", "both", True)
    }


@pytest.mark.parametrize("method", sorted(ROUTES))
async def test_others_and_missing_ones_are_not_found(doors: Doors, cast: Cast, method: str) -> None:
    body = {"users": ["eve@globex.test"], "action": "add"}
    for actor, object_id in ((cast.eve, TASK), (cast.max, new_id())):
        with pytest.raises(NotFound):
            await knock(doors, method, actor, body, object_id=object_id)


async def test_a_new_array_is_required(doors: Doors, cast: Cast) -> None:
    with pytest.raises(Invalid) as caught:
        await knock(doors, "PUT", cast.max, {})
    assert caught.value.code == "missing_users"
    assert await knock(doors, "PUT", cast.max, {"users": []}) == {"users": [], "acl": []}


async def test_old_clients_send_the_query(doors: Doors, cast: Cast) -> None:
    for name in ("users", "users[]"):
        answer = await knock(doors, "PUT", cast.max, None, {name: ["vic", "uma"]})
        assert len(answer["acl"]) == 2
    query = {"users": ["vic"], "action": ["remove"]}
    assert (await knock(doors, "PATCH", cast.max, None, query))["acl"] == ["uma@acme.test"]


@pytest.mark.parametrize(
    "body", [{"users": ["vic"]}, {"users": [], "action": "add"}, {"users": ["x"], "action": "add"}]
)
async def test_a_patch_that_says_nothing_clear_is_refused(
    doors: Doors, cast: Cast, body: dict[str, Any]
) -> None:
    with pytest.raises(Invalid):
        await knock(doors, "PATCH", cast.max, body)


async def test_the_verb_guards_itself_too(doors: Doors, cast: Cast) -> None:
    with pytest.raises(Forbidden):
        await knock(doors, "PUT", cast.vic, {"users": ["vic"]})
