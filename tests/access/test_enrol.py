"""Enrolment tokens: created by admins, used up by new hosts."""

import asyncio

import pytest

from belvedere import events
from belvedere.access import (
    Keyring,
    authenticate,
    create_enrolment,
    create_token,
    redeem_enrolment,
)
from belvedere.access.credentials import tokens
from belvedere.access.customers import service
from belvedere.base.errors import Forbidden, Invalid, NotFound, Unauthenticated
from belvedere.db import Database
from manual_clock import ManualClock
from people import Actors, list_audit_entries


def test_an_enrolment_token_is_created_and_used(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    token, text = db.write_blocking(create_enrolment, keys, actors.ada)
    assert text.startswith("bve_")
    leave = db.write_blocking(redeem_enrolment, keys, text, "web-1", "machine")
    assert (leave.token_id, leave.customer_id, leave.customer_name) == (
        token.id,
        actors.acme.id,
        "acme",
    )
    assert db.write_blocking(events.after, 0, 0)[-1].kind == "enrolment.redeemed"
    row = db.write_blocking(list_audit_entries, actors.ada)[0]
    assert (row.action, row.actor_name) == ("enrolment.redeem", "web-1")


def test_an_enrolment_token_is_no_api_credential(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    _, text = db.write_blocking(create_enrolment, keys, actors.ada)
    assert db.write_blocking(authenticate, keys, text) is None


def test_an_enrolment_token_can_be_used_up_to_its_limit(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    _, text = db.write_blocking(create_enrolment, keys, actors.ada, "farm", 2)
    db.write_blocking(redeem_enrolment, keys, text, "web-1", "a")
    db.write_blocking(redeem_enrolment, keys, text, "web-2", "b")
    with pytest.raises(Unauthenticated) as caught:
        db.write_blocking(redeem_enrolment, keys, text, "web-3", "c")
    assert caught.value.code == "bad_enrolment"
    assert text not in caught.value.message


async def test_the_last_use_is_had_by_one_only(db: Database, keys: Keyring, actors: Actors) -> None:
    _, text = await db.write(create_enrolment, keys, actors.ada, "farm", 3)
    tries = (db.write(redeem_enrolment, keys, text, f"web-{n}", "x") for n in range(12))
    enrolment_grants = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(item, Unauthenticated) for item in enrolment_grants) == 9
    (listed,) = await db.read(tokens.list_active, actors.ada, tokens.ENROLMENT)
    assert listed.uses_left == 0


def test_an_enrolment_token_is_valid_for_an_hour(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    _, text = db.write_blocking(create_enrolment, keys, actors.ada, "", 2)
    clock.move(3_599)
    db.write_blocking(redeem_enrolment, keys, text, "web-1", "a")
    clock.move(1)
    with pytest.raises(Unauthenticated):
        db.write_blocking(redeem_enrolment, keys, text, "web-2", "b")


def test_a_revoked_token_or_one_of_a_disabled_organization_is_refused(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    token, revoked = db.write_blocking(create_enrolment, keys, actors.ada)
    _, text = db.write_blocking(create_enrolment, keys, actors.ada)
    db.write_blocking(tokens.revoke, actors.ada, token.id, tokens.ENROLMENT)
    db.write_blocking(service.disable, actors.olga, "acme")
    for dead in (revoked, text, "bve_unknown", ""):
        with pytest.raises(Unauthenticated):
            db.write_blocking(redeem_enrolment, keys, dead, "web-1", "a")


def test_other_tokens_do_not_enrol(db: Database, keys: Keyring, actors: Actors) -> None:
    _, text = db.write_blocking(create_token, keys, actors.ada, "ci")
    with pytest.raises(Unauthenticated):
        db.write_blocking(redeem_enrolment, keys, text, "web-1", "a")


@pytest.mark.parametrize("who", ["max", "uma", "vic"])
def test_only_admins_make_them(db: Database, keys: Keyring, actors: Actors, who: str) -> None:
    with pytest.raises(Forbidden):
        db.write_blocking(create_enrolment, keys, getattr(actors, who))


def test_a_token_creates_no_enrolments(db: Database, keys: Keyring, actors: Actors) -> None:
    _, text = db.write_blocking(create_token, keys, actors.ada, "ci")
    actor = db.write_blocking(authenticate, keys, text)
    assert actor is not None
    with pytest.raises(Forbidden):
        db.write_blocking(create_enrolment, keys, actor)


@pytest.mark.parametrize(("uses", "life_s"), [(0, 60), (10_001, 60), (1, 0), (1, 10**9)])
def test_uses_and_lifetime_are_limited(
    db: Database, keys: Keyring, actors: Actors, uses: int, life_s: int
) -> None:
    with pytest.raises(Invalid):
        db.write_blocking(create_enrolment, keys, actors.ada, "", uses, life_s)


def test_other_organizations_do_not_revoke_an_enrolment(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    token, _ = db.write_blocking(create_enrolment, keys, actors.ada)
    with pytest.raises(NotFound):
        db.write_blocking(tokens.revoke, actors.eve, token.id, tokens.ENROLMENT)
    with pytest.raises(NotFound):
        db.write_blocking(tokens.revoke, actors.ada, token.id)


def test_text_from_an_agent_can_be_stored(db: Database, keys: Keyring, actors: Actors) -> None:
    _, text = db.write_blocking(create_enrolment, keys, actors.ada)
    db.write_blocking(redeem_enrolment, keys, text, "web\0", "\ud800")
    assert db.write_blocking(list_audit_entries, actors.ada)[0].actor_name == "web\ufffd"
