"""Connections, heartbeats and timeouts."""

import psycopg
import pytest

import run_timeouts
from belvedere.base.errors import Conflict, NotFound
from belvedere.db import Database, Tx
from belvedere.db.postgres.database import Postgres
from belvedere.hosts import (
    connect,
    delete,
    doubt_journal,
    end_session,
    note_accepted,
    record_heartbeats,
    restored,
    silent_ids,
)
from belvedere.hosts.model import HostRow
from belvedere.hosts.service import HostChange, change, show
from belvedere.protocol import Hello
from event_rows import for_object
from manual_clock import ManualClock
from people import ADDRESS, Actors

from .conftest import Enrol, hello

SILENT = 30_000


def doubtful_until(tx: Tx, host_id: str, current_hello: Hello) -> int:
    return restored.doubtful_until(restored.last_hello(tx, host_id), current_hello, tx.now)


def host(db: Database, actors: Actors, host_id: str) -> HostRow:
    return db.write_blocking(show, actors.vic, host_id)


def kinds(db: Database, host_id: str) -> list[str]:
    return [event.kind for event in db.write_blocking(for_object, host_id)]


def test_a_connected_host_is_online(
    db: Database, actors: Actors, clock: ManualClock, enrol_host: Enrol
) -> None:
    host_id = enrol_host().host_id
    session = db.write_blocking(connect, host_id, hello(), ADDRESS)
    stored_host = host(db, actors, host_id)
    assert (stored_host.state, stored_host.session, stored_host.slots) == ("online", session, 16)
    assert (stored_host.os_name, stored_host.ip, stored_host.agent_version) == (
        "Linux",
        "192.0.2.7",
        "0.1.0",
    )
    clock.move(10)
    assert db.write_blocking(record_heartbeats, [(host_id, session, clock.now)]) == []
    assert host(db, actors, host_id).seen_at == clock.now
    db.write_blocking(end_session, host_id, session)
    assert host(db, actors, host_id).state == "offline"
    assert kinds(db, host_id) == ["host.created", "host.connected", "host.disconnected"]


def test_each_connection_gets_a_larger_session(db: Database, enrol_host: Enrol) -> None:
    host_id = enrol_host().host_id
    first = db.write_blocking(connect, host_id, hello(), ADDRESS)
    assert db.write_blocking(connect, host_id, hello(), ADDRESS) > first


def test_heartbeats_of_an_old_session_are_ignored(
    db: Database, actors: Actors, clock: ManualClock, enrol_host: Enrol
) -> None:
    host_id = enrol_host().host_id
    old = db.write_blocking(connect, host_id, hello(), ADDRESS)
    new = db.write_blocking(connect, host_id, hello(), ADDRESS)
    db.write_blocking(end_session, host_id, old)
    assert host(db, actors, host_id).state == "online"
    before = host(db, actors, host_id).seen_at
    clock.move(5)
    assert db.write_blocking(record_heartbeats, [(host_id, old, clock.now)]) == [(host_id, old)]
    assert host(db, actors, host_id).seen_at == before
    both = [(host_id, new, clock.now), (host_id, old, clock.now)]
    assert db.write_blocking(record_heartbeats, both) == [(host_id, old)]


def test_silence_is_marked_once_and_cleared_by_the_next_message(
    db: Database, actors: Actors, clock: ManualClock, enrol_host: Enrol
) -> None:
    host_id = enrol_host().host_id
    session = db.write_blocking(connect, host_id, hello(), ADDRESS)
    clock.move(30)
    assert not db.write_blocking(silent_ids, SILENT)
    assert run_timeouts.mark_silent(db) == []
    clock.move(1)
    assert db.write_blocking(silent_ids, SILENT)
    assert run_timeouts.mark_silent(db) == [host_id]
    assert run_timeouts.mark_silent(db) == []
    assert not db.write_blocking(silent_ids, SILENT)
    assert host(db, actors, host_id).state == "unreachable"
    db.write_blocking(record_heartbeats, [(host_id, session, clock.now)])
    assert host(db, actors, host_id).state == "online"
    assert kinds(db, host_id)[-2:] == ["host.unreachable", "host.reachable"]


def test_a_new_connection_lifts_the_silence_too(
    db: Database, actors: Actors, clock: ManualClock, enrol_host: Enrol
) -> None:
    host_id = enrol_host().host_id
    db.write_blocking(connect, host_id, hello(), ADDRESS)
    clock.move(60)
    run_timeouts.mark_silent(db)
    db.write_blocking(connect, host_id, hello(), ADDRESS)
    assert host(db, actors, host_id).gone_at is None


def test_a_host_that_never_connected_is_not_silent(
    db: Database, clock: ManualClock, enrol_host: Enrol
) -> None:
    enrol_host()
    clock.move(3_600)
    assert run_timeouts.mark_silent(db) == []


def test_two_machines_with_one_credential_are_detected(
    db: Database, clock: ManualClock, enrol_host: Enrol
) -> None:
    host_id = enrol_host().host_id
    db.write_blocking(connect, host_id, hello("machine-1"), ADDRESS)
    with pytest.raises(Conflict) as refusal:
        db.write_blocking(connect, host_id, hello("machine-2"), ADDRESS)
    assert refusal.value.code == "host_held"
    clock.move(60)
    run_timeouts.mark_silent(db)
    db.write_blocking(connect, host_id, hello("machine-2"), ADDRESS)


def test_a_deleted_host_cannot_connect_nor_beat(
    db: Database, actors: Actors, clock: ManualClock, enrol_host: Enrol
) -> None:
    host_id = enrol_host().host_id
    session = db.write_blocking(connect, host_id, hello(), ADDRESS)
    db.write_blocking(delete, actors.ada, host_id)
    assert db.write_blocking(record_heartbeats, [(host_id, session, clock.now)]) == [
        (host_id, session)
    ]
    with pytest.raises(NotFound):
        db.write_blocking(connect, host_id, hello(), ADDRESS)
    clock.move(60)
    assert run_timeouts.mark_silent(db) == []


def test_a_disabled_or_draining_host_says_so(
    db: Database, actors: Actors, enrol_host: Enrol
) -> None:
    host_id = enrol_host().host_id
    db.write_blocking(connect, host_id, hello(), ADDRESS)
    db.write_blocking(change, actors.ada, host_id, HostChange(draining=True))
    assert host(db, actors, host_id).state == "draining"
    db.write_blocking(change, actors.ada, host_id, HostChange(enable=False))
    assert host(db, actors, host_id).state == "disabled"


def test_text_from_an_agent_is_cleaned(db: Database, actors: Actors, enrol_host: Enrol) -> None:
    host_id = enrol_host().host_id
    odd = hello(
        os_name="a\0b\ud800", os_version="x" * 9_000, slots=10**9, ip="", info={"a": "\0" * 70_000}
    )
    db.write_blocking(connect, host_id, odd, ADDRESS)
    stored_host = host(db, actors, host_id)
    assert "\0" not in stored_host.os_name
    assert (len(stored_host.os_version), stored_host.slots, stored_host.ip, stored_host.info) == (
        256,
        1_000,
        ADDRESS,
        "{}",
    )


def test_a_hello_that_was_overtaken_by_a_later_one_does_not_count(
    db: Database, enrol_host: Enrol
) -> None:
    """It does not know what its agent has accepted since, so it would prove too much."""
    host_id = enrol_host().host_id
    later = db.write_blocking(connect, host_id, hello(greeting=7), ADDRESS)
    for number in (6, 7):
        with pytest.raises(Conflict) as refusal:
            db.write_blocking(connect, host_id, hello(greeting=number), ADDRESS)
        assert refusal.value.code == "stale_hello"
    assert db.write_blocking(connect, host_id, hello(greeting=8), ADDRESS) == later + 1


def test_another_journal_counts_its_own_hellos(db: Database, enrol_host: Enrol) -> None:
    host_id = enrol_host().host_id
    first = db.write_blocking(connect, host_id, hello(greeting=7), ADDRESS)
    again = db.write_blocking(connect, host_id, hello(greeting=1, journal_id="other"), ADDRESS)
    assert again == first + 1


def test_a_journal_that_knows_less_than_it_accepted_is_in_doubt(
    db: Database, clock: ManualClock, enrol_host: Enrol
) -> None:
    host_id = enrol_host().host_id
    session = db.write_blocking(connect, host_id, hello(greeting=1, highest=10), ADDRESS)
    db.write_blocking(note_accepted, [(host_id, session, 12)])
    for highest, until in ((12, 0), (13, 0), (11, clock.now)):
        later = hello(greeting=2, highest=highest)
        assert db.write_blocking(doubtful_until, host_id, later) == until, highest
    earlier = hello(greeting=2, info={"highest_fence": 12})
    assert db.write_blocking(doubtful_until, host_id, earlier) == 0
    other = hello(greeting=2, journal_id="other")
    assert db.write_blocking(doubtful_until, host_id, other) == 0
    # What it accepts from now on is checked with this journal again.
    db.write_blocking(connect, host_id, hello(greeting=2, highest=11), ADDRESS)
    assert db.write_blocking(doubtful_until, host_id, hello(greeting=3, highest=11)) == 0


def test_an_older_session_proves_no_acceptance(db: Database, enrol_host: Enrol) -> None:
    host_id = enrol_host().host_id
    old = db.write_blocking(connect, host_id, hello(greeting=1), ADDRESS)
    db.write_blocking(connect, host_id, hello(greeting=2), ADDRESS)
    db.write_blocking(note_accepted, [(host_id, old, 12)])
    assert db.write_blocking(doubtful_until, host_id, hello(greeting=3)) == 0


def test_retries_do_not_lift_the_doubt_of_a_stale_hello(
    db: Database, clock: ManualClock, enrol_host: Enrol
) -> None:
    host_id = enrol_host().host_id
    db.write_blocking(connect, host_id, hello(greeting=7), ADDRESS)
    db.write_blocking(doubt_journal, host_id, "journal-1")
    doubted_at = clock.now
    clock.move(60)
    assert db.write_blocking(doubtful_until, host_id, hello(greeting=8)) == doubted_at
    db.write_blocking(connect, host_id, hello(greeting=8), ADDRESS)
    assert db.write_blocking(doubtful_until, host_id, hello(greeting=9)) == 0


def test_a_number_that_a_full_disk_forgot_is_no_rollback(db: Database, enrol_host: Enrol) -> None:
    host_id = enrol_host().host_id

    def send_hello(number: int, *, is_saved: bool = True, highest: int = 9) -> int:
        actual_hello = hello(greeting=number, is_saved=is_saved, highest=highest)
        doubt = db.write_blocking(doubtful_until, host_id, actual_hello)
        db.write_blocking(connect, host_id, actual_hello, ADDRESS)
        return doubt

    send_hello(5)
    send_hello(6, is_saved=False, highest=12)
    send_hello(7, is_saved=False, highest=12)
    with pytest.raises(Conflict):
        # It is overtaken by its successor.
        send_hello(6, is_saved=False)
    # After a reboot: neither the number nor the fence was durable.
    assert send_hello(6) == 0
    with pytest.raises(Conflict):
        send_hello(6)
    send_hello(8)
    with pytest.raises(Conflict):
        # A disk that was restored from a snapshot.
        send_hello(7)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)  # SQLite has one writer.
def test_no_restore_is_noticed_between_the_record_and_the_hello(
    db: Postgres, enrol_host: Enrol
) -> None:
    host_id = enrol_host().host_id

    def read(tx: Tx) -> None:
        restored.last_hello(tx, host_id)
        with db.connect() as other, pytest.raises(psycopg.errors.LockNotAvailable):
            other.execute("select 1 from hosts where id = %s for update nowait", (host_id,))

    db.write_blocking(read)
