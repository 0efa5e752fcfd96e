"""Sessions: open, switch, list, end."""

import pytest

from belvedere.access import Actor, Keyring, Level, authenticate, purge_expired, touch
from belvedere.access.customers import member_changes, service
from belvedere.access.people import users
from belvedere.access.people.users import User
from belvedere.access.signin import login, sessions
from belvedere.base.clock import DAY, HOUR, SECOND
from belvedere.base.errors import Forbidden, NotFound, Unauthenticated
from belvedere.db import Database
from manual_clock import ManualClock
from people import Actors, list_audit_entries


def user(db: Database, actor: Actor) -> User:
    stored_user = db.write_blocking(users.find, actor.user_id)
    assert stored_user is not None
    return stored_user


def join_globex(db: Database, actors: Actors, email: str) -> None:
    db.write_blocking(
        member_changes.add_member, service.operator(actors.globex), email, Level.VIEWER
    )


def test_a_session_identifies_its_member(db: Database, keys: Keyring, actors: Actors) -> None:
    entered = db.write_blocking(
        login.sign_in, keys, user(db, actors.vic), None, None, "192.0.2.9", "Firefox"
    )
    assert entered.session is not None
    actor = db.write_blocking(authenticate, keys, entered.token)
    assert actor is not None
    assert (actor.kind, actor.member_id) == ("member", actors.vic.member_id)
    assert actor.credential_id == entered.session.id
    newest = db.write_blocking(list_audit_entries, actors.ada)[0]
    assert (newest.action, newest.address) == ("session.begin", "192.0.2.9")
    assert entered.token not in str(newest)


def test_an_outdated_hash_is_renewed(db: Database, keys: Keyring, actors: Actors) -> None:
    vic = user(db, actors.vic)
    db.write_blocking(login.sign_in, keys, vic, "renewed", None, "", "")
    assert user(db, actors.vic).password_hash == "renewed"


def test_a_password_that_changed_meanwhile_opens_no_session(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    vic = user(db, actors.vic)
    db.write_blocking(users.set_password, vic.id, "changed")
    with pytest.raises(Unauthenticated):
        db.write_blocking(login.sign_in, keys, vic, None, None, "", "")


def test_a_disabled_person_does_not_sign_in(db: Database, keys: Keyring, actors: Actors) -> None:
    vic = user(db, actors.vic)
    db.write_blocking(lambda tx: tx.execute("update users set enabled = 0 where id = ?", vic.id))
    with pytest.raises(Unauthenticated):
        db.write_blocking(login.sign_in, keys, vic, None, None, "", "")
    assert db.write_blocking(authenticate, keys, actors.tokens["vic"]) is None


@pytest.mark.parametrize("name", ["globex", "nowhere"])
def test_foreign_and_unknown_organizations_get_the_same_refusal(
    db: Database, keys: Keyring, actors: Actors, name: str
) -> None:
    with pytest.raises(Forbidden) as caught:
        db.write_blocking(login.sign_in, keys, user(db, actors.vic), None, name, "", "")
    assert caught.value.message == "You are not a member of this organization."


def test_without_a_name_it_is_the_organization_used_last(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    join_globex(db, actors, "vic@acme.test")
    vic = user(db, actors.vic)
    first = db.write_blocking(login.sign_in, keys, vic, None, None, "", "").session
    db.write_blocking(login.sign_in, keys, vic, None, "GLOBEX", "", "")
    then = db.write_blocking(login.sign_in, keys, vic, None, None, "", "").session
    assert first is not None and first.customer_id == actors.acme.id
    assert then is not None and then.customer_id == actors.globex.id


def test_a_session_ends_after_eight_idle_hours(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    clock.move(8 * HOUR / SECOND - 60)
    db.write_blocking(touch, [(actors.vic.credential_id, clock())])
    clock.move(8 * HOUR / SECOND - 60)
    assert db.write_blocking(authenticate, keys, actors.tokens["vic"]) is not None
    assert db.write_blocking(authenticate, keys, actors.tokens["uma"]) is None


def test_a_session_ends_after_seven_days_even_if_it_is_used(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    token = actors.tokens["vic"]
    for _ in range(7 * 4):
        assert db.write_blocking(authenticate, keys, token) is not None
        _, token = db.write_blocking(sessions.renew, keys, actors.vic)
        clock.move(6 * HOUR / SECOND)
    assert db.write_blocking(authenticate, keys, token) is None


def test_an_older_time_of_use_does_not_replace_a_newer_one(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    db.write_blocking(touch, [(actors.vic.credential_id, clock() + 5_000)])
    db.write_blocking(touch, [(actors.vic.credential_id, clock() + 1_000)])
    (session,) = db.write_blocking(sessions.list_active, actors.vic)
    assert session.used_at == clock() + 5_000


def test_a_refreshed_session_has_only_one_token(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    session, token = db.write_blocking(sessions.renew, keys, actors.vic)
    assert session.id == actors.vic.credential_id
    assert db.write_blocking(authenticate, keys, actors.tokens["vic"]) is None
    assert db.write_blocking(authenticate, keys, token) is not None


def test_a_member_switches_between_organizations(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    join_globex(db, actors, "uma@acme.test")
    _, token = db.write_blocking(sessions.renew, keys, actors.uma, actors.globex.id)
    actor = db.write_blocking(authenticate, keys, token)
    assert actor is not None
    assert (actor.customer_name, actor.level) == ("globex", Level.VIEWER)


def test_switching_to_an_organization_without_membership_is_refused(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    with pytest.raises(Forbidden):
        db.write_blocking(sessions.renew, keys, actors.vic, actors.globex.id)
    assert db.write_blocking(authenticate, keys, actors.tokens["vic"]) is not None


def test_only_the_own_sessions_are_listed(db: Database, keys: Keyring, actors: Actors) -> None:
    db.write_blocking(sessions.begin, keys, actors.vic.user_id, None, "192.0.2.9", "phone")
    actual_sessions = db.write_blocking(sessions.list_active, actors.vic)
    assert [item.agent for item in actual_sessions] == ["tests", "phone"]
    assert len(db.write_blocking(sessions.list_active, actors.uma)) == 1


def test_only_the_own_sessions_can_be_ended(db: Database, keys: Keyring, actors: Actors) -> None:
    with pytest.raises(NotFound):
        db.write_blocking(sessions.revoke, actors.uma, actors.vic.credential_id)
    assert db.write_blocking(authenticate, keys, actors.tokens["vic"]) is not None
    db.write_blocking(sessions.revoke, actors.vic, actors.vic.credential_id)
    assert db.write_blocking(authenticate, keys, actors.tokens["vic"]) is None
    with pytest.raises(NotFound):
        db.write_blocking(sessions.revoke, actors.vic, actors.vic.credential_id)
    with pytest.raises(NotFound):
        db.write_blocking(sessions.renew, keys, actors.vic)


def test_a_token_has_no_sessions(db: Database, keys: Keyring, actors: Actors) -> None:
    token = Actor(actors.acme.id, "acme", Level.ADMIN, "token", credential_id="x")
    with pytest.raises(Forbidden):
        db.write_blocking(sessions.list_active, token)
    with pytest.raises(Forbidden):
        db.write_blocking(sessions.renew, keys, token)


def test_expired_sessions_are_deleted_in_small_batches(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    clock.move(36 * DAY / SECOND)
    assert db.write_blocking(purge_expired) == 0
    clock.move(2 * DAY / SECOND)
    assert db.write_blocking(purge_expired, 4) == 4
    assert db.write_blocking(purge_expired, 4) == 2
    assert db.write_blocking(purge_expired, 4) == 0
