"""An organization without passwords: members sign in only through its provider."""

import base64

import pytest

from belvedere.access import Level
from belvedere.access.customers import member_changes, password_recovery, service
from contract.browser_journey import BODY, PERSON, BrowserJourney, add, provider_of
from contract.client import Client
from contract.world import World
from people import PASSWORD
from providers.openid import Provider

OFF, ON = {"providers_only": True}, {"providers_only": False}
LOGIN = "/api/auth/login"


@pytest.fixture
def provider(world: World) -> Provider:
    return provider_of(world, {**PERSON, "sub": "s-olga", "email": "olga@acme.test"})


async def sign_in(world: World, provider: Provider, provider_id: str) -> Client:
    """The person whom the provider knows now, in a browser of their own."""
    journey = BrowserJourney(world.client(), provider)
    await journey.sign_in(provider_id)
    assert journey.token
    return Client(world.app, journey.token, check=world.conformity)


async def switched_off(world: World, provider: Provider) -> tuple[str, Client]:
    """The provider, and the owner who signed in through it."""
    provider_id = await add(world)
    olga = await sign_in(world, provider, provider_id)
    done = await olga.put("/api/customer", OFF)
    assert (done.status, done.json["providers_only"]) == (200, True)
    return provider_id, olga


async def test_passwords_are_refused_if_they_are_off(
    world: World, provider: Provider, anonymous: Client
) -> None:
    uma, token = world.client("uma"), world.client("token")
    provider_id, olga = await switched_off(world, provider)
    refused = await anonymous.post(LOGIN, {"email": "uma@acme.test", "password": PASSWORD})
    assert (refused.status, refused.code) == (403, "passwords_off")
    assert "organization acme does not accept passwords" in refused.json["message"]
    # Sessions that were started with a password end; those through the provider and tokens
    # continue.
    assert (await uma.get("/acme/task")).status == 401
    assert (await olga.get("/acme/task")).status == 200
    assert (await token.get("/acme/task")).status == 200
    provider.person = dict(PERSON)
    assert (await (await sign_in(world, provider, provider_id)).get("/acme/task")).status == 200
    assert (await olga.put("/api/customer", ON)).json["providers_only"] is False
    assert (await uma.get("/acme/task")).status == 401
    again = await anonymous.post(LOGIN, {"email": "uma@acme.test", "password": PASSWORD})
    assert again.status == 200
    rows = (await olga.get("/api/audit?action=customer.change")).json
    assert [row["after"] for row in rows] == [ON, OFF]


async def test_http_basic_is_refused_too(
    world: World, provider: Provider, anonymous: Client
) -> None:
    await switched_off(world, provider)
    words = base64.b64encode(f"uma@acme.test:{PASSWORD}".encode()).decode()
    for path in (LOGIN, f"{LOGIN}/local"):
        done = await anonymous.post(path, {}, headers={"authorization": f"Basic {words}"})
        assert (done.status, done.code) == (403, "passwords_off")
    # A person who does not know the password learns no more than before.
    wrong = await anonymous.post(LOGIN, {"email": "uma@acme.test", "password": "x" * 12})
    assert (wrong.status, wrong.code) == (401, "bad_login")


async def test_passwords_stay_on_until_an_owner_has_used_a_provider(
    world: World, provider: Provider
) -> None:
    provider_id, olga = await add(world), world.client("olga")
    provider.person = dict(PERSON)
    await sign_in(world, provider, provider_id)
    refused = await olga.put("/api/customer", OFF)
    assert (refused.status, refused.code) == (409, "no_other_way")
    assert (await world.client("ada").put("/api/customer", OFF)).status == 403
    assert (await world.client("uma").get("/api/customer")).json["providers_only"] is False
    # Allowing passwords that are already allowed requires nothing.
    assert (await olga.put("/api/customer", ON)).status == 200
    # Once she has, a session with a password may do it, and ends with it.
    provider.person = {**PERSON, "sub": "s-olga", "email": "olga@acme.test"}
    await sign_in(world, provider, provider_id)
    assert (await olga.put("/api/customer", OFF)).status == 200
    assert (await olga.get("/acme/task")).status == 401


async def test_the_sign_in_page_shows_that_passwords_are_off(
    world: World, provider: Provider, anonymous: Client
) -> None:
    provider_id, _ = await switched_off(world, provider)
    methods = (await anonymous.get("/api/auth/methods?customer=acme")).json
    assert methods["password"] is False and methods["providers"][0]["id"] == provider_id
    assert (await anonymous.get("/api/auth/methods?customer=globex")).json["password"] is True


async def test_the_last_provider_of_an_owner_stays(world: World, provider: Provider) -> None:
    provider_id, olga = await switched_off(world, provider)
    path = f"/api/provider/{provider_id}"
    assert (await olga.delete(path)).code == "no_other_way"
    assert (await olga.patch(path, {"enabled": False})).code == "no_other_way"
    assert (await olga.patch(path, {"name": "Renamed"})).status == 200
    # Another provider is a way to sign in once the owner has used it.
    other = await add_by(olga, "Other ID")
    assert (await olga.delete(path)).code == "no_other_way"
    there = await sign_in(world, provider, other)
    assert (await there.delete(path)).status == 200
    assert (await there.delete(f"/api/provider/{other}")).code == "no_other_way"
    assert (await there.put("/api/customer", ON)).status == 200
    assert (await there.delete(f"/api/provider/{other}")).status == 200


async def add_by(owner: Client, name: str) -> str:
    response: str = (await owner.post("/api/provider", {**BODY, "name": name})).json["id"]
    return response


async def test_a_session_of_another_organization_cannot_switch_to_it(
    world: World, provider: Provider, anonymous: Client
) -> None:
    """A person in both organizations signs in where passwords are allowed, and cannot switch to the
    other."""
    await switched_off(world, provider)
    acme = await world.runtime.db.read(service.by_name, "acme")
    assert acme is not None
    by = service.operator(acme)
    await world.runtime.db.write(member_changes.add_member, by, "eve@globex.test", Level.VIEWER)
    body = {"email": "eve@globex.test", "password": PASSWORD}
    done = await anonymous.post(LOGIN, body)
    assert done.status == 200 and done.json["customer_id"] != acme.id
    eve = Client(world.app, done.json["access_token"], check=world.conformity)
    moved = await eve.put(f"/api/session/customer/{acme.id}")
    assert (moved.status, moved.code) == (403, "passwords_off")
    named = await anonymous.post(LOGIN, {**body, "customer": "acme"})
    assert (named.status, named.code) == (403, "passwords_off")


async def test_an_invited_person_comes_through_the_provider(
    world: World, provider: Provider, anonymous: Client
) -> None:
    provider_id, olga = await switched_off(world, provider)
    body = {"user": {"email": "new@acme.test"}, "credential": "user"}
    link = (await olga.post("/api/member", body)).json["invitation"]["link"]
    token = link.partition("#")[2]
    record = (await anonymous.post("/api/auth/link", {"token": token})).json
    assert (record["customer_name"], record["password"]) == ("acme", False)
    actual_body = {"token": token, "password": "a long new password"}
    refused = await anonymous.post("/api/auth/invitation", actual_body)
    assert (refused.status, refused.code) == (403, "passwords_off")
    provider.person = {**PERSON, "sub": "s-new", "email": "new@acme.test"}
    assert (await (await sign_in(world, provider, provider_id)).get("/acme/task")).status == 200


async def test_a_reset_link_is_no_credential(
    world: World, provider: Provider, anonymous: Client
) -> None:
    path = f"/api/member/{world.actors.max.member_id}/reset"
    response = await world.client("olga").post(path)
    _, olga = await switched_off(world, provider)
    refused = await olga.post(path)
    assert (refused.status, refused.code) == (403, "passwords_off")
    # A link that was created before is valid again when passwords are allowed.
    token = response.json["link"].partition("#")[2]
    body = {"token": token, "password": "a long new password"}
    refused = await anonymous.put("/api/auth/password/reset", body)
    assert (refused.status, refused.code) == (403, "passwords_off")
    assert not (await anonymous.post("/api/auth/link", {"token": token})).json["password"]
    await olga.put("/api/customer", ON)
    assert (await anonymous.post("/api/auth/link", {"token": token})).json["password"]
    assert (await anonymous.put("/api/auth/password/reset", body)).status == 200


async def test_a_person_of_two_organizations_resets_for_the_other(
    world: World, provider: Provider, anonymous: Client
) -> None:
    await switched_off(world, provider)
    by = service.operator(world.actors.acme)
    await world.runtime.db.write(member_changes.add_member, by, "eve@globex.test", Level.VIEWER)
    keys = world.runtime.keyring
    _, token = await world.runtime.db.write(
        password_recovery.reset_password, keys, "eve@globex.test"
    )
    assert (await anonymous.post("/api/auth/link", {"token": token})).json["password"]


async def test_the_operator_allows_passwords_again(
    world: World, provider: Provider, anonymous: Client
) -> None:
    await switched_off(world, provider)
    await world.runtime.db.write(service.allow_passwords, "ACME")
    done = await anonymous.post(LOGIN, {"email": "olga@acme.test", "password": PASSWORD})
    assert done.status == 200
    olga = Client(world.app, done.json["access_token"], check=world.conformity)
    (last, *_) = (await olga.get("/api/audit?action=customer.change")).json
    assert (last["kind"], last["after"]) == ("operator", ON)


async def test_a_forgotten_password_is_ignored_if_passwords_are_off(
    world: World, provider: Provider, anonymous: Client
) -> None:
    _, olga = await switched_off(world, provider)
    before = await events(world)
    assert (await anonymous.post("/api/auth/password/recover", {"email": "uma@acme.test"})).status
    assert await events(world) == before
    await olga.put("/api/customer", ON)
    await anonymous.post("/api/auth/password/recover", {"email": "max@acme.test"})
    assert await events(world) == before + 1


async def events(world: World) -> int:
    sql = "select count(*) from events where kind = 'member.recovery_asked'"
    return int(await world.runtime.db.read(lambda tx: tx.value(sql)))
