"""Who joins through a provider, when several do so at once."""

import asyncio
from typing import Any

import pytest

from belvedere.access import Keyring, operator
from belvedere.access.credentials import one_time_links
from belvedere.access.customers import password_recovery
from belvedere.access.customers import service as customers
from belvedere.access.people import memberships, users
from belvedere.base.errors import Forbidden, NotFound
from belvedere.db import Database
from belvedere.providers import account_linking, service, store
from belvedere.providers.model import Endpoints, ProviderBody, ProviderRow
from people import PASSWORD_HASH, Actors

AT = "https://id.example.com"
WHERE = Endpoints(AT, f"{AT}/authorize", f"{AT}/token", f"{AT}/keys")


@pytest.fixture
def row(db: Database, keys: Keyring, actors: Actors) -> ProviderRow:
    body = ProviderBody(name="Ours", issuer=AT, client_id="belvedere", level="viewer")
    return db.write_blocking(service.create, keys, operator(actors.acme), body, WHERE)


def claims(subject: str, email: str = "new@acme.test") -> dict[str, Any]:
    return {"sub": subject, "email": email, "email_verified": True}


async def at_once(
    db: Database, keys: Keyring, row: ProviderRow, *records: dict[str, Any]
) -> list[Any]:
    calls = (db.write(account_linking.open_session, keys, row, item, "", "") for item in records)
    results = await asyncio.gather(*calls, return_exceptions=True)
    for item in results:
        if isinstance(item, BaseException) and not isinstance(item, Forbidden):
            raise item
    return results


async def test_a_first_sign_in_creates_a_member(
    db: Database, keys: Keyring, actors: Actors, row: ProviderRow
) -> None:
    session, _ = await db.write(
        account_linking.open_session, keys, row, claims("s-1"), "192.0.2.9", "Firefox"
    )
    assert (session.customer_id, session.method) == (actors.acme.id, "provider")
    assert session.provider_id == row.id
    user = await db.read(users.find, session.user_id)
    assert user is not None
    assert (user.email, user.password_hash) == ("new@acme.test", None)


async def test_one_of_two_subjects_with_the_same_email_is_accepted(
    db: Database, keys: Keyring, row: ProviderRow
) -> None:
    for n in range(5):
        email = f"new{n}@acme.test"
        items = [claims(f"s-{n}-{m}", email) for m in range(3)]
        results = await at_once(db, keys, row, *items)
        assert sum(isinstance(item, Forbidden) for item in results) == 2


async def test_concurrent_sign_ins_of_one_subject_create_one_member(
    db: Database, keys: Keyring, actors: Actors, row: ProviderRow
) -> None:
    results = await at_once(db, keys, row, *(claims("s-1") for _ in range(4)))
    assert len({session.user_id for session, _ in results}) == 1
    everybody = await db.read(memberships.list_members, actors.ada)
    assert [item.email for item in everybody].count("new@acme.test") == 1


async def test_a_provider_deleted_meanwhile_opens_no_session(
    db: Database, keys: Keyring, actors: Actors, row: ProviderRow
) -> None:
    await db.write(service.delete, operator(actors.acme), row.id)
    with pytest.raises(NotFound):
        await db.write(account_linking.open_session, keys, row, claims("s-1"), "", "")


async def test_a_disabled_organization_opens_no_session(
    db: Database, keys: Keyring, actors: Actors, row: ProviderRow
) -> None:
    await db.write(customers.disable, operator(actors.acme), "acme")
    with pytest.raises(NotFound):
        await db.write(account_linking.open_session, keys, row, claims("s-1"), "", "")


async def test_a_reset_link_of_another_organization_does_not_reach_this_one(
    db: Database, keys: Keyring, actors: Actors, row: ProviderRow
) -> None:
    who = claims("s-1", "eve@globex.test")
    eve = actors.eve
    _, token = await db.write(
        one_time_links.create, keys, one_time_links.RESET, eve.user_id, eve.customer_id, "gus"
    )
    session, _ = await db.write(account_linking.open_session, keys, row, who, "", "")
    await db.write(password_recovery.redeem_reset, keys, token, PASSWORD_HASH, "")
    joined = await db.read(users.find, session.user_id)
    assert joined is not None
    assert (joined.email, joined.password_hash) == ("eve@globex.test", None)
    assert joined.id != eve.user_id


async def test_another_issuer_knows_other_people(
    db: Database, keys: Keyring, actors: Actors, row: ProviderRow
) -> None:
    await db.write(account_linking.open_session, keys, row, claims("s-1"), "", "")
    moved = Endpoints("https://new.example.com", WHERE.authorization, WHERE.token, WHERE.keys)
    await db.write(service.change, keys, operator(actors.acme), row.id, ProviderBody(), moved)
    assert await db.read(store.bound_user, row.id, "s-1") is None
