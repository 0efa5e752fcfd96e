"""New passwords: changed, or set through a link."""

import pytest

from belvedere import events
from belvedere.access import Keyring, Level, authenticate, reset_password, set_password
from belvedere.access.credentials import one_time_links
from belvedere.access.crypto import password_hash
from belvedere.access.customers import invitations, member_changes, password_recovery, service
from belvedere.access.people import users
from belvedere.access.signin import sessions
from belvedere.base.clock import HOUR, SECOND
from belvedere.base.errors import Conflict, Forbidden, NotFound, Unauthenticated
from belvedere.db import Database
from manual_clock import ManualClock
from people import PASSWORD_HASH, Actors, find_account

HASH = password_hash.digest("maple-heron-cello")


def hash_of(db: Database, user_id: str) -> str | None:
    user = db.write_blocking(users.find, user_id)
    return None if user is None else user.password_hash


def test_a_reset_link_sets_a_password(db: Database, keys: Keyring, actors: Actors) -> None:
    link, token = db.write_blocking(
        password_recovery.issue_link, keys, actors.max, actors.vic.member_id
    )
    assert link.kind == one_time_links.RESET
    db.write_blocking(password_recovery.redeem_reset, keys, token, HASH, "192.0.2.9")
    assert hash_of(db, actors.vic.user_id) == HASH
    assert db.write_blocking(authenticate, keys, actors.tokens["vic"]) is None
    assert db.write_blocking(authenticate, keys, actors.tokens["uma"]) is not None
    kinds = [event.kind for event in db.write_blocking(events.after, 0, 0)]
    assert kinds[-2:] == ["member.link_made", "member.password_changed"]


def test_a_link_works_once_and_in_its_time(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    _, token = db.write_blocking(
        password_recovery.issue_link, keys, actors.max, actors.vic.member_id
    )
    db.write_blocking(password_recovery.redeem_reset, keys, token, HASH, "")
    with pytest.raises(NotFound):
        db.write_blocking(password_recovery.redeem_reset, keys, token, PASSWORD_HASH, "")
    _, late = db.write_blocking(
        password_recovery.issue_link, keys, actors.max, actors.vic.member_id
    )
    clock.move(24 * HOUR / SECOND)
    with pytest.raises(NotFound):
        db.write_blocking(password_recovery.redeem_reset, keys, late, PASSWORD_HASH, "")
    assert hash_of(db, actors.vic.user_id) == HASH


def test_a_newer_link_invalidates_the_older_one(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    _, older = db.write_blocking(
        password_recovery.issue_link, keys, actors.max, actors.vic.member_id
    )
    _, newer = db.write_blocking(
        password_recovery.issue_link, keys, actors.max, actors.vic.member_id
    )
    with pytest.raises(NotFound):
        db.write_blocking(password_recovery.redeem_reset, keys, older, HASH, "")
    db.write_blocking(password_recovery.redeem_reset, keys, newer, HASH, "")


def test_an_invitation_sets_no_password_of_a_member(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    invitation = db.write_blocking(
        invitations.invite, keys, actors.max, "eve@globex.test", "", Level.VIEWER, []
    )
    with pytest.raises(NotFound):
        db.write_blocking(password_recovery.redeem_reset, keys, invitation.token, HASH, "")


@pytest.mark.parametrize(("who", "whom"), [("max", "ada"), ("ada", "olga"), ("uma", "vic")])
def test_no_link_for_those_above(
    db: Database, keys: Keyring, actors: Actors, who: str, whom: str
) -> None:
    actor, target = getattr(actors, who), getattr(actors, whom)
    with pytest.raises(Forbidden):
        db.write_blocking(password_recovery.issue_link, keys, actor, target.member_id)


def test_no_link_for_members_of_others(db: Database, keys: Keyring, actors: Actors) -> None:
    with pytest.raises(NotFound):
        db.write_blocking(password_recovery.issue_link, keys, actors.eve, actors.vic.member_id)


def test_one_organization_does_not_set_the_password_of_another(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    """Eve has a reset link of a member of globex; when that person joins acme, the link becomes
    invalid, and Eve gets no new one."""
    db.write_blocking(
        member_changes.add_member,
        service.operator(actors.globex),
        "pat@globex.test",
        Level.USER,
        password_hash=HASH,
    )
    pat = db.write_blocking(find_account, "pat@globex.test")
    assert pat is not None
    member_id = next(
        item.member_id for item in db.write_blocking(sessions.list_memberships, pat.id)
    )
    _, text = db.write_blocking(password_recovery.issue_link, keys, actors.eve, member_id)
    invitation = db.write_blocking(
        invitations.invite, keys, actors.ada, "pat@globex.test", "", Level.ADMIN, []
    )
    db.write_blocking(invitations.accept, keys, invitation.token, HASH, None, "")
    with pytest.raises(NotFound):
        db.write_blocking(password_recovery.redeem_reset, keys, text, PASSWORD_HASH, "")
    with pytest.raises(Forbidden) as caught:
        db.write_blocking(password_recovery.issue_link, keys, actors.eve, member_id)
    assert caught.value.code == "belongs_elsewhere"
    assert hash_of(db, pat.id) == HASH


def test_a_link_created_while_the_membership_moves_is_invalid(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    """The rule is checked again when the link is used, because both may happen at the same time."""
    db.write_blocking(
        member_changes.add_member, service.operator(actors.acme), "eve@globex.test", Level.ADMIN
    )
    for made_by, works in ((actors.eve.user_id, False), ("operator", True)):
        _, token = db.write_blocking(
            one_time_links.create,
            keys,
            one_time_links.RESET,
            actors.eve.user_id,
            actors.globex.id,
            made_by,
            proof="operator" if works else "shown",
        )
        if works:
            db.write_blocking(password_recovery.redeem_reset, keys, token, HASH, "")
            continue
        with pytest.raises(NotFound):
            db.write_blocking(password_recovery.redeem_reset, keys, token, HASH, "")
        assert hash_of(db, actors.eve.user_id) == PASSWORD_HASH


def test_an_open_invitation_elsewhere_blocks_nothing(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    db.write_blocking(invitations.invite, keys, actors.eve, "vic@acme.test", "", Level.VIEWER, [])
    db.write_blocking(password_recovery.issue_link, keys, actors.max, actors.vic.member_id)


def test_a_member_changes_their_own_password(db: Database, keys: Keyring, actors: Actors) -> None:
    _, other = db.write_blocking(sessions.begin, keys, actors.vic.user_id, None, "", "phone")
    db.write_blocking(password_recovery.change_password, actors.vic, PASSWORD_HASH, HASH)
    assert hash_of(db, actors.vic.user_id) == HASH
    assert db.write_blocking(authenticate, keys, actors.tokens["vic"]) is not None
    assert db.write_blocking(authenticate, keys, other) is None


def test_a_password_that_changed_meanwhile_is_not_overwritten(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    db.write_blocking(set_password, "vic", HASH)
    with pytest.raises(Unauthenticated):
        db.write_blocking(
            password_recovery.change_password, actors.vic, PASSWORD_HASH, PASSWORD_HASH
        )
    assert hash_of(db, actors.vic.user_id) == HASH


def test_the_operator_can_reset_any_password(db: Database, keys: Keyring, actors: Actors) -> None:
    user, token = db.write_blocking(reset_password, keys, "OLGA@acme.test")
    assert user.id == actors.olga.user_id
    db.write_blocking(password_recovery.redeem_reset, keys, token, HASH, "")
    assert hash_of(db, actors.olga.user_id) == HASH
    db.write_blocking(set_password, "olga", PASSWORD_HASH)
    assert hash_of(db, actors.olga.user_id) == PASSWORD_HASH


def test_the_operator_is_told_that_an_account_is_unknown(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    with pytest.raises(NotFound):
        db.write_blocking(reset_password, keys, "nobody")
    db.write_blocking(member_changes.remove, actors.max, actors.vic.member_id)
    with pytest.raises(Conflict):
        db.write_blocking(set_password, "vic", HASH)


def test_managers_are_notified_of_a_forgotten_password(db: Database, actors: Actors) -> None:
    db.write_blocking(password_recovery.report_forgotten, "Vic@acme.test")
    db.write_blocking(password_recovery.report_forgotten, "nobody@acme.test")
    sent_events = [
        event
        for event in db.write_blocking(events.after, 0, 0)
        if event.kind == "member.recovery_asked"
    ]
    assert [event.object_id for event in sent_events] == [actors.vic.member_id]
