"""History that is inserted in bulk looks like history of real jobs."""

from belvedere.bench.measure import fixture, history_data
from belvedere.db import Database, Tx
from belvedere.events import cursors
from belvedere.jobs.history import consistency
from belvedere.jobs.queries import pages
from belvedere.rest.listing import Listing
from belvedere.server.background.consumers import CONSUMERS


def test_the_history_is_filled_in_batches(db: Database) -> None:
    target = db.write_blocking(fixture.create_fixture)
    db.write_blocking(history_data.fill, target, 0, 30, 50)
    db.write_blocking(history_data.fill, target, 30, 20, 50)
    counts = [db.write_blocking(_count, table) for table in ("jobs", "attempts")]
    # The one that ran, and its copies.
    assert counts == [51, 51]


def _count(tx: Tx, table: str) -> int:
    return int(tx.value(f"select count(*) from {table}"))


def test_events_attempts_and_rows_agree(db: Database) -> None:
    target = db.write_blocking(fixture.create_fixture)
    db.write_blocking(history_data.fill, target, 0, 20, 20)
    assert db.write_blocking(consistency.check, "", 100) == []


def test_the_copies_are_older_than_new_jobs(db: Database) -> None:
    target = db.write_blocking(fixture.create_fixture)
    db.write_blocking(history_data.fill, target, 0, 20, 20)
    newest = db.write_blocking(fixture.create, target)
    listing = Listing(pages.listable(db.dialect), limit=100)
    records, _ = db.write_blocking(pages.list_page, target.actor, listing)
    assert len(records) == 22
    assert records[0].id == newest


def test_nothing_is_left_to_react_to(db: Database) -> None:
    target = db.write_blocking(fixture.create_fixture)
    db.write_blocking(history_data.fill, target, 0, 20, 20)
    waiting = [
        db.write_blocking(cursors.take, consumer.name, consumer.kinds) for consumer in CONSUMERS
    ]
    assert any(waiting)
    db.write_blocking(history_data.skip_events)
    waiting = [
        db.write_blocking(cursors.take, consumer.name, consumer.kinds) for consumer in CONSUMERS
    ]
    assert not any(waiting)
