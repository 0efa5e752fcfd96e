"""The rows of the event log: what is appended, and what is left after a deletion."""

import pytest

from belvedere import events
from belvedere.base.clock import SECOND
from belvedere.db import Database, Tx
from belvedere.events import budget, cursors
from belvedere.jobs.history import retention
from event_rows import for_object
from manual_clock import ManualClock


def append_event(tx: Tx, object_id: str) -> int:
    events.append(tx, "c1", "host.created", object_id, {"hostname": object_id})
    return int(tx.value("select max(id) from events"))


def list_objects(tx: Tx) -> list[str]:
    rows = tx.rows("select object_id from events where customer_id = 'c1' order by id")
    return [object_id for (object_id,) in rows]


def test_events_are_appended_in_order(db: Database) -> None:
    first, second = db.write_blocking(append_event, "h1"), db.write_blocking(append_event, "h2")
    assert second == first + 1
    [event] = db.write_blocking(for_object, "h1")
    assert (event.id, event.kind, event.data) == (first, "host.created", '{"hostname":"h1"}')


def purge(db: Database, *consumers: str) -> None:
    """Delete everything that is old, as the server does it."""
    db.write_blocking(budget.count_step)
    while db.write_blocking(retention.purge_old_events, consumers):
        pass


@pytest.mark.parametrize("gone", ["object_id = 'h3'", "object_id > 'h1'", "id > 0", "at > 0"])
def test_no_id_comes_twice_whatever_is_deleted(db: Database, gone: str) -> None:
    """A reader continues after the last event that it has seen: the next one must have a higher
    number."""
    actual_events = [db.write_blocking(append_event, name) for name in ("h1", "h2", "h3")]
    cursor = db.write_blocking(events.newest)
    assert cursor[1] == actual_events[-1]
    for _ in range(2):
        db.write_blocking(lambda tx: tx.execute(f"delete from events where {gone}"))
    assert db.write_blocking(append_event, "h4") > actual_events[-1]
    assert [event.object_id for event in db.write_blocking(events.after, *cursor)] == ["h4"]


def test_a_deleted_event_leaves_no_data(db: Database) -> None:
    for name in ("h1", "h2"):
        db.write_blocking(append_event, name)
    db.write_blocking(lambda tx: tx.execute("delete from events"))
    assert db.write_blocking(list_objects) == []
    remaining = db.write_blocking(
        lambda tx: tx.rows("select kind, object, object_id, data from events")
    )
    assert remaining in ([], [("", "", "", "{}")])


def test_forgetting_has_an_end_and_spares_none_but_the_newest(
    db: Database, clock: ManualClock
) -> None:
    for name in ("h1", "h2", "h3"):
        newest = db.write_blocking(append_event, name)
    clock.move(events.LIFE / SECOND + 1)
    db.write_blocking(_read_all, "reader")
    purge(db, "reader")
    assert db.write_blocking(list_objects) == []
    assert db.write_blocking(append_event, "h4") == newest + 1
    db.write_blocking(_read_all, "reader")
    purge(db, "reader")
    ids = db.write_blocking(lambda tx: tx.rows("select id from events"))
    assert ids == [(newest + 1,)]


def _read_all(tx: Tx, consumer: str) -> None:
    for event in cursors.take(tx, consumer, frozenset({"host.created"})):
        cursors.move(tx, consumer, event)


def test_an_event_that_a_consumer_has_not_processed_is_kept(
    db: Database, clock: ManualClock
) -> None:
    db.write_blocking(append_event, "h1")
    for consumer in ("quick", "slow"):
        db.write_blocking(_read_all, consumer)
    for name in ("h2", "h3"):
        db.write_blocking(append_event, name)
    db.write_blocking(_read_all, "quick")
    clock.move(events.LIFE / SECOND + 1)
    purge(db, "quick", "slow")
    assert db.write_blocking(list_objects) == ["h2", "h3"]


def test_a_consumer_that_never_ran_keeps_everything(db: Database, clock: ManualClock) -> None:
    db.write_blocking(append_event, "h1")
    db.write_blocking(_read_all, "quick")
    clock.move(events.LIFE / SECOND + 1)
    purge(db, "quick", "new")
    assert db.write_blocking(list_objects) == ["h1"]
