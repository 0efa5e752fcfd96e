"""Concurrent operations: the rules also hold when transactions overlap."""

import asyncio
from collections.abc import Awaitable
from typing import Any

from belvedere.access import Actor, Keyring, Level, authenticate, operator
from belvedere.access.credentials import one_time_links
from belvedere.access.crypto import password_hash
from belvedere.access.customers import invitations, member_changes, password_recovery, service
from belvedere.access.people import memberships, users
from belvedere.access.signin import login
from belvedere.base.errors import Refused
from belvedere.db import Database
from people import PASSWORD_HASH, Actors

HASH = password_hash.digest("maple-heron-cello")


async def at_once(*calls: Awaitable[Any]) -> list[Any]:
    """The results; a refusal is a result, any other exception is raised."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    for item in results:
        if isinstance(item, BaseException) and not isinstance(item, Refused):
            raise item
    return results


async def owners(db: Database, actor: Actor) -> list[memberships.Member]:
    text = await db.read(memberships.list_members, actor)
    return [member for member in text if member.level == Level.OWNER and member.enabled]


async def test_concurrent_reads_return_the_same_members(db: Database, actors: Actors) -> None:
    results = await at_once(*(db.read(memberships.list_members, actors.ada) for _ in range(4)))
    assert [len(item) for item in results] == [5] * 4


async def test_one_of_two_owners_who_demote_each_other_stays(db: Database, actors: Actors) -> None:
    olga, ada = actors.olga, actors.ada
    for _ in range(10):
        for actor in (olga, ada):
            await db.write(
                member_changes.change,
                operator(actors.acme),
                actor.member_id,
                level=Level.OWNER,
                enabled=True,
            )
        pair = [
            Actor(actors.acme.id, "acme", Level.OWNER, "member", member_id=actor.member_id)
            for actor in (olga, ada)
        ]
        await at_once(
            db.write(member_changes.change, pair[0], ada.member_id, level=Level.VIEWER),
            db.write(member_changes.change, pair[1], olga.member_id, level=Level.VIEWER),
            db.write(member_changes.change, pair[0], olga.member_id, enabled=False),
            db.write(service.hand_over, pair[1], olga.member_id),
        )
        assert len(await owners(db, actors.max)) >= 1


async def test_a_link_is_used_only_once(db: Database, keys: Keyring, actors: Actors) -> None:
    invitation = await db.write(
        invitations.invite, keys, actors.max, "new@acme.test", "", Level.USER, []
    )
    results = await at_once(
        *(db.write(invitations.accept, keys, invitation.token, None, HASH, "") for _ in range(8))
    )
    assert sum(not isinstance(item, Refused) for item in results) == 1


async def test_two_invitations_of_one_address_set_two_passwords(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    here, there = [
        await db.write(invitations.invite, keys, who, "new@acme.test", "", Level.VIEWER, [])
        for who in (actors.max, actors.eve)
    ]
    results = await at_once(
        db.write(invitations.accept, keys, here.token, None, HASH, ""),
        db.write(invitations.accept, keys, there.token, None, PASSWORD_HASH, ""),
    )
    places = {item.session.customer_id: item.session.user_id for item in results}
    assert places == {actors.acme.id: here.member.user_id, actors.globex.id: there.member.user_id}
    assert here.member.user_id != there.member.user_id


async def test_no_session_with_the_old_password_survives_the_change(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    for n in range(10):
        await db.write(users.set_password, actors.vic.user_id, f"old {n}")
        vic = await db.read(users.find, actors.vic.user_id)
        assert vic is not None
        _, link = await db.write(
            one_time_links.create, keys, one_time_links.RESET, vic.id, actors.acme.id, "operator"
        )
        results = await at_once(
            *(db.write(login.sign_in, keys, vic, None, None, "", "") for _ in range(3)),
            db.write(password_recovery.redeem_reset, keys, link, f"new {n}", ""),
            *(db.write(login.sign_in, keys, vic, None, None, "", "") for _ in range(3)),
        )
        tokens = [item.token for item in results if isinstance(item, login.LoginResult)]
        assert [await db.read(authenticate, keys, token) for token in tokens] == [None] * len(
            tokens
        )


async def test_each_organization_invites_a_person_once(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    results = await at_once(
        *(
            db.write(invitations.invite, keys, who, "new@x.test", "", Level.VIEWER, [])
            for who in (actors.max, actors.ada, actors.eve, actors.olga)
        )
    )
    items = [item for item in results if not isinstance(item, Refused)]
    assert len(items) == 2
    assert {item.member.customer_id for item in items} == {actors.acme.id, actors.globex.id}


async def test_concurrent_creations_of_one_organization_create_one(
    db: Database, keys: Keyring
) -> None:
    results = await at_once(
        *(
            db.write(
                service.create_customer,
                keys,
                "initech",
                f"bill{n}@x.test",
                reserved=frozenset(),
            )
            for n in range(6)
        )
    )
    assert sum(not isinstance(item, Refused) for item in results) == 1


async def test_an_account_is_kept_while_another_organization_invites_it(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    for n in range(10):
        email = f"new{n}@x.test"
        invitation = await db.write(
            invitations.invite, keys, actors.max, email, "", Level.VIEWER, []
        )
        await at_once(
            db.write(member_changes.remove, actors.max, invitation.member.id),
            db.write(invitations.invite, keys, actors.eve, email, "", Level.VIEWER, []),
        )
        text = await db.read(memberships.list_members, actors.eve)
        assert email in {member.email for member in text}
