"""Organizations: creating, renaming, transferring, disabling."""

import pytest

from belvedere import events
from belvedere.access import Actor, Keyring, Level, authenticate, create_customer, operator
from belvedere.access.credentials import tokens
from belvedere.access.crypto import password_hash
from belvedere.access.customers import service
from belvedere.access.people import memberships, users
from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound
from belvedere.db import Database
from people import PASSWORD_HASH, Actors

RESERVED = frozenset({"job"})


def create(
    db: Database, keys: Keyring, name: str, owner: str = "olga@acme.test"
) -> service.NewCustomer:
    return db.write_blocking(create_customer, keys, name, owner, reserved=RESERVED)


def test_an_organization_is_created_with_its_owner(db: Database, keys: Keyring) -> None:
    new_customer = create(db, keys, "Acme")
    assert new_customer.customer.name == "acme"
    assert new_customer.owner.level == "owner"
    assert new_customer.token is not None
    kinds = [event.kind for event in db.write_blocking(events.after, 0, 0)]
    assert kinds == ["customer.created", "member.added"]


def test_an_owner_with_a_password_gets_no_link(db: Database, keys: Keyring) -> None:
    new_customer = db.write_blocking(
        create_customer,
        keys,
        "acme",
        "olga@acme.test",
        reserved=RESERVED,
        password_hash=PASSWORD_HASH,
    )
    assert new_customer.token is None


def test_a_person_who_is_known_keeps_the_password(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    other = password_hash.digest("another-good-password")
    new_customer = db.write_blocking(
        create_customer,
        keys,
        "initech",
        "ADA@acme.test",
        reserved=RESERVED,
        password_hash=other,
    )
    user = db.write_blocking(users.find, new_customer.owner.user_id)
    assert new_customer.owner.user_id == actors.ada.user_id
    assert user is not None
    assert user.password_hash == PASSWORD_HASH


@pytest.mark.parametrize("name", ["acme", "ACME"])
def test_a_name_is_taken_in_every_spelling(db: Database, keys: Keyring, name: str) -> None:
    create(db, keys, "acme")
    with pytest.raises(Conflict) as caught:
        create(db, keys, name)
    assert caught.value.code == "name_taken"


def test_words_of_the_interface_are_no_names(db: Database, keys: Keyring) -> None:
    with pytest.raises(Invalid):
        create(db, keys, "job")
    assert db.write_blocking(service.by_name, "job") is None


def test_an_organization_is_found_in_any_spelling(db: Database, actors: Actors) -> None:
    assert db.write_blocking(service.by_name, "AcMe") == actors.acme
    assert db.write_blocking(service.by_name, "a\0b") is None


def test_the_owner_renames_it(db: Database, keys: Keyring, actors: Actors) -> None:
    renamed = db.write_blocking(service.rename, actors.olga, "Apex", RESERVED)
    assert renamed.name == "apex"
    assert db.write_blocking(service.by_name, "acme") is None
    again = db.write_blocking(authenticate, keys, actors.tokens["olga"])
    assert again is not None
    assert again.customer_name == "apex"


@pytest.mark.parametrize("name", ["globex", "job", "no good"])
def test_an_organization_is_not_renamed_to_an_invalid_name(
    db: Database, actors: Actors, name: str
) -> None:
    with pytest.raises((Conflict, Invalid)):
        db.write_blocking(service.rename, actors.olga, name, RESERVED)
    assert db.write_blocking(service.by_name, "acme") == actors.acme


@pytest.mark.parametrize("who", ["ada", "max", "uma", "vic"])
def test_only_the_owner_renames_disables_or_hands_on(
    db: Database, actors: Actors, who: str
) -> None:
    actor: Actor = getattr(actors, who)
    with pytest.raises(Forbidden):
        db.write_blocking(service.rename, actor, "apex", RESERVED)
    with pytest.raises(Forbidden):
        db.write_blocking(service.disable, actor, "acme")
    with pytest.raises(Forbidden):
        db.write_blocking(service.hand_over, actor, actor.member_id)


def test_a_disabled_organization_opens_no_session(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    _, text = db.write_blocking(tokens.create_token, keys, actors.ada, "ci")
    assert db.write_blocking(authenticate, keys, text) is not None
    db.write_blocking(service.disable, actors.olga, "acme")
    texts = [text, *(actors.tokens[name] for name in ("olga", "ada", "max", "uma", "vic"))]
    assert [db.write_blocking(authenticate, keys, token) for token in texts] == [None] * 6
    assert db.write_blocking(authenticate, keys, actors.tokens["eve"]) is not None


def test_disabling_must_be_confirmed(db: Database, actors: Actors) -> None:
    with pytest.raises(Invalid):
        db.write_blocking(service.disable, actors.olga, "")


def test_the_operator_enables_the_organization_again(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    _, text = db.write_blocking(tokens.create_token, keys, actors.ada, "ci")
    db.write_blocking(service.disable, actors.olga, "acme")
    assert db.write_blocking(service.enable, "acme").enabled
    assert db.write_blocking(authenticate, keys, text) is not None
    assert db.write_blocking(authenticate, keys, actors.tokens["olga"]) is None
    with pytest.raises(NotFound):
        db.write_blocking(service.enable, "nowhere")


def test_ownership_is_handed_on(db: Database, keys: Keyring, actors: Actors) -> None:
    heir = db.write_blocking(service.hand_over, actors.olga, actors.uma.member_id)
    giver = db.write_blocking(memberships.find, actors.acme.id, actors.olga.member_id)
    assert (heir.level, giver.level) == ("owner", "admin")
    assert db.write_blocking(authenticate, keys, actors.tokens["olga"]) is None
    assert db.write_blocking(authenticate, keys, actors.tokens["uma"]) is None


def test_ownership_cannot_go_to_outsiders_or_to_the_owner(db: Database, actors: Actors) -> None:
    with pytest.raises(NotFound):
        db.write_blocking(service.hand_over, actors.olga, actors.eve.member_id)
    with pytest.raises(Conflict):
        db.write_blocking(service.hand_over, actors.olga, actors.olga.member_id)


def test_the_operator_can_hand_on_what_is_orphaned(db: Database, actors: Actors) -> None:
    heir = db.write_blocking(service.hand_over, operator(actors.acme), actors.ada.member_id)
    assert heir.level == Level.OWNER
