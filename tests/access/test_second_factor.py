"""Second factors: set-up, use, recovery codes, reset."""

import asyncio

import pytest

from access.authenticator import Authenticator, enable_second_factor
from belvedere import events
from belvedere.access import Actor, Keyring, Level, authenticate, operator
from belvedere.access.customers import (
    invitations,
    member_changes,
    password_recovery,
    second_factor_changes,
    service,
)
from belvedere.access.people import users
from belvedere.access.signin import login, login_tickets, recovery_codes, second_factors, sessions
from belvedere.access.signin.login import LoginResult
from belvedere.base.clock import MINUTE, SECOND
from belvedere.base.errors import Conflict, Forbidden, Refused, TooMany, Unauthenticated
from belvedere.db import Database
from manual_clock import ManualClock
from people import PASSWORD_HASH, Actors, list_audit_entries


def signed_in(db: Database, keys: Keyring, actor: Actor, place: str | None = None) -> LoginResult:
    user = db.write_blocking(users.find, actor.user_id)
    assert user is not None
    return db.write_blocking(login.sign_in, keys, user, None, place, "", "")


def exchange_ticket(db: Database, keys: Keyring, ticket: str, code: str) -> LoginResult | None:
    return db.write_blocking(login.exchange_ticket, keys, ticket, code, "192.0.2.9", "phone")


def test_a_confirmed_second_factor_is_requested_at_sign_in(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    app = Authenticator(db.write_blocking(second_factor_changes.begin, keys, actors.vic), clock)
    assert signed_in(db, keys, actors.vic).session is not None
    codes = db.write_blocking(second_factor_changes.confirm, keys, actors.vic, app.code())
    assert codes is not None and len(set(codes)) == 10
    login_result = signed_in(db, keys, actors.vic)
    assert (login_result.session, login_result.token, login_result.asks) == (None, "", "totp")
    done = exchange_ticket(db, keys, login_result.ticket, app.code())
    assert done is not None and done.session is not None
    assert done.session.method == "totp"
    actor = db.write_blocking(authenticate, keys, done.token)
    assert actor is not None and actor.member_id == actors.vic.member_id
    newest = db.write_blocking(list_audit_entries, actors.ada)[0]
    assert (newest.action, newest.address) == ("session.begin", "192.0.2.9")
    assert '"method":"totp"' in str(newest.after)
    kinds = [event.kind for event in db.write_blocking(events.after, 0, 0)]
    assert kinds[-2:] == ["member.second_factor_on", "member.new_sign_in"]


def test_setting_it_up_ends_the_other_sessions(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    other = signed_in(db, keys, actors.vic)
    app = Authenticator(db.write_blocking(second_factor_changes.begin, keys, actors.vic), clock)
    db.write_blocking(second_factor_changes.confirm, keys, actors.vic, app.code())
    assert db.write_blocking(authenticate, keys, other.token) is None
    assert db.write_blocking(authenticate, keys, actors.tokens["vic"]) is not None


def test_a_secret_is_sealed_and_codes_are_hashed(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    app, codes = enable_second_factor(db, keys, clock, actors.vic)
    text = str(db.write_blocking(lambda tx: tx.rows("select box from second_factors")))
    text += str(db.write_blocking(lambda tx: tx.rows("select digest from recovery_codes")))
    assert app.secret not in text
    assert not [code for code in codes if code in text or code.replace("-", "") in text]


def test_a_code_counts_once(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    app, _ = enable_second_factor(db, keys, clock, actors.vic)
    code = app.code()
    assert exchange_ticket(db, keys, signed_in(db, keys, actors.vic).ticket, code) is not None
    assert exchange_ticket(db, keys, signed_in(db, keys, actors.vic).ticket, code) is None
    assert exchange_ticket(db, keys, signed_in(db, keys, actors.vic).ticket, app.code()) is not None


def test_the_code_that_confirmed_it_does_not_sign_in(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    app, _ = enable_second_factor(db, keys, clock, actors.vic)
    assert exchange_ticket(db, keys, signed_in(db, keys, actors.vic).ticket, app.now()) is None


async def test_one_of_many_concurrent_uses_of_a_code_succeeds(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    app, codes = enable_second_factor(db, keys, clock, actors.vic)
    for code in (app.code(), codes[0]):
        tickets = [signed_in(db, keys, actors.vic).ticket for _ in range(6)]
        login_results = await asyncio.gather(
            *(db.write(login.exchange_ticket, keys, ticket, code, "", "") for ticket in tickets)
        )
        assert sum(item is not None for item in login_results) == 1


async def test_a_ticket_is_used_by_one_caller_only(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    _, codes = enable_second_factor(db, keys, clock, actors.vic)
    ticket = signed_in(db, keys, actors.vic).ticket
    login_results = await asyncio.gather(
        *(db.write(login.exchange_ticket, keys, ticket, code, "", "") for code in codes[:4]),
        return_exceptions=True,
    )
    assert sum(isinstance(item, LoginResult) for item in login_results) == 1
    assert sum(isinstance(item, Unauthenticated) for item in login_results) == 3


@pytest.mark.parametrize("spelt", [str, str.upper, lambda code: code.replace("-", " ")])
def test_a_recovery_code_works_once_however_it_is_typed(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock, spelt: type[str]
) -> None:
    _, codes = enable_second_factor(db, keys, clock, actors.vic)
    done = exchange_ticket(db, keys, signed_in(db, keys, actors.vic).ticket, spelt(codes[3]))
    assert done is not None and done.session is not None and done.session.method == "recovery"
    assert db.write_blocking(recovery_codes.count, actors.vic.user_id) == 9
    assert exchange_ticket(db, keys, signed_in(db, keys, actors.vic).ticket, codes[3]) is None


def test_a_recovery_code_of_another_person_is_refused(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    _, theirs = enable_second_factor(db, keys, clock, actors.uma)
    enable_second_factor(db, keys, clock, actors.vic)
    assert exchange_ticket(db, keys, signed_in(db, keys, actors.vic).ticket, theirs[0]) is None
    assert db.write_blocking(recovery_codes.count, actors.uma.user_id) == 10


def test_new_recovery_codes_invalidate_the_old_ones(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    _, old = enable_second_factor(db, keys, clock, actors.vic)
    new = db.write_blocking(second_factor_changes.renew_codes, keys, actors.vic)
    assert exchange_ticket(db, keys, signed_in(db, keys, actors.vic).ticket, old[0]) is None
    assert exchange_ticket(db, keys, signed_in(db, keys, actors.vic).ticket, new[0]) is not None


def test_a_ticket_has_five_tries_and_five_minutes(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    app, _ = enable_second_factor(db, keys, clock, actors.vic)
    ticket = signed_in(db, keys, actors.vic).ticket
    for _ in range(login_tickets.TRIES):
        assert exchange_ticket(db, keys, ticket, app.wrong()) is None
    with pytest.raises(Unauthenticated, match="password again"):
        exchange_ticket(db, keys, ticket, app.code())
    late = signed_in(db, keys, actors.vic).ticket
    clock.move(login_tickets.LIFE / SECOND)
    with pytest.raises(Unauthenticated):
        exchange_ticket(db, keys, late, app.code())


def test_a_person_has_ten_attempts_across_all_tickets(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    app, codes = enable_second_factor(db, keys, clock, actors.vic)
    for _ in range(second_factors.WRONG_CODES):
        assert (
            exchange_ticket(db, keys, signed_in(db, keys, actors.vic).ticket, app.wrong()) is None
        )
    for code in (app.code(), codes[0]):
        with pytest.raises(TooMany) as caught:
            exchange_ticket(db, keys, signed_in(db, keys, actors.vic).ticket, code)
        assert 0 < caught.value.retry_after_s <= 15 * 60
    clock.move(15 * MINUTE / SECOND)
    assert exchange_ticket(db, keys, signed_in(db, keys, actors.vic).ticket, app.code()) is not None


def test_a_valid_code_resets_the_count_of_invalid_ones(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    app, _ = enable_second_factor(db, keys, clock, actors.vic)
    for _ in range(4):
        for _ in range(second_factors.WRONG_CODES - 1):
            exchange_ticket(db, keys, signed_in(db, keys, actors.vic).ticket, app.wrong())
        assert (
            exchange_ticket(db, keys, signed_in(db, keys, actors.vic).ticket, app.code())
            is not None
        )


@pytest.mark.parametrize("ticket", ["", "bvf_", "bvf_" + "x" * 43, "bvs_" + "x" * 43, "x\0"])
def test_an_invalid_ticket_is_refused(
    db: Database, keys: Keyring, actors: Actors, ticket: str
) -> None:
    with pytest.raises(Unauthenticated):
        exchange_ticket(db, keys, ticket, "000000")


def test_a_ticket_is_no_credential(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    enable_second_factor(db, keys, clock, actors.vic)
    assert db.write_blocking(authenticate, keys, signed_in(db, keys, actors.vic).ticket) is None


def test_a_new_password_voids_the_ticket(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    app, _ = enable_second_factor(db, keys, clock, actors.vic)
    ticket = signed_in(db, keys, actors.vic).ticket
    db.write_blocking(password_recovery.set_password, "vic", PASSWORD_HASH)
    with pytest.raises(Unauthenticated):
        exchange_ticket(db, keys, ticket, app.code())
    assert signed_in(db, keys, actors.vic).asks == "totp"


def test_a_second_one_cannot_be_set_up_over_the_first(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    enable_second_factor(db, keys, clock, actors.vic)
    with pytest.raises(Conflict) as caught:
        db.write_blocking(second_factor_changes.begin, keys, actors.vic)
    assert caught.value.code == "second_factor_on"
    with pytest.raises(Conflict):
        db.write_blocking(second_factor_changes.confirm, keys, actors.vic, "000000")


def test_disabled_the_password_alone_signs_in(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    enable_second_factor(db, keys, clock, actors.vic)
    db.write_blocking(second_factor_changes.disable, actors.vic)
    assert signed_in(db, keys, actors.vic).session is not None
    assert db.write_blocking(recovery_codes.count, actors.vic.user_id) == 0
    for verb in (
        second_factor_changes.disable,
        lambda tx, who: second_factor_changes.renew_codes(tx, keys, who),
    ):
        with pytest.raises(Conflict):
            db.write_blocking(verb, actors.vic)


def test_an_admin_resets_the_second_factor(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    enable_second_factor(db, keys, clock, actors.vic)
    member = db.write_blocking(second_factor_changes.reset, actors.ada, actors.vic.member_id)
    assert not member.has_second_factor
    assert db.write_blocking(authenticate, keys, actors.tokens["vic"]) is None
    assert signed_in(db, keys, actors.vic).session is not None
    actions = [row.action for row in db.write_blocking(list_audit_entries, actors.ada)]
    assert "member.reset_second_factor" in actions
    with pytest.raises(Conflict):
        db.write_blocking(second_factor_changes.reset, actors.ada, actors.vic.member_id)


def test_resetting_needs_an_admin_of_a_higher_level(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    enable_second_factor(db, keys, clock, actors.olga)
    enable_second_factor(db, keys, clock, actors.vic)
    for who, whom in ((actors.ada, actors.olga), (actors.max, actors.vic)):
        with pytest.raises(Forbidden):
            db.write_blocking(second_factor_changes.reset, who, whom.member_id)


def test_an_admin_of_one_organization_cannot_reset_a_shared_account(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    enable_second_factor(db, keys, clock, actors.vic)
    db.write_blocking(
        member_changes.add_member, operator(actors.globex), "vic@acme.test", Level.VIEWER
    )
    with pytest.raises(Forbidden) as caught:
        db.write_blocking(second_factor_changes.reset, actors.ada, actors.vic.member_id)
    assert caught.value.code == "belongs_elsewhere"
    assert (
        db.write_blocking(second_factor_changes.reset_by_operator, "vic").email == "vic@acme.test"
    )
    assert signed_in(db, keys, actors.vic).session is not None


def test_an_invitation_does_not_bypass_the_second_factor(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    app, _ = enable_second_factor(db, keys, clock, actors.vic)
    invitation = db.write_blocking(
        invitations.invite, keys, actors.eve, "vic@acme.test", "", Level.VIEWER, []
    )
    login_result = db.write_blocking(
        invitations.accept, keys, invitation.token, PASSWORD_HASH, None, ""
    )
    assert (login_result.session, login_result.asks) == (None, "totp")
    done = exchange_ticket(db, keys, login_result.ticket, app.code())
    assert done is not None and done.session is not None
    assert done.session.customer_id == actors.globex.id


def require_for_level(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock, level: str
) -> None:
    enable_second_factor(db, keys, clock, actors.olga)
    db.write_blocking(service.require_second_factor, actors.olga, level)


def test_an_organization_can_require_it(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    require_for_level(db, keys, actors, clock, "manager")
    alone = {
        name: db.write_blocking(authenticate, keys, actors.tokens[name]) for name in actors.tokens
    }
    # Olga's earlier session was also started with the password alone.
    assert {name for name, actor in alone.items() if actor is None} == {"olga", "ada", "max"}
    assert signed_in(db, keys, actors.uma).session is not None
    login_result = signed_in(db, keys, actors.max)
    assert (login_result.session, login_result.asks) == (None, "setup")
    _, secret = db.write_blocking(login.set_up_second_factor, keys, login_result.ticket)
    app = Authenticator(secret, clock)
    assert exchange_ticket(db, keys, login_result.ticket, app.wrong()) is None
    done = exchange_ticket(db, keys, login_result.ticket, app.code())
    assert done is not None and len(done.recovery_codes) == 10
    actor = db.write_blocking(authenticate, keys, done.token)
    assert actor is not None and actor.member_id == actors.max.member_id
    with pytest.raises(Conflict) as caught:
        db.write_blocking(second_factor_changes.disable, actor)
    assert caught.value.code == "second_factor_required"


def test_the_ticket_of_a_code_sets_nothing_up(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    enable_second_factor(db, keys, clock, actors.vic)
    with pytest.raises(Unauthenticated):
        db.write_blocking(login.set_up_second_factor, keys, signed_in(db, keys, actors.vic).ticket)


def test_requiring_a_second_factor_needs_a_second_factor(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    with pytest.raises(Conflict) as caught:
        db.write_blocking(service.require_second_factor, actors.olga, "owner")
    assert caught.value.code == "second_factor_off"
    with pytest.raises(Refused):
        db.write_blocking(service.require_second_factor, actors.ada, "")
    with pytest.raises(Refused):
        db.write_blocking(service.require_second_factor, actors.olga, "anonymous")


def test_switching_to_the_organization_needs_the_second_factor(
    db: Database, keys: Keyring, actors: Actors, clock: ManualClock
) -> None:
    require_for_level(db, keys, actors, clock, "viewer")
    db.write_blocking(
        member_changes.add_member, operator(actors.globex), "vic@acme.test", Level.VIEWER
    )
    there = signed_in(db, keys, actors.vic, "globex")
    actor = db.write_blocking(authenticate, keys, there.token)
    assert actor is not None
    with pytest.raises(Forbidden) as caught:
        db.write_blocking(sessions.renew, keys, actor, actors.acme.id)
    assert caught.value.code == "second_factor_required"
