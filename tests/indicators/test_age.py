"""Indicators over time: stale values, and a history that is reduced."""

import pytest

from belvedere.access import acl_of
from belvedere.base.clock import DAY, HOUR, MINUTE, SECOND
from belvedere.db import Database, Tx
from belvedere.indicators import history, queries, service, store
from belvedere.indicators.model import IndicatorRow
from event_rows import for_object
from manual_clock import ManualClock
from people import Actors

from .conftest import Make, body


def kinds(db: Database, row: IndicatorRow) -> list[str]:
    return [event.kind.partition(".")[2] for event in db.write_blocking(for_object, row.id)]


def push(db: Database, actors: Actors, row: IndicatorRow, value: float) -> None:
    db.write_blocking(service.change, actors.ada, row.id, body(value=value))


def test_a_stale_indicator_is_reported_once(
    db: Database, actors: Actors, clock: ManualClock, make: Make
) -> None:
    """A silent one is reported once; if it is updated and becomes silent again, once more."""
    row, other = make("a", ttl=60_000), make("b")
    clock.move(59)
    assert not db.write_blocking(store.has_newly_stale)
    clock.move(1)
    assert db.write_blocking(store.has_newly_stale)
    assert db.write_blocking(service.publish_stale)
    assert not db.write_blocking(store.has_newly_stale)
    assert not db.write_blocking(service.publish_stale)
    assert kinds(db, row) == ["created", "stale"]
    # It is renamed: it is still not updated.
    db.write_blocking(service.change, actors.ada, row.id, body(title="c"))
    assert not db.write_blocking(service.publish_stale)
    push(db, actors, row, 5)
    clock.move(60)
    assert db.write_blocking(service.publish_stale)
    assert kinds(db, row) == ["created", "stale", "changed", "changed", "stale"]
    assert kinds(db, other) == ["created"]


def test_a_deleted_indicator_does_not_become_stale(
    db: Database, actors: Actors, clock: ManualClock, make: Make
) -> None:
    row = make(ttl=60_000)
    db.write_blocking(service.delete, actors.ada, row.id)
    clock.move(61)
    assert not db.write_blocking(store.has_newly_stale)
    assert not db.write_blocking(service.publish_stale)


def moments(db: Database, row: IndicatorRow) -> list[int]:
    return [point.at for point in db.write_blocking(history.list_points, row.id, 0, 2**50, 100_000)]


def fill(db: Database, row: IndicatorRow, first: int, last: int, step: int) -> None:
    def insert(tx: Tx) -> None:
        tx.execute("delete from indicator_values")
        tx.execute_many(
            "insert into indicator_values (indicator_id, at, state, value)"
            " values (?, ?, 'normal', '1')",
            [(row.id, at) for at in range(first, last, step)],
        )

    db.write_blocking(insert)


def settle(db: Database) -> int:
    """Until there is nothing left to do; the number of steps."""
    turns = 1
    while db.write_blocking(service.purge_old):
        turns += 1
    return turns


def test_old_values_are_reduced(db: Database, clock: ManualClock, make: Make) -> None:
    row = make(type="progress")
    now = clock() // HOUR * HOUR
    clock.move((now + HOUR - clock()) / SECOND)
    now = clock()
    fill(db, row, now - 2 * HOUR, now, 5 * SECOND)
    settle(db)
    actual_moments = moments(db, row)
    young = [at for at in actual_moments if at >= now - HOUR]
    old = [at for at in actual_moments if at < now - HOUR]
    assert len(young) == 720
    assert len(old) == 60
    # The last of its minute.
    assert all(at % MINUTE == 55 * SECOND for at in old)


def test_very_old_values_are_deleted(db: Database, clock: ManualClock, make: Make) -> None:
    row = make(type="progress")
    now = clock()
    fill(db, row, now - 32 * DAY, now - 29 * DAY, 10 * MINUTE)
    settle(db)
    actual_moments = moments(db, row)
    assert actual_moments and min(actual_moments) >= now - 30 * DAY


def test_reduced_values_are_not_read_again(db: Database, clock: ManualClock, make: Make) -> None:
    row = make(type="progress")
    now = clock()
    fill(db, row, now - 3 * HOUR, now - 2 * HOUR, SECOND)
    assert settle(db) > 10
    assert settle(db) == 1


def test_one_value_per_second_is_stored(
    db: Database, actors: Actors, clock: ManualClock, make: Make
) -> None:
    row = make(type="progress", value=1)
    clock.move(2)
    for value in (2, 3, 4):
        push(db, actors, row, value)
    points = db.write_blocking(history.list_points, row.id, 0, 2**50, 10)
    assert [point.value for point in points] == [1, 4]


def test_long_texts_are_cut_in_the_past_only(db: Database, actors: Actors, make: Make) -> None:
    row = make(type="text", value="é" * 1_000)
    (point,) = db.write_blocking(history.list_points, row.id, 0, 2**50, 10)
    assert point.value == "é" * history.MAX_TEXT
    assert db.write_blocking(queries.show, actors.ada, row.id).row.value == "é" * 1_000


@pytest.mark.parametrize("most", [1, 2, 7, 100])
def test_a_line_of_points_is_as_short_as_wanted(
    db: Database, clock: ManualClock, make: Make, most: int
) -> None:
    row = make(type="progress")
    now = clock() // SECOND * SECOND
    fill(db, row, now - 500 * SECOND, now, SECOND)
    points = db.write_blocking(history.list_points, row.id, 0, now, most)
    assert len(points) == most
    assert points[-1].at == now - SECOND
    assert [point.at for point in points] == sorted(point.at for point in points)


def test_a_deleted_indicator_is_purged_after_a_day(
    db: Database, actors: Actors, clock: ManualClock, make: Make
) -> None:
    row, other = make("a", acl=["uma@acme.test"]), make("b")
    db.write_blocking(service.delete, actors.uma, row.id)
    settle(db)
    # People who may see it can still read that it is stale.
    assert db.write_blocking(acl_of, actors.acme.id, "indicator", row.id) == ["uma@acme.test"]
    clock.move(DAY / SECOND + 1)
    settle(db)
    assert db.write_blocking(acl_of, actors.acme.id, "indicator", row.id) == []
    remaining = db.write_blocking(lambda tx: tx.rows("select id from indicators"))
    assert remaining == [(other.id,)]
