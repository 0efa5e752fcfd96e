"""From an enrolment token to an agent's own credential."""

import pytest

import run_timeouts
from belvedere.access import Level
from belvedere.access.credentials.enrolment import create_enrolment
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.signin.authentication import authenticate
from belvedere.base.errors import Conflict, Invalid, Unauthenticated
from belvedere.db import Database, Tx
from belvedere.hosts import connect, delete, end_session, enrol, store
from belvedere.hosts.service import create_host_enrolment, show
from event_rows import for_object
from manual_clock import ManualClock
from people import ADDRESS, Actors

from .conftest import Enrol, hello


def test_a_machine_becomes_a_host(
    db: Database, keys: Keyring, actors: Actors, enrol_host: Enrol
) -> None:
    enrolment = enrol_host("web-1")
    assert (enrolment.hostname, enrolment.customer) == ("web-1", "acme")
    actor = db.write_blocking(authenticate, keys, enrolment.token)
    assert actor is not None
    assert (actor.level, actor.host_id) == (Level.AGENT, enrolment.host_id)
    host = db.write_blocking(show, actors.vic, enrolment.host_id)
    assert (host.hostname, host.state, host.ip) == ("web-1", "offline", ADDRESS)


def test_enrolling_writes_an_event_and_an_audit_entry(db: Database, enrol_host: Enrol) -> None:
    enrolment = enrol_host()
    kinds = [event.kind for event in db.write_blocking(for_object, enrolment.host_id)]
    assert kinds == ["host.created"]
    rows = db.write_blocking(_audit, enrolment.host_id)
    assert rows == [("host.create", ADDRESS, "agent")]


def _audit(tx: Tx, host_id: str) -> list[tuple[str, ...]]:
    return tx.rows(
        "select action, address, actor_kind from audit where object_id = ? order by id", host_id
    )


def test_the_same_machine_enrols_again_after_its_agent_stopped(
    db: Database, keys: Keyring, actors: Actors, enrol_host: Enrol, enrolled_again: Enrol
) -> None:
    first = enrol_host()
    session = db.write_blocking(connect, first.host_id, hello(), ADDRESS)
    db.write_blocking(end_session, first.host_id, session)
    again = enrolled_again(first.host_id)
    assert again.host_id == first.host_id
    assert db.write_blocking(authenticate, keys, first.token) is None
    assert db.write_blocking(authenticate, keys, again.token) is not None
    assert db.write_blocking(show, actors.ada, first.host_id).session > session


@pytest.mark.parametrize("is_for_the_host", [False, True])
def test_a_connected_agent_keeps_its_host_on_the_same_machine(
    db: Database, keys: Keyring, actors: Actors, enrol_host: Enrol, is_for_the_host: bool
) -> None:
    """The machine of `belvedere up` has an agent already; a second one has the same machine id."""
    first = enrol_host()
    db.write_blocking(connect, first.host_id, hello(), ADDRESS)
    if is_for_the_host:
        _, text = db.write_blocking(create_host_enrolment, keys, actors.ada, first.host_id)
    else:
        _, text = db.write_blocking(create_enrolment, keys, actors.ada)
    with pytest.raises(Conflict) as refusal:
        db.write_blocking(enrol, keys, text, "web-1", "machine-1", ADDRESS)
    assert refusal.value.code == "host_held"
    assert "--hostname web-1-2" in refusal.value.message
    assert "belvedere enrolment create --host web-1" in refusal.value.message
    assert db.write_blocking(authenticate, keys, first.token) is not None


def test_a_name_that_a_live_agent_holds_is_refused(
    db: Database, keys: Keyring, actors: Actors, enrol_host: Enrol
) -> None:
    first = enrol_host()
    db.write_blocking(connect, first.host_id, hello(), ADDRESS)
    _, text = db.write_blocking(create_enrolment, keys, actors.ada)
    with pytest.raises(Conflict) as refusal:
        db.write_blocking(enrol, keys, text, "web-1", "machine-2", ADDRESS)
    assert refusal.value.code == "host_held"
    assert db.write_blocking(authenticate, keys, first.token) is not None
    # The refusal has not used up the token.
    db.write_blocking(enrol, keys, text, "web-2", "machine-2", ADDRESS)


def test_another_machine_takes_an_unused_name(
    db: Database, clock: ManualClock, enrol_host: Enrol, enrolled_again: Enrol
) -> None:
    first = enrol_host()
    session = db.write_blocking(connect, first.host_id, hello(), ADDRESS)
    db.write_blocking(end_session, first.host_id, session)
    assert enrolled_again(first.host_id, "machine-2").host_id == first.host_id
    db.write_blocking(connect, first.host_id, hello("machine-2"), ADDRESS)
    clock.move(60)
    run_timeouts.mark_silent(db)
    assert enrolled_again(first.host_id, "machine-3").host_id == first.host_id


def test_a_deleted_host_returns_as_a_new_host(
    db: Database, actors: Actors, enrol_host: Enrol
) -> None:
    first = enrol_host()
    db.write_blocking(delete, actors.ada, first.host_id)
    assert enrol_host().host_id != first.host_id


def test_the_organization_is_the_token_s(
    db: Database, keys: Keyring, actors: Actors, enrol_host: Enrol
) -> None:
    enrol_host("web-1")
    _, text = db.write_blocking(create_enrolment, keys, actors.eve)
    enrolment = db.write_blocking(enrol, keys, text, "web-1", "machine-1", ADDRESS)
    assert enrolment.customer == "globex"
    assert db.write_blocking(store.find_by_name, actors.globex.id, "web-1") is not None


def test_an_invalid_token_gives_no_access(db: Database, keys: Keyring, actors: Actors) -> None:
    with pytest.raises(Unauthenticated):
        db.write_blocking(enrol, keys, "bve_guess", "web-1", "machine-1", ADDRESS)
    _, text = db.write_blocking(create_enrolment, keys, actors.ada)
    db.write_blocking(enrol, keys, text, "web-1", "machine-1", ADDRESS)
    with pytest.raises(Unauthenticated):
        db.write_blocking(enrol, keys, text, "web-2", "machine-2", ADDRESS)


@pytest.mark.parametrize("name", ["", "a/b", "-x", "a b", "é", "x" * 254, "a\0"])
def test_a_bad_name_is_refused(db: Database, keys: Keyring, actors: Actors, name: str) -> None:
    _, text = db.write_blocking(create_enrolment, keys, actors.ada)
    with pytest.raises(Invalid) as refusal:
        db.write_blocking(enrol, keys, text, name, "machine-1", ADDRESS)
    assert refusal.value.faults[0].field == "hostname"


def test_an_enrolment_without_a_fingerprint_is_refused(
    db: Database, keys: Keyring, actors: Actors
) -> None:
    _, text = db.write_blocking(create_enrolment, keys, actors.ada)
    with pytest.raises(Invalid):
        db.write_blocking(enrol, keys, text, "web-1", " ", ADDRESS)
