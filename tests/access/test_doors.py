"""Members, tokens, enrolments, the organization and the audit, through the doors."""

import msgspec
import pytest

from access.endpoints import Doors, find
from belvedere.access import Actor, Keyring, Level, authenticate, redeem_enrolment
from belvedere.access.actor import LEVEL_ORDER
from belvedere.access.api import ROUTES
from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound, Stale
from belvedere.base.ids import new_id
from people import Cast

MEMBER, MEMBERS = "PATCH /api/member/{id}", "GET /api/member"


async def test_it_works(doors: Doors, cast: Cast) -> None:
    answer = await doors.knock(MEMBERS, cast.vic)
    vic = answer.body[-1]
    assert vic["user"] == {
        "id": cast.vic.user_id,
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
    one = await doors.knock("GET /api/member/{id}", cast.vic, id=vic["id"])
    assert one.body == vic


async def test_tags_come_as_pairs_and_as_texts(doors: Doors, cast: Cast) -> None:
    body = {"tags": [{"k": "team", "v": "Blue"}, "site:rome"], "disabled": True}
    answer = await doors.knock(MEMBER, cast.max, body, id=cast.vic.member_id)
    assert answer.body["tags"] == [{"k": "team", "v": "blue"}, {"k": "site", "v": "rome"}]
    assert answer.body["disabled"] is True
    again = await doors.knock(MEMBER, cast.max, {"disabled": False}, id=cast.vic.member_id)
    assert (again.body["disabled"], len(again.body["tags"])) == (False, 2)


async def test_a_level_has_its_word(doors: Doors, cast: Cast) -> None:
    with pytest.raises(Invalid):
        await doors.knock(MEMBER, cast.max, {"credential": "root"}, id=cast.vic.member_id)
    answer = await doors.knock(MEMBER, cast.max, {"credential": "user"}, id=cast.vic.member_id)
    assert answer.body["credential"] == "user"


async def test_a_stale_edit_is_refused(doors: Doors, cast: Cast) -> None:
    for headers, fits in (({"if-match": "1"}, True), ({"if-match": '"1"'}, False)):
        body = {"tags": [f"a:{new_id()}"]}
        knock = doors.knock(MEMBER, cast.max, body, headers=headers, id=cast.vic.member_id)
        if fits:
            assert (await knock).body["version"] == 2
        else:
            with pytest.raises(Stale):
                await knock


async def test_a_member_is_removed(doors: Doors, cast: Cast) -> None:
    door = "DELETE /api/member/{id}"
    answer = await doors.knock(door, cast.max, id=cast.vic.member_id)
    assert (answer.status, answer.body["id"]) == (200, cast.vic.member_id)
    with pytest.raises(NotFound):
        await doors.knock(door, cast.max, id=cast.vic.member_id)


async def test_a_token_is_shown_once(doors: Doors, keys: Keyring, cast: Cast) -> None:
    made = await doors.knock("POST /api/token", cast.ada, {"name": "ci", "expires_in": 60})
    assert made.status == 200
    assert await doors.runtime.db.read(authenticate, keys, made.body["token"])
    listed = await doors.knock("GET /api/token", cast.ada)
    (one,) = listed.body
    assert "token" not in one
    assert (one["id"], one["username"], one["created_by"]) == (
        made.body["id"],
        "ci",
        "ada@acme.test",
    )
    gone = await doors.knock("DELETE /api/token/{id}", cast.ada, id=one["id"])
    assert (gone.status, gone.body["id"]) == (200, one["id"])
    assert (await doors.knock("GET /api/token", cast.ada)).body == []


async def test_an_enrolment_is_created_listed_and_revoked(
    doors: Doors, keys: Keyring, cast: Cast
) -> None:
    made = await doors.knock("POST /api/enrolment", cast.ada, {"name": "farm", "uses": 2})
    assert (made.status, made.body["uses_left"]) == (201, 2)
    await doors.runtime.db.write(redeem_enrolment, keys, made.body["token"], "web-1", "x")
    (one,) = (await doors.knock("GET /api/enrolment", cast.ada)).body
    assert (one["uses_left"], one["last_use"] is None) == (1, False)
    assert "token" not in one
    await doors.knock("DELETE /api/enrolment/{id}", cast.ada, id=one["id"])
    assert (await doors.knock("GET /api/enrolment", cast.ada)).body == []
    plain = await doors.knock("POST /api/enrolment", cast.ada)
    assert plain.body["uses_left"] == 1


async def test_the_organization_is_shown_renamed_and_handed_on(doors: Doors, cast: Cast) -> None:
    assert (await doors.knock("GET /api/customer", cast.vic)).body["name"] == "acme"
    renamed = await doors.knock("PUT /api/customer", cast.olga, {"name": "apex"})
    assert renamed.body["name"] == "apex"
    for name, refusal in (("globex", Conflict), ("job", Invalid)):
        with pytest.raises(refusal):
            await doors.knock("PUT /api/customer", cast.olga, {"name": name})
    heir = {"member_id": cast.ada.member_id}
    handed = await doors.knock("PUT /api/customer/owner", cast.olga, heir)
    assert handed.body["credential"] == "owner"


async def test_the_organization_is_disabled_with_its_name(doors: Doors, cast: Cast) -> None:
    with pytest.raises(Invalid):
        await doors.knock("DELETE /api/customer", cast.olga)
    query = {"confirm": ["acme"]}
    answer = await doors.knock("DELETE /api/customer", cast.olga, query=query)
    assert answer.body["enabled"] is False


async def test_the_audit_is_read_by_admins(doors: Doors, cast: Cast) -> None:
    await doors.knock(MEMBER, cast.max, {"tags": ["a:b"]}, id=cast.vic.member_id)
    query = {"limit": ["1"]}
    (row,) = (await doors.knock("GET /api/audit", cast.ada, query=query)).body
    assert (row["action"], row["user"], row["kind"]) == (
        "member.change",
        "max@acme.test",
        "member",
    )
    assert row["before"]["tags"] == []
    assert row["after"]["tags"] == ["a:b"]
    query["after"] = [row["id"]]
    (older,) = (await doors.knock("GET /api/audit", cast.ada, query=query)).body
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
    doors: Doors, cast: Cast, query: dict[str, list[str]]
) -> None:
    with pytest.raises(Invalid):
        await doors.knock("GET /api/audit", cast.ada, query=query)


@pytest.mark.parametrize("door", [f"{route.method} {route.path}" for route in ROUTES])
async def test_every_route_requires_the_level_it_declares(
    doors: Doors, cast: Cast, door: str
) -> None:
    expected = Level(find(door).level)
    for level in LEVEL_ORDER[: LEVEL_ORDER.index(expected)]:
        with pytest.raises(Forbidden):
            await doors.knock(door, Actor(cast.acme.id, "acme", level, "member"))


def test_no_route_exists_twice() -> None:
    doors = [(route.method, route.path) for route in ROUTES]
    assert len(set(doors)) == len(doors)


def test_every_route_is_declared_correctly() -> None:
    for route in ROUTES:
        assert route.style == "plain"
        assert route.summary
        assert route.answer is not None
        assert route.path.startswith("/api/")
        if route.body is not None:
            strict = msgspec.inspect.type_info(route.body).forbid_unknown_fields  # type: ignore[attr-defined]
            assert strict is not route.from_interface, route.path
