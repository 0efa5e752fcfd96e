"""Events of a dump that was loaded into another PostgreSQL cluster, and their consumers."""

import pytest

from belvedere import events
from belvedere.base.clock import DAY, SECOND
from belvedere.db import Database, Tx
from belvedere.events import Event, budget, cursors
from belvedere.jobs.history import retention
from manual_clock import ManualClock
from people import Actors

# SQLite has no numbers of transactions.
pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)

KIND = "host.changed"
KINDS = frozenset({KIND})
# How far the other cluster was ahead of this one.
AHEAD = 1_000_000_000


def append(db: Database, actors: Actors, *names: str) -> None:
    for name in names:
        db.write_blocking(events.append, actors.ada.customer_id, KIND, name)


def consume(db: Database, name: str, limit: int = 100) -> list[str]:
    """The objects of the next events, as a consumer processes them."""

    def work(tx: Tx) -> list[Event]:
        batch = cursors.take(tx, name, KINDS, limit)
        for event in batch:
            cursors.move(tx, name, event)
        return batch

    return [event.object_id for event in db.write_blocking(work)]


def load_dump(db: Database) -> None:
    """As pg_restore leaves it in a younger cluster."""

    def work(tx: Tx) -> None:
        tx.execute("update events set xid = xid + ?", AHEAD)
        tx.execute("update cursors set xid = xid + ?", AHEAD)

    db.write_blocking(work)


def renumber(db: Database) -> int:
    return db.write_blocking(cursors.renumber)


def test_each_consumer_continues_where_it_was(db: Database, actors: Actors) -> None:
    append(db, actors, "a", "b", "c", "d")
    assert consume(db, "quick", 3) == ["a", "b", "c"]
    assert consume(db, "slow", 1) == ["a"]
    load_dump(db)
    # The numbers are above those of every transaction here: nothing can be read.
    assert consume(db, "quick") == consume(db, "slow") == []
    assert renumber(db) > 0
    append(db, actors, "e", "f")
    assert consume(db, "quick") == ["d", "e", "f"]
    assert consume(db, "slow", 2) == ["b", "c"]
    assert consume(db, "slow") == ["d", "e", "f"]
    assert consume(db, "quick") == consume(db, "slow") == []


def test_a_consumer_without_a_cursor_skips_nothing(db: Database, actors: Actors) -> None:
    """Its first event came just before the dump."""
    append(db, actors, "a", "b")
    load_dump(db)
    assert renumber(db) > 0
    append(db, actors, "c")
    assert db.write_blocking(cursors.backlog, "new", KINDS)[0]
    assert consume(db, "new") == ["a", "b", "c"]
    assert consume(db, "new") == []


def test_an_event_that_a_consumer_has_not_seen_is_not_deleted(
    db: Database, actors: Actors, clock: ManualClock
) -> None:
    append(db, actors, "a")
    assert consume(db, "quick") == ["a"]
    load_dump(db)
    renumber(db)
    clock.move((events.LIFE + DAY) // SECOND)
    db.write_blocking(budget.count_step)
    assert db.write_blocking(retention.purge_old_events, ["quick", "new"]) == 0
    assert consume(db, "new") == ["a"]
    assert db.write_blocking(retention.purge_old_events, ["quick", "new"]) > 0


def test_a_dump_of_the_same_cluster_is_not_renumbered(db: Database, actors: Actors) -> None:
    append(db, actors, "a")
    assert renumber(db) == 0
    assert consume(db, "quick") == ["a"]


def test_a_database_is_renumbered_once_for_each_restore(db: Database, actors: Actors) -> None:
    append(db, actors, "a", "b")
    consume(db, "quick", 1)
    for name in ("c", "d"):
        load_dump(db)
        assert renumber(db) > 0
        assert renumber(db) == 0
        append(db, actors, name)
    assert consume(db, "quick") == ["b", "c", "d"]
    assert consume(db, "new") == ["a", "b", "c", "d"]
