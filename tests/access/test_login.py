"""Signing in and out, and one's sessions, through the doors."""

import base64

import pytest

from access.endpoints import Doors
from belvedere.access import Actor, Keyring, Level, authenticate, create_token, operator
from belvedere.access.customers import member_changes
from belvedere.access.signin.cookies import session_token
from belvedere.base.errors import Forbidden, NotFound, TooMany, Unauthenticated
from belvedere.db import Database
from people import PASSWORD, Cast

LOGIN = "POST /api/auth/login"


def basic(name: str, password: str) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


async def test_it_works(doors: Doors, keys: Keyring, cast: Cast, stranger: Actor) -> None:
    answer = await doors.knock(LOGIN, stranger, {"email": "Vic@acme.test", "password": PASSWORD})
    assert answer.status == 200
    actor = await doors.runtime.db.read(authenticate, keys, answer.body["access_token"])
    assert actor.member_id == cast.vic.member_id
    assert actor.credential_id == answer.body["session_id"]


@pytest.mark.parametrize("door", [LOGIN, "POST /api/auth/login/local"])
@pytest.mark.parametrize("field", ["email", "username", "identifier"])
@pytest.mark.parametrize("name", ["vic@acme.test", "VIC"])
async def test_any_name_under_any_field(
    doors: Doors, cast: Cast, stranger: Actor, door: str, field: str, name: str
) -> None:
    answer = await doors.knock(door, stranger, {field: name, "password": PASSWORD})
    assert answer.body["customer_id"] == cast.acme.id


async def test_http_basic_works_without_a_body(doors: Doors, cast: Cast, stranger: Actor) -> None:
    answer = await doors.knock(LOGIN, stranger, headers=basic("vic", PASSWORD))
    assert answer.body["access_token"].startswith("bvs_")


@pytest.mark.parametrize("encoded", ["!!!", "", base64.b64encode(b"no colon").decode(), "/w=="])
async def test_broken_http_basic_is_a_wrong_login(
    doors: Doors, cast: Cast, stranger: Actor, encoded: str
) -> None:
    with pytest.raises(Unauthenticated):
        await doors.knock(LOGIN, stranger, headers={"authorization": f"Basic {encoded}"})


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("vic@acme.test", "wrong"),
        ("vic@acme.test", ""),
        ("nobody@acme.test", PASSWORD),
        ("", PASSWORD),
        ("vic\0", PASSWORD),
        ("x" * 10_000, PASSWORD),
    ],
)
async def test_all_wrong_credentials_get_the_same_refusal(
    doors: Doors, cast: Cast, stranger: Actor, name: str, password: str
) -> None:
    with pytest.raises(Unauthenticated) as caught:
        await doors.knock(LOGIN, stranger, {"email": name, "password": password})
    assert caught.value.code == "bad_login"
    assert caught.value.message == "The name or the password is wrong."


async def test_a_disabled_person_is_refused_like_a_wrong_password(
    doors: Doors, db: Database, cast: Cast, stranger: Actor
) -> None:
    await db.write(
        lambda tx: tx.execute("update users set enabled = 0 where id = ?", cast.vic.user_id)
    )
    with pytest.raises(Unauthenticated):
        await doors.knock(LOGIN, stranger, {"email": "vic", "password": PASSWORD})


async def test_guessing_ends_in_429(
    doors: Doors, cast: Cast, stranger: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("belvedere.access.crypto.password_hash.matches", lambda *_: False)
    for n in range(20):
        with pytest.raises(Unauthenticated):
            await doors.knock(LOGIN, stranger, {"email": f"{n}@x.test", "password": "wrong"})
    with pytest.raises(TooMany):
        await doors.knock(LOGIN, stranger, {"email": "vic", "password": PASSWORD})


async def test_both_names_of_an_account_count_apart(
    doors: Doors, cast: Cast, stranger: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("belvedere.access.crypto.password_hash.matches", lambda *_: False)
    for name in ("vic", "vic@acme.test") * 5:
        with pytest.raises(Unauthenticated):
            await doors.knock(LOGIN, stranger, {"email": name, "password": "wrong"})
    # A delay that both names share would show that they belong to one account.
    assert doors.slept == []
    with pytest.raises(Unauthenticated):
        await doors.knock(LOGIN, stranger, {"email": "VIC ", "password": "wrong"})
    assert doors.slept == [0.25]


@pytest.mark.parametrize("where", ["body", "query"])
async def test_the_organization_can_be_named(
    doors: Doors, db: Database, cast: Cast, stranger: Actor, where: str
) -> None:
    await db.write(member_changes.add_member, operator(cast.globex), "vic@acme.test", Level.USER)
    body = {"email": "vic", "password": PASSWORD}
    if where == "body":
        answer = await doors.knock(LOGIN, stranger, {**body, "customer": "Globex"})
    else:
        answer = await doors.knock(LOGIN, stranger, body, customer="globex")
    assert answer.body["customer_id"] == cast.globex.id


async def test_it_refuses_those_who_are_no_members(
    doors: Doors, cast: Cast, stranger: Actor
) -> None:
    body = {"email": "vic", "password": PASSWORD, "customer": "globex"}
    with pytest.raises(Forbidden):
        await doors.knock(LOGIN, stranger, body)


@pytest.mark.parametrize(
    ("scheme", "name", "secure"),
    [("https", "__Host-belvedere", True), ("http", "belvedere", False)],
)
async def test_the_cookie_is_baked_for_the_scheme(
    doors: Doors, cast: Cast, stranger: Actor, scheme: str, name: str, secure: bool
) -> None:
    answer = await doors.knock(
        LOGIN, stranger, {"email": "vic", "password": PASSWORD}, scheme=scheme
    )
    cookie, *manners = answer.headers["set-cookie"].split("; ")
    assert cookie == f"{name}={answer.body['access_token']}"
    assert {"Path=/", "HttpOnly", "SameSite=Strict", f"Max-Age={7 * 86_400}"} <= set(manners)
    assert ("Secure" in manners) is secure
    assert not any(manner.startswith("Domain") for manner in manners)
    jar = {name: answer.body["access_token"]}
    assert session_token(jar, secure=secure) == answer.body["access_token"]
    assert session_token(jar, secure=not secure) is None


async def test_plain_http_is_warned_about_without_the_token(
    doors: Doors, cast: Cast, stranger: Actor, caplog: pytest.LogCaptureFixture
) -> None:
    body = {"email": "vic", "password": PASSWORD}
    answer = await doors.knock(LOGIN, stranger, body)
    assert "plain http" in caplog.text
    assert answer.body["access_token"] not in caplog.text
    caplog.clear()
    await doors.knock(LOGIN, stranger, body, scheme="https")
    assert caplog.text == ""


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_logging_out_ends_the_session(
    doors: Doors, keys: Keyring, cast: Cast, method: str
) -> None:
    shown = {"authorization": f"Bearer {cast.tokens['vic']}"}
    answer = await doors.knock(f"{method} /api/session/logout", cast.vic, headers=shown)
    assert answer.headers["set-cookie"].startswith("belvedere=; ")
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert await doors.runtime.db.read(authenticate, keys, cast.tokens["vic"]) is None


async def test_a_profile_shows_person_and_organization(doors: Doors, cast: Cast) -> None:
    answer = await doors.knock("GET /api/session/profile", cast.vic)
    here = {"id": cast.acme.id, "name": "acme"}
    assert answer.body.pop("expires") > "2026"
    assert answer.body == {
        "id": cast.vic.user_id,
        "name": "",
        "username": "vic",
        "email": "vic@acme.test",
        "customers": [here],
        "current_customer": here,
        "credential": "viewer",
        "level": "viewer",
        "protocol": "local",
        "member_id": cast.vic.member_id,
        "notifications": {},
        "settings": {},
    }


async def test_a_profile_comes_in_parts_too(doors: Doors, cast: Cast) -> None:
    """As programs of the original ask for it."""
    both = {"scopes[]": ["principal", "member"]}
    answer = await doors.knock("GET /api/session/profile", cast.vic, query=both)
    found = answer.body
    assert found["principal"]["email"] == "vic@acme.test"
    assert (found["member"]["id"], found["member"]["credential"]) == (cast.vic.member_id, "viewer")
    assert "organization" not in found
    one = {"scopes": ["organization,nothing"]}
    answer = await doors.knock("GET /api/session/profile", cast.vic, query=one)
    here = {"id": cast.acme.id, "name": "acme"}
    assert answer.body["organization"] == here and "member" not in answer.body


async def test_a_token_has_a_profile_too(doors: Doors, keys: Keyring, cast: Cast) -> None:
    made, text = await doors.runtime.db.write(create_token, keys, cast.ada, "ci")
    token = await doors.runtime.db.read(authenticate, keys, text)
    answer = await doors.knock("GET /api/session/profile", token)
    assert (answer.body["id"], answer.body["username"], answer.body["email"]) == (
        made.id,
        "ci",
        "",
    )
    assert [place["name"] for place in answer.body["customers"]] == ["acme"]
    with pytest.raises(Forbidden):
        await doors.knock("POST /api/session/logout", token)


async def test_sessions_are_listed_and_ended(doors: Doors, cast: Cast, stranger: Actor) -> None:
    headers = {"user-agent": "phone"}
    body = {"email": "vic", "password": PASSWORD}
    other = await doors.knock(LOGIN, stranger, body, headers=headers)
    listed = await doors.knock("GET /api/session", cast.vic)
    assert [(item["agent"], item["address"], item["current"]) for item in listed.body] == [
        ("tests", cast.vic.address, True),
        ("phone", stranger.address, False),
    ]
    session_id = other.body["session_id"]
    ended = await doors.knock("DELETE /api/session/{id}", cast.vic, id=session_id)
    assert ended.body["id"] == session_id
    with pytest.raises(NotFound):
        await doors.knock("DELETE /api/session/{id}", cast.vic, id=cast.uma.credential_id)


async def test_it_is_refreshed(doors: Doors, keys: Keyring, cast: Cast) -> None:
    answer = await doors.knock("PUT /api/session/refresh", cast.vic)
    assert await doors.runtime.db.read(authenticate, keys, cast.tokens["vic"]) is None
    assert await doors.runtime.db.read(authenticate, keys, answer.body["access_token"])


async def test_it_goes_to_another_organization(
    doors: Doors, db: Database, keys: Keyring, cast: Cast
) -> None:
    door = "PUT /api/session/customer/{id}"
    with pytest.raises(Forbidden):
        await doors.knock(door, cast.vic, id=cast.globex.id)
    await db.write(member_changes.add_member, operator(cast.globex), "vic@acme.test", Level.USER)
    answer = await doors.knock(door, cast.vic, id=cast.globex.id)
    actor = await db.read(authenticate, keys, answer.body["access_token"])
    assert actor is not None
    assert (actor.customer_name, actor.level) == ("globex", Level.USER)
