"""Members, tokens, enrolments, the organization and the audit log, over the API."""

import msgspec
import pytest

from access.endpoints import Endpoints, find
from belvedere.access import Actor, Keyring, Level, authenticate, redeem_enrolment
from belvedere.access.actor import LEVEL_ORDER
from belvedere.access.api import ROUTES
from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound, Stale
from belvedere.base.ids import new_id
from people import Actors

MEMBER, MEMBERS = "PATCH /api/member/{id}", "GET /api/member"


async def test_members_are_listed_with_their_accounts(endpoints: Endpoints, actors: Actors) -> None:
    answer = await endpoints.call(MEMBERS, actors.vic)
    vic = answer.body[-1]
    assert vic["user"] == {
        "id": actors.vic.user_id,
        "name": "",
        "username": "vic",
        "email": "vic@acme.test",
        "enabled": True,
    }
    assert (vic["credential"], vic["tags"], vic["disabled"], vic["invited"]) == (
        "viewer",
        [],
        False,
        False,
    )
    assert vic["customer_name"] == "acme"
    response = await endpoints.call("GET /api/member/{id}", actors.vic, id=vic["id"])
    assert response.body == vic


async def test_tags_come_as_pairs_and_as_texts(endpoints: Endpoints, actors: Actors) -> None:
    body = {"tags": [{"k": "team", "v": "Blue"}, "site:rome"], "disabled": True}
    answer = await endpoints.call(MEMBER, actors.max, body, id=actors.vic.member_id)
    assert answer.body["tags"] == [{"k": "team", "v": "blue"}, {"k": "site", "v": "rome"}]
    assert answer.body["disabled"] is True
    again = await endpoints.call(MEMBER, actors.max, {"disabled": False}, id=actors.vic.member_id)
    assert (again.body["disabled"], len(again.body["tags"])) == (False, 2)


async def test_a_level_has_its_word(endpoints: Endpoints, actors: Actors) -> None:
    with pytest.raises(Invalid):
        await endpoints.call(MEMBER, actors.max, {"credential": "root"}, id=actors.vic.member_id)
    answer = await endpoints.call(
        MEMBER, actors.max, {"credential": "user"}, id=actors.vic.member_id
    )
    assert answer.body["credential"] == "user"


async def test_a_stale_edit_is_refused(endpoints: Endpoints, actors: Actors) -> None:
    for headers, fits in (({"if-match": "1"}, True), ({"if-match": '"1"'}, False)):
        body = {"tags": [f"a:{new_id()}"]}
        call = endpoints.call(MEMBER, actors.max, body, headers=headers, id=actors.vic.member_id)
        if fits:
            assert (await call).body["version"] == 2
        else:
            with pytest.raises(Stale):
                await call


async def test_a_member_is_removed(endpoints: Endpoints, actors: Actors) -> None:
    endpoint = "DELETE /api/member/{id}"
    answer = await endpoints.call(endpoint, actors.max, id=actors.vic.member_id)
    assert (answer.status, answer.body["id"]) == (200, actors.vic.member_id)
    with pytest.raises(NotFound):
        await endpoints.call(endpoint, actors.max, id=actors.vic.member_id)


async def test_a_token_is_shown_once(endpoints: Endpoints, keys: Keyring, actors: Actors) -> None:
    response = await endpoints.call("POST /api/token", actors.ada, {"name": "ci", "expires_in": 60})
    assert response.status == 200
    assert await endpoints.runtime.db.read(authenticate, keys, response.body["token"])
    listed = await endpoints.call("GET /api/token", actors.ada)
    (item,) = listed.body
    assert "token" not in item
    assert (item["id"], item["username"], item["created_by"]) == (
        response.body["id"],
        "ci",
        "ada@acme.test",
    )
    gone = await endpoints.call("DELETE /api/token/{id}", actors.ada, id=item["id"])
    assert (gone.status, gone.body["id"]) == (200, item["id"])
    assert (await endpoints.call("GET /api/token", actors.ada)).body == []


async def test_an_enrolment_is_created_listed_and_revoked(
    endpoints: Endpoints, keys: Keyring, actors: Actors
) -> None:
    response = await endpoints.call("POST /api/enrolment", actors.ada, {"name": "farm", "uses": 2})
    assert (response.status, response.body["uses_left"]) == (201, 2)
    await endpoints.runtime.db.write(redeem_enrolment, keys, response.body["token"], "web-1", "x")
    (item,) = (await endpoints.call("GET /api/enrolment", actors.ada)).body
    assert (item["uses_left"], item["last_use"] is None) == (1, False)
    assert "token" not in item
    await endpoints.call("DELETE /api/enrolment/{id}", actors.ada, id=item["id"])
    assert (await endpoints.call("GET /api/enrolment", actors.ada)).body == []
    plain = await endpoints.call("POST /api/enrolment", actors.ada)
    assert plain.body["uses_left"] == 1


async def test_the_organization_is_shown_renamed_and_handed_on(
    endpoints: Endpoints, actors: Actors
) -> None:
    assert (await endpoints.call("GET /api/customer", actors.vic)).body["name"] == "acme"
    renamed = await endpoints.call("PUT /api/customer", actors.olga, {"name": "apex"})
    assert renamed.body["name"] == "apex"
    for name, refusal in (("globex", Conflict), ("job", Invalid)):
        with pytest.raises(refusal):
            await endpoints.call("PUT /api/customer", actors.olga, {"name": name})
    heir = {"member_id": actors.ada.member_id}
    handed = await endpoints.call("PUT /api/customer/owner", actors.olga, heir)
    assert handed.body["credential"] == "owner"


async def test_the_organization_is_disabled_with_its_name(
    endpoints: Endpoints, actors: Actors
) -> None:
    with pytest.raises(Invalid):
        await endpoints.call("DELETE /api/customer", actors.olga)
    query = {"confirm": ["acme"]}
    answer = await endpoints.call("DELETE /api/customer", actors.olga, query=query)
    assert answer.body["enabled"] is False


async def test_the_audit_is_read_by_admins(endpoints: Endpoints, actors: Actors) -> None:
    await endpoints.call(MEMBER, actors.max, {"tags": ["a:b"]}, id=actors.vic.member_id)
    query = {"limit": ["1"]}
    (row,) = (await endpoints.call("GET /api/audit", actors.ada, query=query)).body
    assert (row["action"], row["user"], row["kind"]) == (
        "member.change",
        "max@acme.test",
        "member",
    )
    assert row["before"]["tags"] == []
    assert row["after"]["tags"] == ["a:b"]
    query["after"] = [row["id"]]
    (older,) = (await endpoints.call("GET /api/audit", actors.ada, query=query)).body
    assert older["id"] < row["id"]


@pytest.mark.parametrize(
    "query",
    [
        {"limit": ["0"]},
        {"limit": ["1001"]},
        {"limit": ["x"]},
        {"after": ["x"]},
        {"object_id": [""]},
    ],
)
async def test_the_audit_refuses_bad_pages(
    endpoints: Endpoints, actors: Actors, query: dict[str, list[str]]
) -> None:
    with pytest.raises(Invalid):
        await endpoints.call("GET /api/audit", actors.ada, query=query)


@pytest.mark.parametrize("endpoint", [f"{route.method} {route.path}" for route in ROUTES])
async def test_every_route_requires_the_level_it_declares(
    endpoints: Endpoints, actors: Actors, endpoint: str
) -> None:
    expected = Level(find(endpoint).level)
    for level in LEVEL_ORDER[: LEVEL_ORDER.index(expected)]:
        with pytest.raises(Forbidden):
            await endpoints.call(endpoint, Actor(actors.acme.id, "acme", level, "member"))


def test_no_route_exists_twice() -> None:
    endpoints = [(route.method, route.path) for route in ROUTES]
    assert len(set(endpoints)) == len(endpoints)


def test_every_route_is_declared_correctly() -> None:
    for route in ROUTES:
        assert route.style == "plain"
        assert route.summary
        assert route.answer is not None
        assert route.path.startswith("/api/")
        if route.body is not None:
            strict = msgspec.inspect.type_info(route.body).forbid_unknown_fields  # type: ignore[attr-defined]
            assert strict is not route.from_interface, route.path
