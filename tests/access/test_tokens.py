"""Integration tokens and the credentials of agents."""

import re

import pytest

from belvedere import events
from belvedere.access import (
    Actor,
    Keyring,
    Level,
    adopt_token,
    authenticate,
    create_agent_token,
    create_token,
    operator,
    revoke_agent_tokens,
    touch,
)
from belvedere.access.credentials import tokens
from belvedere.access.customers import member_changes
from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound
from belvedere.base.ids import new_id
from belvedere.db import Database
from belvedere.db.signals import ACCESS_CHANGED, Signal
from manual_clock import ManualClock
from people import Actors, list_audit_entries

OWN = "bvt_" + "x" * 32


def test_a_token_is_created_and_authenticates(db: Database, keys: Keyring, actors: Actors) -> None:
    token, text = db.write_blocking(create_token, keys, actors.ada, "ci")
    assert re.fullmatch(r"bvt_[A-Za-z0-9_-]{43}", text)
    actor = db.write_blocking(authenticate, keys, text)
    assert actor == Actor(
        actors.acme.id,
        "acme",
        Level.ADMIN,
        "token",
        user_id=token.id,
        username="ci",
        email="",
        credential_id=token.id,
        source=f"token {token.id} ci",
    )


def test_the_token_text_is_not_stored(db: Database, keys: Keyring, actors: Actors) -> None:
    _, text = db.write_blocking(create_token, keys, actors.ada, "ci")
    (listed,) = db.write_blocking(tokens.list_active, actors.ada)
    assert listed.prefix == text[:8]
    assert (listed.created_by, listed.created_by_name) == (actors.ada.user_id, "ada@acme.test")
    objects = [
        *db.write_blocking(events.after, 0, 0),
        *db.write_blocking(list_audit_entries, actors.ada),
    ]
    rows = db.write_blocking(lambda tx: tx.rows("select * from tokens"))
    assert text[4:] not in f"{objects} {rows}"


@pytest.mark.parametrize("who", ["max", "uma", "vic"])
def test_only_admins_make_tokens(db: Database, keys: Keyring, actors: Actors, who: str) -> None:
    with pytest.raises(Forbidden):
        db.write_blocking(create_token, keys, getattr(actors, who), "ci")


def test_a_token_creates_no_tokens(db: Database, keys: Keyring, actors: Actors) -> None:
    _, text = db.write_blocking(create_token, keys, actors.ada, "ci")
    actor = db.write_blocking(authenticate, keys, text)
    assert actor is not None
    with pytest.raises(Forbidden) as caught:
        db.write_blocking(create_token, keys, actor, "for ever")
    assert caught.value.code == "person_only"


def test_an_admin_who_was_demoted_meanwhile_creates_no_token(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    db.write_blocking(member_changes.change, actors.olga, actors.ada.member_id, level=Level.USER)
    with pytest.raises(Forbidden):
        db.write_blocking(create_token, keys, actors.ada, "ci")


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "x" * 129])
def test_a_token_needs_a_name(db: Database, keys: Keyring, actors: Actors, name: str) -> None:
    with pytest.raises(Invalid):
        db.write_blocking(create_token, keys, actors.ada, name)


def test_a_token_can_expire(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    _, text = db.write_blocking(create_token, keys, actors.ada, "ci", 60)
    clock.move(59)
    assert db.write_blocking(authenticate, keys, text) is not None
    clock.move(1)
    assert db.write_blocking(authenticate, keys, text) is None


@pytest.mark.parametrize("life_s", [0, -1, 10**12])
def test_an_expiry_must_be_in_the_future(
    db: Database, keys: Keyring, actors: Actors, life_s: int
) -> None:
    with pytest.raises(Invalid):
        db.write_blocking(create_token, keys, actors.ada, "ci", life_s)


def test_a_revoked_token_is_invalid(db: Database, keys: Keyring, actors: Actors) -> None:
    token, text = db.write_blocking(create_token, keys, actors.ada, "ci")
    signals: set[Signal] = set()
    db.on_signals = signals.update
    db.write_blocking(tokens.revoke, actors.ada, token.id)
    assert db.write_blocking(authenticate, keys, text) is None
    assert db.write_blocking(tokens.list_active, actors.ada) == []
    assert ACCESS_CHANGED in signals
    with pytest.raises(NotFound):
        db.write_blocking(tokens.revoke, actors.ada, token.id)


def test_other_organizations_neither_see_nor_revoke_a_token(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    token, text = db.write_blocking(create_token, keys, actors.ada, "ci")
    assert db.write_blocking(tokens.list_active, actors.eve) == []
    with pytest.raises(NotFound):
        db.write_blocking(tokens.revoke, actors.eve, token.id)
    assert db.write_blocking(authenticate, keys, text) is not None


def test_a_token_revokes_itself_and_no_other(db: Database, keys: Keyring, actors: Actors) -> None:
    token, text = db.write_blocking(create_token, keys, actors.ada, "ci")
    other, _ = db.write_blocking(create_token, keys, actors.ada, "cd")
    actor = db.write_blocking(authenticate, keys, text)
    assert actor is not None
    with pytest.raises(Forbidden):
        db.write_blocking(tokens.revoke, actor, other.id)
    db.write_blocking(tokens.revoke, actor, token.id)
    assert db.write_blocking(authenticate, keys, text) is None


def test_the_last_use_of_a_token_is_recorded(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    token, _ = db.write_blocking(create_token, keys, actors.ada, "ci")
    db.write_blocking(touch, [(token.id, clock()), (new_id(), clock())])
    (listed,) = db.write_blocking(tokens.list_active, actors.ada)
    assert listed.used_at == clock()


def test_a_text_chosen_elsewhere_is_adopted(db: Database, keys: Keyring, actors: Actors) -> None:
    db.write_blocking(adopt_token, keys, operator(actors.acme), "setup", OWN)
    actor = db.write_blocking(authenticate, keys, OWN)
    assert actor is not None
    assert actor.customer_name == "acme"


@pytest.mark.parametrize(
    "text", ["", "x" * 40, "bvt_" + "x" * 31, "bvs_" + "x" * 40, "bvt_ " + "x" * 40]
)
def test_a_weak_text_is_not_adopted(db: Database, keys: Keyring, actors: Actors, text: str) -> None:
    with pytest.raises(Invalid) as caught:
        db.write_blocking(adopt_token, keys, operator(actors.acme), "setup", text)
    assert not text or text not in caught.value.message


def test_a_token_gives_access_to_one_organization(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    db.write_blocking(adopt_token, keys, operator(actors.acme), "setup", OWN)
    with pytest.raises(Conflict):
        db.write_blocking(adopt_token, keys, operator(actors.globex), "setup", OWN)


def test_an_agent_has_a_token_of_its_own(db: Database, keys: Keyring, actors: Actors) -> None:
    host_id = new_id()
    token, text = db.write_blocking(create_agent_token, keys, actors.acme.id, host_id, "web-1")
    assert text.startswith("bva_")
    actor = db.write_blocking(authenticate, keys, text)
    assert actor is not None
    assert (actor.level, actor.kind, actor.host_id) == (Level.AGENT, "agent", host_id)
    assert db.write_blocking(tokens.list_active, actors.ada) == []
    assert [
        item.id for item in db.write_blocking(tokens.list_active, actors.ada, tokens.AGENT_TOKEN)
    ] == [token.id]


def test_all_tokens_of_a_host_are_revoked_together(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    host_id = new_id()
    texts = [
        db.write_blocking(create_agent_token, keys, actors.acme.id, host, "web")[1]
        for host in (host_id, host_id, new_id())
    ]
    assert db.write_blocking(revoke_agent_tokens, actors.globex.id, host_id) == 0
    assert db.write_blocking(revoke_agent_tokens, actors.acme.id, host_id) == 2
    alive = [db.write_blocking(authenticate, keys, text) is not None for text in texts]
    assert alive == [False, False, True]
