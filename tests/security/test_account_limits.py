"""One organization or provider must not block people of another or reveal anything about them."""

import msgspec
import pytest

from belvedere.access import create_customer, operator
from belvedere.access.actor import Level
from belvedere.access.customers import password_recovery
from belvedere.access.people import memberships, users
from belvedere.access.signin import known_browsers, login_tickets, sessions
from belvedere.base.errors import Conflict, Forbidden
from belvedere.db import Tx
from belvedere.providers import account_linking, service, store
from belvedere.providers.model import ProviderBody
from contract.browser_journey import PERSON, BrowserJourney, add, provider_of
from contract.client import Client
from contract.world import World
from people import PASSWORD_HASH

MANY = users.MAX_ACCOUNTS + 1


async def test_accounts_of_older_organizations_do_not_hide_the_named_one(world: World) -> None:
    """The same user name in many organizations, and the last of them is named."""
    db, keys = world.runtime.db, world.runtime.keyring

    def make(tx: Tx) -> None:
        for n in range(MANY):
            customer = create_customer(
                tx, keys, f"org-{n}", f"owner@org-{n}.test", reserved=frozenset()
            )
            account = users.find_or_create(tx, f"info@org-{n}.test", "", customer.customer.id)
            by = operator(customer.customer)
            memberships.add(tx, by, account, Level.USER, [], proof="link")

    await db.write(make)
    text = await db.read(users.find_by_name, "info", f"org-{MANY - 1}")
    assert [user.email for user in text] == [f"info@org-{MANY - 1}.test"]


async def test_the_operator_resets_only_members_of_the_named_organization(world: World) -> None:
    """The account of that person elsewhere must not be used instead."""
    for name in ("globex", "nowhere"):
        with pytest.raises(Conflict) as refused:
            await world.runtime.db.write(
                password_recovery.set_password, "uma@acme.test", PASSWORD_HASH, name
            )
        assert refused.value.code == "not_a_member"


def begin(tx: Tx, world: World, provider_id: str | None = None, agent: str = "") -> str:
    method = sessions.PROVIDER if provider_id else sessions.PASSWORD
    session, _ = sessions.begin(
        tx,
        world.runtime.keyring,
        world.actors.uma.user_id,
        "acme",
        "192.0.2.1",
        agent,
        method,
        provider_id,
    )
    return session.id


def live(tx: Tx, world: World) -> list[str]:
    return [item.id for item in sessions.list_active(tx, world.actors.uma)]


async def test_a_person_has_a_limited_number_of_sessions(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MAX_SESSIONS", 3)
    db = world.runtime.db
    texts = [await db.write(begin, world) for _ in range(5)]
    assert await db.read(live, world) == texts[-3:]


async def test_sessions_through_a_provider_end_no_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attack: the provider of one organization signs in often, and the person is signed out
    everywhere."""
    monkeypatch.setattr(sessions, "MAX_SESSIONS", 3)
    provider_of(world, PERSON)
    provider_id = await add(world)
    db = world.runtime.db
    own = await db.write(begin, world)
    through = [await db.write(begin, world, provider_id) for _ in range(5)]
    text = await db.read(live, world)
    assert own in text and text[-3:] == through[-3:]
    assert not {*through[:2]} & {*text}


async def test_a_provider_session_ends_no_sign_in_of_another_organization(world: World) -> None:
    """The ticket between password and second factor is of globex; the session is of acme."""
    db, keys, uma = world.runtime.db, world.runtime.keyring, world.actors.uma
    by_provider = msgspec.structs.replace(uma, provider_id="p")
    for customer, is_kept in ((world.actors.globex, True), (world.actors.acme, False)):
        make = (keys, uma.user_id, customer.id, login_tickets.TOTP)
        token = await db.write(login_tickets.create, *make)
        await db.write(sessions.revoke_others, by_provider)
        assert bool(await db.read(login_tickets.owner, keys, token)) is is_kept


async def test_frequent_sign_ins_of_a_program_do_not_hide_new_ones(world: World) -> None:
    db, uma = world.runtime.db, world.actors.uma
    for _ in range(known_browsers.MAX_NOTICES_PER_HOUR + 1):
        await db.write(begin, world, None, "cron")
    other_browser = (uma.user_id, "", "198.51.100.7", "other")
    assert not await db.read(known_browsers.is_familiar, *other_browser)
    # Only so many new places in an hour are reported.
    for n in range(known_browsers.MAX_NOTICES_PER_HOUR):
        await db.write(begin, world, None, f"agent {n}")
    assert await db.read(known_browsers.is_familiar, *other_browser)


async def test_a_sign_in_through_a_provider_makes_no_browser_known(world: World) -> None:
    provider_of(world, PERSON)
    provider_id = await add(world)
    db, uma = world.runtime.db, world.actors.uma
    await db.write(begin, world, None, "browser")
    await db.write(begin, world, provider_id, "planted")
    assert not await db.read(known_browsers.is_familiar, uma.user_id, "", "192.0.2.1", "planted")


async def test_a_provider_that_changed_meanwhile_links_no_account(world: World) -> None:
    """The attack: the owner replaces a malicious issuer; a sign-in that is in progress would bind a
    subject of the old issuer, which belongs to another person at the new one."""
    provider_of(world, PERSON)
    db, keys, olga = world.runtime.db, world.runtime.keyring, world.actors.olga
    row = await db.read(store.find_enabled, await add(world))
    where = msgspec.structs.replace(row.decoded_endpoints, issuer="https://new.example.com")
    await db.write(
        service.change, keys, olga, row.id, ProviderBody(client_secret="of the new"), where
    )
    with pytest.raises(Forbidden) as refused:
        await db.write(account_linking.open_session, keys, row, dict(PERSON), "192.0.2.1", "")
    assert refused.value.code == "bad_state"
    assert await db.read(store.bound_user, row.id, "s-1") is None


async def test_tokens_of_who_used_the_link_end_when_the_person_comes(
    world: World, ada: Client
) -> None:
    """An admin invites a person, uses the link, and keeps a token created as that person."""
    person = {**PERSON, "sub": "s-7", "email": "pat@acme.test"}
    body = {"user": {"email": "pat@acme.test"}, "credential": "admin"}
    link = (await ada.post("/api/member", body)).json["invitation"]["token"]
    used = {"token": link, "password": "another-long-password"}
    done = await world.client().post("/api/auth/invitation", used)
    posing = Client(world.app, done.json["access_token"])
    token = (await posing.post("/api/token", {"name": "kept"})).json["token"]
    assert (await Client(world.app, token).get("/acme/task")).status == 200
    journey = BrowserJourney(world.client(), provider_of(world, person))
    assert await journey.sign_in(await add(world)) == "/ui/"
    assert (await Client(world.app, token).get("/acme/task")).status == 401
