"""A provider of one organization identifies a person; that reaches no account elsewhere until the
person, signed in to their own account, accepts it."""

import pytest

from belvedere.access import operator
from belvedere.access.actor import Level
from belvedere.access.customers import consent, member_changes, password_recovery
from belvedere.access.people import users
from belvedere.base.errors import Conflict
from belvedere.db import Tx
from contract.browser_journey import PERSON, BrowserJourney, add, provider_of
from contract.client import Client
from contract.world import World
from people import PASSWORD, PASSWORD_HASH

WAITING, LOGIN = "/api/session/invitation", "/api/auth/login"


async def claim_account(world: World, level: str = "admin") -> BrowserJourney:
    """The provider of globex claims that a person is Uma of acme, and lets that person in."""
    sql = "update members set level = 'owner' where id = ?"
    await world.runtime.db.write(lambda tx: tx.execute(sql, world.actors.eve.member_id))
    world.runtime.credentials.clear()
    journey = BrowserJourney(world.client(), provider_of(world, PERSON))
    assert await journey.sign_in(await add(world, "eve", level=level)) == "/ui/"
    return journey


async def signed_in(world: World, **more: str) -> dict[str, str]:
    body = {"email": "uma@acme.test", "password": PASSWORD, **more}
    answer = await world.client(address="198.51.100.9").post(LOGIN, body)
    fields: dict[str, str] = {"status": str(answer.status), **answer.json}
    return fields


async def test_the_next_sign_in_leads_where_the_last_one_did(world: World) -> None:
    """The attack: the session through the provider was the last one, so the password gave access
    there."""
    await claim_account(world)
    assert (await signed_in(world))["customer_id"] == world.actors.acme.id
    assert (await signed_in(world, customer="globex"))["status"] in ("401", "403")
    uma = world.client("uma")
    profile = (await uma.get("/api/session/profile")).json
    assert [place["name"] for place in profile["customers"]] == ["acme"]
    moved = await uma.put(f"/api/session/customer/{world.actors.globex.id}")
    assert moved.status == 403


async def test_the_claimed_account_sees_nothing_of_the_other(world: World) -> None:
    await world.client("uma").put("/api/session/preferences", {"settings": {"theme": "dark"}})
    journey = await claim_account(world)
    client = Client(world.app, journey.token)
    profile = (await client.get("/api/session/profile")).json
    assert profile["id"] != world.actors.uma.user_id
    assert profile["settings"] == {}
    assert (await client.get(WAITING)).json == []
    sessions = (await client.get("/api/session")).json
    assert {session["customer_id"] for session in sessions} == {world.actors.globex.id}


async def test_the_person_accepts_it_with_the_own_password(world: World) -> None:
    journey = await claim_account(world)
    token = (await signed_in(world))["access_token"]
    uma = Client(world.app, token, check=world.conformity)
    (offer,) = (await uma.get(WAITING)).json
    assert (offer["customer_name"], offer["credential"]) == ("globex", "admin")
    assert offer["invitation"] is False
    assert (await uma.post(WAITING, {"id": offer["id"]})).status == 200
    profile = (await uma.get("/api/session/profile")).json
    assert {place["name"] for place in profile["customers"]} == {"acme", "globex"}
    assert (await uma.put(f"/api/session/customer/{world.actors.globex.id}")).status == 200
    # What gave access before has ended; the provider still knows the person.
    assert (await Client(world.app, journey.token).get("/globex/task")).status == 401
    journey.cookies.clear()
    providers = (await world.client("eve").get("/api/provider")).json
    assert await journey.sign_in(providers[0]["id"]) == "/ui/"
    again = (await Client(world.app, journey.token).get("/api/session/profile")).json
    assert again["id"] == world.actors.uma.user_id
    assert [place["name"] for place in again["customers"]] == ["globex"]


async def test_an_invitation_is_accepted_the_same_way(world: World) -> None:
    body = {"user": {"email": "uma@acme.test"}, "credential": "viewer"}
    link = (await world.client("eve").post("/api/member", body)).json["invitation"]["token"]
    uma = world.client("uma")
    (offer,) = (await uma.get(WAITING)).json
    assert offer["invitation"] is True
    assert (await uma.post(WAITING, {"id": offer["id"]})).status == 200
    assert (await uma.get(WAITING)).json == []
    used = {"token": link, "password": "another-long-password"}
    assert (await world.client().post("/api/auth/invitation", used)).status == 404


async def _by_provider(world: World) -> str:
    """Uma's own account, but signed in through a provider of acme."""
    journey = BrowserJourney(world.client(), provider_of(world, PERSON))
    await journey.sign_in(await add(world))
    return journey.token


async def _by_shown_link(world: World) -> str:
    """An account of acme with the same address, whose password was set with a link that Max saw."""
    await world.runtime.db.write(
        member_changes.remove, world.actors.olga, world.actors.uma.member_id
    )
    body = {"user": {"email": "uma@acme.test"}, "credential": "user"}
    link = (await world.client("max").post("/api/member", body)).json["invitation"]["token"]
    used = {"token": link, "password": "another-long-password"}
    done = await world.client().post("/api/auth/invitation", used)
    return str(done.json["access_token"])


async def _clear_proof(world: World) -> str:
    """An account in several organizations from before the upgrade."""
    sql = "update users set proof = '' where id = ?"
    await world.runtime.db.write(lambda tx: tx.execute(sql, world.actors.uma.user_id))
    return world.credential("uma")


async def _somebody_else(world: World) -> str:
    return world.credential("vic")


@pytest.mark.parametrize("way", [_by_provider, _by_shown_link, _clear_proof, _somebody_else])
async def test_an_invitation_is_accepted_only_by_its_person(world: World, way: object) -> None:
    body = {"user": {"email": "uma@acme.test"}, "credential": "admin"}
    member = (await world.client("eve").post("/api/member", body)).json
    client = Client(world.app, await way(world))  # type: ignore[operator]
    assert (await client.get(WAITING)).json == []
    done = await client.post(WAITING, {"id": member["id"]})
    assert (done.status, done.code) == (409, "nothing_to_accept")


async def test_disabled_and_own_organizations_are_not_offered(world: World) -> None:
    by = operator(world.actors.globex)
    await world.runtime.db.write(member_changes.add_member, by, "uma@acme.test", Level.USER)
    assert (await world.client("uma").get(WAITING)).json == []
    body = {"user": {"email": "vic@acme.test"}, "credential": "user"}
    member = (await world.client("eve").post("/api/member", body)).json
    await world.client("eve").patch(f"/api/member/{member['id']}", {"disabled": True})
    assert (await world.client("vic").get(WAITING)).json == []


# People without a password.


async def _without_password(world: World) -> None:
    sql = "update users set password_hash = null, proof = '' where id = ?"
    await world.runtime.db.write(lambda tx: tx.execute(sql, world.actors.uma.user_id))


async def _where_passwords_are_off(world: World) -> None:
    sql = "update customers set providers_only = 1 where id = ?"
    await world.runtime.db.write(lambda tx: tx.execute(sql, world.actors.acme.id))


@pytest.mark.parametrize("state", [_without_password, _where_passwords_are_off])
async def test_the_provider_counts_where_no_password_does(world: World, state: object) -> None:
    body = {"user": {"email": "uma@acme.test"}, "credential": "viewer"}
    await world.client("eve").post("/api/member", body)
    token = await _by_provider(world)
    await state(world)  # type: ignore[operator]
    world.runtime.credentials.clear()
    uma = Client(world.app, token)
    (offer,) = (await uma.get(WAITING)).json
    assert (await uma.post(WAITING, {"id": offer["id"]})).status == 200
    # The provider still gives access to its own organization only.
    moved = await uma.put(f"/api/session/customer/{world.actors.globex.id}")
    assert (moved.status, moved.code) == (403, "other_organization")


# Declining.


async def _decisions(world: World) -> list[tuple[str, str]]:
    sql = "select action, actor_id from audit where action = 'member.decline' and customer_id = ?"
    text: list[tuple[str, str]] = await world.runtime.db.read(
        lambda tx: tx.rows(sql, world.actors.globex.id)
    )
    return text


async def test_a_declined_invitation_ends(world: World) -> None:
    body = {"user": {"email": "uma@acme.test"}, "credential": "viewer"}
    member = (await world.client("eve").post("/api/member", body)).json
    uma = world.client("uma")
    done = await uma.delete(f"{WAITING}/{member['id']}")
    assert (done.status, done.json["customer_name"]) == (200, "globex")
    assert (await uma.get(WAITING)).json == []
    assert (await world.client("eve").get(f"/api/member/{member['id']}")).status == 404
    used = {"token": member["invitation"]["token"], "password": "another-long-password"}
    assert (await world.client().post("/api/auth/invitation", used)).status == 404
    assert await _decisions(world) == [("member.decline", world.actors.uma.user_id)]
    # The organization can invite again.
    assert (await world.client("eve").post("/api/member", body)).status == 200


async def test_declining_a_used_membership_does_not_end_it(world: World) -> None:
    journey = await claim_account(world)
    uma = world.client("uma")
    (offer,) = (await uma.get(WAITING)).json
    assert (await uma.delete(f"{WAITING}/{offer['id']}")).status == 200
    assert (await uma.get(WAITING)).json == []
    assert (await uma.post(WAITING, {"id": offer["id"]})).code == "nothing_to_accept"
    assert (await Client(world.app, journey.token).get("/globex/task")).status == 200
    assert len(await _decisions(world)) == 1


@pytest.mark.parametrize("way", [_by_provider, _by_shown_link, _clear_proof, _somebody_else])
async def test_an_invitation_is_declined_only_by_its_person(world: World, way: object) -> None:
    body = {"user": {"email": "uma@acme.test"}, "credential": "admin"}
    member = (await world.client("eve").post("/api/member", body)).json
    client = Client(world.app, await way(world))  # type: ignore[operator]
    done = await client.delete(f"{WAITING}/{member['id']}")
    assert (done.status, done.code) == (404, "not_found")


async def test_a_reset_link_used_at_the_same_moment_does_not_take_the_membership(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attack: a manager's link makes the account one of acme, with a password that the manager
    knows, just before globex is attached to it. What is read under the locks decides."""
    body = {"user": {"email": "uma@acme.test"}, "credential": "viewer"}
    member = (await world.client("eve").post("/api/member", body)).json
    db, keys, uma = world.runtime.db, world.runtime.keyring, world.actors.uma
    _, token = await db.write(password_recovery.issue_link, keys, world.actors.max, uma.member_id)
    hold = users.lock

    def after_the_reset(tx: Tx, user_id: str) -> bool:
        monkeypatch.setattr(users, "lock", hold)
        password_recovery.redeem_reset(tx, keys, token, PASSWORD_HASH, "")
        return hold(tx, user_id)

    monkeypatch.setattr(users, "lock", after_the_reset)
    with pytest.raises(Conflict) as refused:
        await db.write(consent.accept, uma, member["id"])
    assert refused.value.code == "nothing_to_accept"
