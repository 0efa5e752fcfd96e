"""Signing in and out, and a person's sessions, through the endpoints."""

import base64

import pytest

from access.endpoints import Endpoints
from belvedere.access import Actor, Keyring, Level, authenticate, create_token, operator
from belvedere.access.customers import member_changes
from belvedere.access.signin.cookies import session_token
from belvedere.base.errors import Forbidden, NotFound, TooMany, Unauthenticated
from belvedere.db import Database
from people import PASSWORD, Actors

LOGIN = "POST /api/auth/login"


def basic(name: str, password: str) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


async def test_a_login_with_the_password_opens_a_session(
    endpoints: Endpoints, keys: Keyring, actors: Actors, anonymous: Actor
) -> None:
    answer = await endpoints.call(
        LOGIN, anonymous, {"email": "Vic@acme.test", "password": PASSWORD}
    )
    assert answer.status == 200
    actor = await endpoints.runtime.db.read(authenticate, keys, answer.body["access_token"])
    assert actor.member_id == actors.vic.member_id
    assert actor.credential_id == answer.body["session_id"]


@pytest.mark.parametrize("endpoint", [LOGIN, "POST /api/auth/login/local"])
@pytest.mark.parametrize("field", ["email", "username", "identifier"])
@pytest.mark.parametrize("name", ["vic@acme.test", "VIC"])
async def test_any_name_under_any_field(
    endpoints: Endpoints, actors: Actors, anonymous: Actor, endpoint: str, field: str, name: str
) -> None:
    answer = await endpoints.call(endpoint, anonymous, {field: name, "password": PASSWORD})
    assert answer.body["customer_id"] == actors.acme.id


async def test_http_basic_works_without_a_body(
    endpoints: Endpoints, actors: Actors, anonymous: Actor
) -> None:
    answer = await endpoints.call(LOGIN, anonymous, headers=basic("vic", PASSWORD))
    assert answer.body["access_token"].startswith("bvs_")


@pytest.mark.parametrize("encoded", ["!!!", "", base64.b64encode(b"no colon").decode(), "/w=="])
async def test_broken_http_basic_is_a_wrong_login(
    endpoints: Endpoints, actors: Actors, anonymous: Actor, encoded: str
) -> None:
    with pytest.raises(Unauthenticated):
        await endpoints.call(LOGIN, anonymous, headers={"authorization": f"Basic {encoded}"})


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
    endpoints: Endpoints, actors: Actors, anonymous: Actor, name: str, password: str
) -> None:
    with pytest.raises(Unauthenticated) as caught:
        await endpoints.call(LOGIN, anonymous, {"email": name, "password": password})
    assert caught.value.code == "bad_login"
    assert caught.value.message == "The name or the password is wrong."


async def test_a_disabled_person_is_refused_like_a_wrong_password(
    endpoints: Endpoints, db: Database, actors: Actors, anonymous: Actor
) -> None:
    await db.write(
        lambda tx: tx.execute("update users set enabled = 0 where id = ?", actors.vic.user_id)
    )
    with pytest.raises(Unauthenticated):
        await endpoints.call(LOGIN, anonymous, {"email": "vic", "password": PASSWORD})


async def test_guessing_ends_in_429(
    endpoints: Endpoints, actors: Actors, anonymous: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("belvedere.access.crypto.password_hash.matches", lambda *_: False)
    for n in range(20):
        with pytest.raises(Unauthenticated):
            await endpoints.call(LOGIN, anonymous, {"email": f"{n}@x.test", "password": "wrong"})
    with pytest.raises(TooMany):
        await endpoints.call(LOGIN, anonymous, {"email": "vic", "password": PASSWORD})


async def test_both_names_of_an_account_count_apart(
    endpoints: Endpoints, actors: Actors, anonymous: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("belvedere.access.crypto.password_hash.matches", lambda *_: False)
    for name in ("vic", "vic@acme.test") * 5:
        with pytest.raises(Unauthenticated):
            await endpoints.call(LOGIN, anonymous, {"email": name, "password": "wrong"})
    # A delay that both names share would reveal that they belong to one account.
    assert endpoints.slept == []
    with pytest.raises(Unauthenticated):
        await endpoints.call(LOGIN, anonymous, {"email": "VIC ", "password": "wrong"})
    assert endpoints.slept == [0.25]


@pytest.mark.parametrize("where", ["body", "query"])
async def test_the_organization_can_be_named(
    endpoints: Endpoints, db: Database, actors: Actors, anonymous: Actor, where: str
) -> None:
    await db.write(member_changes.add_member, operator(actors.globex), "vic@acme.test", Level.USER)
    body = {"email": "vic", "password": PASSWORD}
    if where == "body":
        answer = await endpoints.call(LOGIN, anonymous, {**body, "customer": "Globex"})
    else:
        answer = await endpoints.call(LOGIN, anonymous, body, customer="globex")
    assert answer.body["customer_id"] == actors.globex.id


async def test_people_who_are_not_members_are_refused(
    endpoints: Endpoints, actors: Actors, anonymous: Actor
) -> None:
    body = {"email": "vic", "password": PASSWORD, "customer": "globex"}
    with pytest.raises(Forbidden):
        await endpoints.call(LOGIN, anonymous, body)


@pytest.mark.parametrize(
    ("scheme", "name", "secure"),
    [("https", "__Host-belvedere", True), ("http", "belvedere", False)],
)
async def test_the_cookie_depends_on_the_scheme(
    endpoints: Endpoints, actors: Actors, anonymous: Actor, scheme: str, name: str, secure: bool
) -> None:
    answer = await endpoints.call(
        LOGIN, anonymous, {"email": "vic", "password": PASSWORD}, scheme=scheme
    )
    cookie, *attributes = answer.headers["set-cookie"].split("; ")
    assert cookie == f"{name}={answer.body['access_token']}"
    assert {"Path=/", "HttpOnly", "SameSite=Strict", f"Max-Age={7 * 86_400}"} <= set(attributes)
    assert ("Secure" in attributes) is secure
    assert not any(attribute.startswith("Domain") for attribute in attributes)
    jar = {name: answer.body["access_token"]}
    assert session_token(jar, secure=secure) == answer.body["access_token"]
    assert session_token(jar, secure=not secure) is None


async def test_plain_http_is_warned_about_without_the_token(
    endpoints: Endpoints, actors: Actors, anonymous: Actor, caplog: pytest.LogCaptureFixture
) -> None:
    body = {"email": "vic", "password": PASSWORD}
    answer = await endpoints.call(LOGIN, anonymous, body)
    assert "plain http" in caplog.text
    assert answer.body["access_token"] not in caplog.text
    caplog.clear()
    await endpoints.call(LOGIN, anonymous, body, scheme="https")
    assert caplog.text == ""


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_logging_out_ends_the_session(
    endpoints: Endpoints, keys: Keyring, actors: Actors, method: str
) -> None:
    fields = {"authorization": f"Bearer {actors.tokens['vic']}"}
    answer = await endpoints.call(f"{method} /api/session/logout", actors.vic, headers=fields)
    assert answer.headers["set-cookie"].startswith("belvedere=; ")
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert await endpoints.runtime.db.read(authenticate, keys, actors.tokens["vic"]) is None


async def test_a_profile_shows_person_and_organization(
    endpoints: Endpoints, actors: Actors
) -> None:
    answer = await endpoints.call("GET /api/session/profile", actors.vic)
    here = {"id": actors.acme.id, "name": "acme"}
    assert answer.body.pop("expires") > "2026"
    assert answer.body == {
        "id": actors.vic.user_id,
        "name": "",
        "username": "vic",
        "email": "vic@acme.test",
        "customers": [here],
        "current_customer": here,
        "credential": "viewer",
        "level": "viewer",
        "protocol": "local",
        "member_id": actors.vic.member_id,
        "notifications": {},
        "settings": {},
    }


async def test_a_profile_comes_in_parts_too(endpoints: Endpoints, actors: Actors) -> None:
    """As clients of TheEye request it."""
    both = {"scopes[]": ["principal", "member"]}
    answer = await endpoints.call("GET /api/session/profile", actors.vic, query=both)
    body = answer.body
    assert body["principal"]["email"] == "vic@acme.test"
    assert (body["member"]["id"], body["member"]["credential"]) == (
        actors.vic.member_id,
        "viewer",
    )
    assert "organization" not in body
    fields = {"scopes": ["organization,nothing"]}
    answer = await endpoints.call("GET /api/session/profile", actors.vic, query=fields)
    here = {"id": actors.acme.id, "name": "acme"}
    assert answer.body["organization"] == here and "member" not in answer.body


async def test_a_token_has_a_profile_too(
    endpoints: Endpoints, keys: Keyring, actors: Actors
) -> None:
    value, text = await endpoints.runtime.db.write(create_token, keys, actors.ada, "ci")
    token = await endpoints.runtime.db.read(authenticate, keys, text)
    answer = await endpoints.call("GET /api/session/profile", token)
    assert (answer.body["id"], answer.body["username"], answer.body["email"]) == (
        value.id,
        "ci",
        "",
    )
    assert [place["name"] for place in answer.body["customers"]] == ["acme"]
    with pytest.raises(Forbidden):
        await endpoints.call("POST /api/session/logout", token)


async def test_sessions_are_listed_and_ended(
    endpoints: Endpoints, actors: Actors, anonymous: Actor
) -> None:
    headers = {"user-agent": "phone"}
    body = {"email": "vic", "password": PASSWORD}
    other = await endpoints.call(LOGIN, anonymous, body, headers=headers)
    listed = await endpoints.call("GET /api/session", actors.vic)
    assert [(item["agent"], item["address"], item["current"]) for item in listed.body] == [
        ("tests", actors.vic.address, True),
        ("phone", anonymous.address, False),
    ]
    session_id = other.body["session_id"]
    ended = await endpoints.call("DELETE /api/session/{id}", actors.vic, id=session_id)
    assert ended.body["id"] == session_id
    with pytest.raises(NotFound):
        await endpoints.call("DELETE /api/session/{id}", actors.vic, id=actors.uma.credential_id)


async def test_a_session_is_refreshed(endpoints: Endpoints, keys: Keyring, actors: Actors) -> None:
    answer = await endpoints.call("PUT /api/session/refresh", actors.vic)
    assert await endpoints.runtime.db.read(authenticate, keys, actors.tokens["vic"]) is None
    assert await endpoints.runtime.db.read(authenticate, keys, answer.body["access_token"])


async def test_a_session_is_switched_to_another_organization(
    endpoints: Endpoints, db: Database, keys: Keyring, actors: Actors
) -> None:
    endpoint = "PUT /api/session/customer/{id}"
    with pytest.raises(Forbidden):
        await endpoints.call(endpoint, actors.vic, id=actors.globex.id)
    await db.write(member_changes.add_member, operator(actors.globex), "vic@acme.test", Level.USER)
    answer = await endpoints.call(endpoint, actors.vic, id=actors.globex.id)
    actor = await db.read(authenticate, keys, answer.body["access_token"])
    assert actor is not None
    assert (actor.customer_name, actor.level) == ("globex", Level.USER)
