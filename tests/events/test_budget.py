"""The budget of the event log: what is deleted, what never is, and how much work it takes."""

from typing import Any

import pytest

from belvedere import events
from belvedere.base.clock import MINUTE
from belvedere.db import Database, Tx
from belvedere.events import budget, cursors
from belvedere.jobs.history import retention
from statements import RecordingTx, cost

KIND = "webhook.triggered"
BUDGET = 3
READER = "reader"


def hit(db: Database, *names: str, customer: str = "c1", kind: str = KIND) -> None:
    db.write_blocking(events.append_all, kind, [(customer, name, {}) for name in names])


def read_all(db: Database) -> None:
    db.write_blocking(lambda tx: cursors.save(tx, READER, events.newest(tx)))


def purge(db: Database) -> None:
    """As the server does it every 30 seconds."""
    while db.write_blocking(budget.count_step):
        pass
    for pair in db.write_blocking(budget.over_budget, BUDGET):
        db.write_blocking(retention.purge_excess_events, [READER], *pair, BUDGET)


def objects(db: Database, customer: str = "c1") -> list[str]:
    sql = "select object_id from events where customer_id = ? order by id"
    return [name for (name,) in db.write_blocking(lambda tx: tx.rows(sql, customer))]


def test_the_oldest_of_a_flood_are_deleted_and_nothing_else(db: Database) -> None:
    hit(db, "state", kind="monitor.state")
    hit(db, "job", kind="job.created")
    hit(db, *"abcde")
    hit(db, "other", customer="c2")
    read_all(db)
    purge(db)
    assert objects(db) == ["state", "job", "c", "d", "e"]
    assert objects(db, "c2") == ["other"]
    hit(db, "f")
    read_all(db)
    purge(db)
    assert objects(db) == ["state", "job", "d", "e", "f"]


def test_an_event_that_a_consumer_has_not_processed_is_kept(db: Database) -> None:
    hit(db, *"ab")
    read_all(db)
    hit(db, *"cdefg")
    purge(db)
    assert objects(db) == [*"cdefg"]
    read_all(db)
    purge(db)
    assert objects(db) == [*"efg"]


def test_a_second_count_gives_the_same(db: Database) -> None:
    hit(db, *"abcde")
    read_all(db)
    purge(db)
    counts = "select events, deleted_id from event_counts where object = 'webhook'"
    before = db.write_blocking(lambda tx: tx.rows(counts))
    db.write_blocking(budget.start_over)
    purge(db)
    assert db.write_blocking(lambda tx: tx.rows(counts)) == before == [(3, before[0][1])]


def test_the_time_since_which_events_are_complete(db: Database) -> None:
    def kept_ms(tx: Tx) -> int:
        return tx.now - budget.kept_since(tx, "c1", "webhook")

    assert db.write_blocking(kept_ms) == events.LIFE
    hit(db, *"abcde")
    read_all(db)
    purge(db)
    assert db.write_blocking(kept_ms) < MINUTE


def fill(db: Database, count: int) -> None:
    hit(db, *(f"w{number}" for number in range(count)))
    hit(db, *(f"j{number}" for number in range(count)), kind="job.created")


@pytest.mark.parametrize("kind", ["idle", "excess"])
def test_the_work_of_a_pass_does_not_grow_with_the_log(db: Database, kind: str) -> None:
    """One new event in a log of 200 and of 2,000: the same number of statements, which read the
    same number of rows."""
    work = []
    for count in (100, 900):
        fill(db, count)
        read_all(db)
        while db.write_blocking(budget.count_step):
            pass
        if kind == "excess":
            hit(db, "new")
        work.append(db.write_blocking(_measure, budget_of(db)))
    (few, less), (many, more) = work
    assert few == many
    assert more <= 3 * less + 200


def test_a_step_reads_no_more_of_a_longer_log(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an upgrade, when nothing is counted yet."""
    monkeypatch.setattr(budget, "STEP", 20)
    work = []
    for count in (100, 900):
        fill(db, count)
        db.write_blocking(budget.start_over)
        work.append(db.write_blocking(_measure, 2_000)[1])
    assert work[1] <= 1.5 * work[0]


def budget_of(db: Database) -> int:
    """As many as there are: the next event is one too many."""
    sql = "select events from event_counts where object = 'webhook'"
    return int(db.write_blocking(lambda tx: tx.value(sql)))


def _measure(tx: Tx, limit: int) -> tuple[int, int]:
    recording: Any = RecordingTx(tx)
    budget.count_step(recording)
    for pair in budget.over_budget(recording, limit):
        budget.delete_excess(recording, *pair, limit, events.newest(tx), 100)
    reads = [item for item in recording.statements if item[0].startswith("select")]
    return len(recording.statements), sum(cost(tx, item) for item in reads)
