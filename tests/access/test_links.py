"""Invitations and new passwords, through the endpoints."""

from typing import Any

import pytest

from access.endpoints import Endpoints
from belvedere.access import Actor, Keyring, authenticate
from belvedere.access.people import users
from belvedere.base.errors import Forbidden, Invalid, NotFound, TooMany, Unauthenticated
from belvedere.db import Database
from people import PASSWORD, Actors

NEW = "maple-heron-cello"
ACCEPT, LOOK = "POST /api/auth/invitation", "POST /api/auth/link"
RESET, CHANGE = "PUT /api/auth/password/reset", "POST /api/auth/password/change"
RECOVER = "POST /api/auth/password/recover"


async def invite(
    endpoints: Endpoints, actor: Actor, email: str = "new@acme.test"
) -> dict[str, Any]:
    body = {"user": {"email": email, "name": "New"}, "credential": "user"}
    answer = await endpoints.call("POST /api/member", actor, body, scheme="https")
    link: dict[str, Any] = answer.body["invitation"]
    return link


async def test_an_invitation_link_shows_its_organization(
    endpoints: Endpoints, keys: Keyring, actors: Actors, anonymous: Actor
) -> None:
    link = await invite(endpoints, actors.max)
    assert link["link"] == f"https://belvedere.test/ui/link#{link['token']}"
    response = await endpoints.call(LOOK, anonymous, {"token": link["token"]})
    assert response.body == {
        "kind": "invitation",
        "email": "new@acme.test",
        "customer_name": "acme",
        "has_password": False,
        "password": True,
    }
    answer = await endpoints.call(ACCEPT, anonymous, {"token": link["token"], "password": NEW})
    actor = await endpoints.runtime.db.read(authenticate, keys, answer.body["access_token"])
    assert (actor.email, actor.level) == ("new@acme.test", "user")
    assert "set-cookie" in answer.headers
    await endpoints.call("POST /api/auth/login", anonymous, {"email": "new", "password": NEW})


async def test_a_refused_password_leaves_the_link_valid(
    endpoints: Endpoints, actors: Actors, anonymous: Actor
) -> None:
    link = await invite(endpoints, actors.max)
    with pytest.raises(Invalid):
        await endpoints.call(ACCEPT, anonymous, {"token": link["token"], "password": "short"})
    await endpoints.call(ACCEPT, anonymous, {"token": link["token"], "password": NEW})


async def test_a_person_with_an_account_enters_the_existing_password(
    endpoints: Endpoints, keys: Keyring, actors: Actors, anonymous: Actor
) -> None:
    link = await invite(endpoints, actors.eve, "vic@acme.test")
    body = {"token": link["token"], "account": True}
    with pytest.raises(Unauthenticated):
        await endpoints.call(ACCEPT, anonymous, {**body, "password": NEW})
    answer = await endpoints.call(ACCEPT, anonymous, {**body, "password": PASSWORD})
    actor = await endpoints.runtime.db.read(authenticate, keys, answer.body["access_token"])
    assert (actor.user_id, actor.customer_name) == (actors.vic.user_id, "globex")


async def test_an_invitation_reveals_nothing_about_other_accounts(
    endpoints: Endpoints, actors: Actors
) -> None:
    """For known and unknown addresses, the responses differ in names and numbers only."""
    endpoint, person = "POST /api/member", {"credential": "user"}
    response = await endpoints.call(
        endpoint, actors.eve, {**person, "user": {"email": "vic@acme.test"}}
    )
    fresh = await endpoints.call(
        endpoint, actors.eve, {**person, "user": {"email": "new@acme.test"}}
    )
    assert response.body.keys() == fresh.body.keys()
    assert response.body["invited"] is fresh.body["invited"] is True


@pytest.mark.parametrize("endpoint", [ACCEPT, LOOK, RESET])
async def test_links_are_not_guessed(
    endpoints: Endpoints, actors: Actors, anonymous: Actor, endpoint: str
) -> None:
    body = {"token": "bvl_" + "x" * 43, "password": NEW}
    if endpoint == LOOK:
        del body["password"]
    for _ in range(20):
        with pytest.raises(NotFound):
            await endpoints.call(endpoint, anonymous, body)
    with pytest.raises(TooMany):
        await endpoints.call(endpoint, anonymous, body)


async def test_a_reset_link_sets_a_new_password(
    endpoints: Endpoints, keys: Keyring, actors: Actors, anonymous: Actor
) -> None:
    response = await endpoints.call(
        "POST /api/member/{id}/reset", actors.max, id=actors.vic.member_id
    )
    assert (response.status, response.body["kind"]) == (201, "reset")
    body = {"token": response.body["token"], "password": NEW}
    with pytest.raises(NotFound):
        await endpoints.call(ACCEPT, anonymous, body)
    assert (await endpoints.call(RESET, anonymous, body)).status == 200
    assert await endpoints.runtime.db.read(authenticate, keys, actors.tokens["vic"]) is None
    await endpoints.call("POST /api/auth/login", anonymous, {"email": "vic", "password": NEW})
    with pytest.raises(NotFound):
        await endpoints.call(RESET, anonymous, body)


async def test_a_member_changes_their_own_password(
    endpoints: Endpoints, keys: Keyring, actors: Actors, anonymous: Actor
) -> None:
    body = {"current": PASSWORD, "password": NEW}
    await endpoints.call(CHANGE, actors.vic, body)
    assert await endpoints.runtime.db.read(authenticate, keys, actors.tokens["vic"])
    await endpoints.call("POST /api/auth/login", anonymous, {"email": "vic", "password": NEW})


async def test_the_current_password_is_required(
    endpoints: Endpoints, db: Database, actors: Actors
) -> None:
    with pytest.raises(Forbidden) as caught:
        await endpoints.call(CHANGE, actors.vic, {"current": "wrong", "password": NEW})
    assert caught.value.code == "wrong_password"
    with pytest.raises(Invalid):
        await endpoints.call(CHANGE, actors.vic, {"current": PASSWORD, "password": "short"})
    user = await db.read(users.find, actors.vic.user_id)
    assert user is not None
    await endpoints.call("POST /api/auth/login", actors.vic, {"email": "vic", "password": PASSWORD})


async def test_a_forgotten_password_is_answered_alike(
    endpoints: Endpoints, db: Database, actors: Actors, anonymous: Actor
) -> None:
    response = await endpoints.call(RECOVER, anonymous, {"email": "vic@acme.test"})
    unknown = await endpoints.call(RECOVER, anonymous, {"email": "nobody@acme.test"})
    again = await endpoints.call(RECOVER, anonymous, {"email": "vic@acme.test"})
    assert response == unknown == again
    text = await db.read(
        lambda tx: tx.value("select count(*) from events where kind = 'member.recovery_asked'")
    )
    assert text == 1


async def test_recovery_requests_are_limited(
    endpoints: Endpoints, actors: Actors, anonymous: Actor
) -> None:
    for n in range(20):
        await endpoints.call(RECOVER, anonymous, {"email": f"{n}@x.test"})
    with pytest.raises(TooMany):
        await endpoints.call(RECOVER, anonymous, {"email": "vic@acme.test"})
