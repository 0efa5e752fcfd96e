"""Inviting people, and what an invitation must not allow."""

import pytest

from belvedere import events
from belvedere.access import Keyring, Level, authenticate
from belvedere.access.credentials import one_time_links, tokens
from belvedere.access.crypto import password_hash
from belvedere.access.customers import invitations, member_changes, password_recovery
from belvedere.access.customers.invitations import Invitation
from belvedere.access.people import memberships, users
from belvedere.access.signin import sessions
from belvedere.base.clock import DAY, SECOND
from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound
from belvedere.db import Database
from manual_clock import ManualClock
from people import PASSWORD_HASH, Actors, find_account

HASH = password_hash.digest("maple-heron-cello")


def invite(
    db: Database,
    keys: Keyring,
    actors: Actors,
    email: str = "new@acme.test",
    level: Level = Level.USER,
    who: str = "max",
) -> Invitation:
    return db.write_blocking(
        invitations.invite, keys, getattr(actors, who), email, "New", level, ["team:blue"]
    )


def test_an_invitation_is_accepted(db: Database, keys: Keyring, actors: Actors) -> None:
    invitation = invite(db, keys, actors)
    assert invitation.member.invited_at is not None
    greeting = db.write_blocking(invitations.link_details, keys, invitation.token)
    assert greeting is not None
    assert (greeting.email, greeting.password_hash) == ("new@acme.test", None)
    token = db.write_blocking(
        invitations.accept, keys, invitation.token, None, HASH, "192.0.2.9"
    ).token
    actor = db.write_blocking(authenticate, keys, token)
    assert actor is not None
    assert (actor.level, actor.email, actor.tags) == (Level.USER, "new@acme.test", ("team:blue",))
    kinds = [event.kind for event in db.write_blocking(events.after, 0, 0)]
    assert kinds[-2:] == ["member.invited", "member.accepted"]


def test_a_link_works_once(db: Database, keys: Keyring, actors: Actors) -> None:
    invitation = invite(db, keys, actors)
    db.write_blocking(invitations.accept, keys, invitation.token, None, HASH, "")
    assert db.write_blocking(invitations.link_details, keys, invitation.token) is None
    with pytest.raises(NotFound):
        db.write_blocking(invitations.accept, keys, invitation.token, HASH, None, "")


def test_a_link_expires(db: Database, keys: Keyring, actors: Actors, clock: ManualClock) -> None:
    invitation = invite(db, keys, actors)
    clock.move(7 * DAY / SECOND)
    with pytest.raises(NotFound):
        db.write_blocking(invitations.accept, keys, invitation.token, None, HASH, "")


@pytest.mark.parametrize("token", ["", "bvl_x", "nonsense"])
def test_an_unknown_link_is_not_found(
    db: Database, keys: Keyring, actors: Actors, token: str
) -> None:
    assert db.write_blocking(invitations.link_details, keys, token) is None
    with pytest.raises(NotFound):
        db.write_blocking(invitations.accept, keys, token, None, HASH, "")


def test_a_link_for_a_password_is_no_invitation(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    _, token = db.write_blocking(
        password_recovery.issue_link, keys, actors.max, actors.vic.member_id
    )
    with pytest.raises(NotFound):
        db.write_blocking(invitations.accept, keys, token, None, HASH, "")


def test_a_member_is_not_invited_again(db: Database, keys: Keyring, actors: Actors) -> None:
    with pytest.raises(Conflict) as caught:
        invite(db, keys, actors, "VIC@acme.test")
    assert caught.value.code == "already_member"


def test_invalid_input_leaves_no_data(db: Database, keys: Keyring, actors: Actors) -> None:
    with pytest.raises(Invalid):
        db.write_blocking(
            invitations.invite, keys, actors.max, "new@acme.test", "", Level.USER, ["no tag"]
        )
    with pytest.raises(Invalid):
        invite(db, keys, actors, "no address")
    assert db.write_blocking(find_account, "new@acme.test") is None


@pytest.mark.parametrize(("who", "level"), [("max", Level.ADMIN), ("ada", Level.OWNER)])
def test_inviting_above_the_own_level_is_refused(
    db: Database, keys: Keyring, actors: Actors, who: str, level: Level
) -> None:
    with pytest.raises(Forbidden):
        invite(db, keys, actors, level=level, who=who)


@pytest.mark.parametrize("who", ["uma", "vic"])
def test_users_and_viewers_cannot_invite(
    db: Database, keys: Keyring, actors: Actors, who: str
) -> None:
    with pytest.raises(Forbidden):
        invite(db, keys, actors, level=Level.VIEWER, who=who)


def test_a_token_cannot_invite(db: Database, keys: Keyring, actors: Actors) -> None:
    _, text = db.write_blocking(tokens.create_token, keys, actors.ada, "ci")
    token = db.write_blocking(authenticate, keys, text)
    assert token is not None
    with pytest.raises(Forbidden):
        db.write_blocking(invitations.invite, keys, token, "new@acme.test", "", Level.VIEWER, [])


def test_an_invited_person_with_an_account_uses_the_existing_password(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    invitation = invite(db, keys, actors, "eve@globex.test")
    token = db.write_blocking(
        invitations.accept, keys, invitation.token, PASSWORD_HASH, None, ""
    ).token
    actor = db.write_blocking(authenticate, keys, token)
    assert actor is not None
    assert (actor.customer_name, actor.level) == ("acme", Level.USER)
    assert actor.user_id == actors.eve.user_id
    user = db.write_blocking(users.find, actors.eve.user_id)
    assert user is not None
    assert user.password_hash == PASSWORD_HASH


def test_signing_in_is_refused_until_the_link_is_used(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    """Eve's own invitation of a person must not give Eve what acme grants to that person."""
    squatted = db.write_blocking(
        invitations.invite, keys, actors.eve, "new@acme.test", "", Level.VIEWER, []
    )
    expected = invite(db, keys, actors, level=Level.MANAGER)
    token = db.write_blocking(invitations.accept, keys, squatted.token, None, HASH, "").token
    actor = db.write_blocking(authenticate, keys, token)
    assert actor is not None
    assert actor.customer_name == "globex"
    assert db.write_blocking(sessions.list_memberships, expected.member.user_id) == []
    places = db.write_blocking(sessions.list_memberships, squatted.member.user_id)
    assert [place.customer_name for place in places] == ["globex"]


def test_a_link_is_invalid_after_a_change_of_the_level(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    """Max keeps the link of a person whom Ada makes an admin; the link must not make Max one."""
    invitation = invite(db, keys, actors)
    db.write_blocking(member_changes.change, actors.ada, invitation.member.id, level=Level.ADMIN)
    with pytest.raises(NotFound):
        db.write_blocking(invitations.accept, keys, invitation.token, None, HASH, "")
    with pytest.raises(Forbidden):
        db.write_blocking(password_recovery.issue_link, keys, actors.max, invitation.member.id)
    link, token = db.write_blocking(
        password_recovery.issue_link, keys, actors.ada, invitation.member.id
    )
    assert link.kind == one_time_links.INVITATION
    db.write_blocking(invitations.accept, keys, token, None, HASH, "")


def test_a_link_stays_valid_when_its_creator_changes_the_level(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    invitation = db.write_blocking(
        invitations.invite, keys, actors.ada, "new@acme.test", "", Level.VIEWER, []
    )
    member, new_link = db.write_blocking(
        invitations.change_member, keys, actors.ada, invitation.member.id, level=Level.ADMIN
    )
    assert (member.level, new_link) == (Level.ADMIN, None)
    db.write_blocking(invitations.accept, keys, invitation.token, None, HASH, "")


def test_a_link_stays_valid_when_the_level_is_lowered(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    invitation = invite(db, keys, actors, level=Level.USER)
    db.write_blocking(member_changes.change, actors.ada, invitation.member.id, level=Level.VIEWER)
    db.write_blocking(invitations.accept, keys, invitation.token, None, HASH, "")


def test_invalidating_a_link_returns_a_new_one(db: Database, keys: Keyring, actors: Actors) -> None:
    invitation = invite(db, keys, actors)
    _, new_link = db.write_blocking(
        invitations.change_member, keys, actors.ada, invitation.member.id, level=Level.ADMIN
    )
    assert new_link is not None
    with pytest.raises(NotFound):
        db.write_blocking(invitations.accept, keys, invitation.token, None, HASH, "")
    db.write_blocking(invitations.accept, keys, new_link[1], None, HASH, "")


def test_disabling_an_invited_member_ends_the_invitation(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    invitation = invite(db, keys, actors)
    _, new_link = db.write_blocking(
        invitations.change_member, keys, actors.max, invitation.member.id, enabled=False
    )
    assert new_link is None
    with pytest.raises(NotFound):
        db.write_blocking(invitations.accept, keys, invitation.token, None, HASH, "")


def test_a_password_that_changed_meanwhile_accepts_nothing(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    invitation = invite(db, keys, actors, "eve@globex.test")
    with pytest.raises(Conflict) as caught:
        db.write_blocking(invitations.accept, keys, invitation.token, HASH, None, "")
    assert caught.value.code == "password_changed"
    assert db.write_blocking(invitations.link_details, keys, invitation.token) is not None


def test_an_invitation_that_was_never_accepted_leaves_no_trace(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    invitation = invite(db, keys, actors)
    db.write_blocking(member_changes.remove, actors.max, invitation.member.id)
    assert db.write_blocking(find_account, "new@acme.test") is None
    assert db.write_blocking(one_time_links.find, keys, invitation.token) is None
    invite(db, keys, actors)


def test_an_invitation_does_not_make_an_owner(db: Database, keys: Keyring, actors: Actors) -> None:
    """An invited owner is not an owner yet: the last active owner cannot leave."""
    invite(db, keys, actors, level=Level.OWNER, who="olga")
    with pytest.raises(Conflict):
        db.write_blocking(member_changes.remove, actors.olga, actors.olga.member_id)
    assert (
        db.write_blocking(memberships.find, actors.acme.id, actors.olga.member_id).level == "owner"
    )
