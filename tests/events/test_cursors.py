"""Reading the event log where it is long: along an index, never from its beginning."""

from collections.abc import Callable
from typing import Any

import pytest

from belvedere import events
from belvedere.db import Database, Tx
from belvedere.events import cursors
from belvedere.server.api import event_stream
from people import Actors
from statements import RecordingTx

READS: dict[str, Callable[[Any], object]] = {
    "after": lambda tx: events.after(tx, 0, 7),
    "newest": events.newest,
    "outlook": lambda tx: cursors.backlog(tx, "nobody", frozenset({"job.lost", "host.created"})),
    "take": lambda tx: cursors.take(tx, "nobody", frozenset({"job.lost"})),
    "holds": lambda tx: event_stream._holds(tx, (0, 7), (0, 9), "c1", frozenset()),
}


@pytest.mark.parametrize("read", READS)
def test_events_after_a_cursor_are_read_by_index(db: Database, actors: Actors, read: str) -> None:
    def plans(tx: Tx) -> list[str]:
        if tx.dialect.name == "postgres":
            # The table is small here, and then all of it is cheaper than any index.
            for way in ("seqscan", "bitmapscan", "sort"):
                tx.execute(f"set local enable_{way} = off")
        explain = "explain query plan" if tx.dialect.name == "sqlite" else "explain"
        recording = RecordingTx(tx)
        READS[read](recording)
        items = [(sql, params) for sql, params in recording.statements if "from events" in sql]
        assert items
        return [str(tx.rows(f"{explain} {sql}", *params)) for sql, params in items]

    for plan in db.write_blocking(plans):
        # SQLite reports a scan also for reading in the table's own order; without a sort it ends
        # early.
        assert "TEMP B-TREE" not in plan and "Sort" not in plan and "Seq Scan" not in plan, plan


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_skip_does_not_undo_what_another_server_has_processed(
    db: Database, actors: Actors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other server processes an event just before this one gets the lock."""
    name, kinds, lock = "consumer of this test", frozenset({"host.changed"}), cursors.lock

    def process(tx: Tx) -> None:
        [event] = cursors.take(tx, name, kinds)
        cursors.move(tx, name, event)

    def lock_late(tx: Tx, name: str) -> tuple[int, int]:
        monkeypatch.setattr(cursors, "lock", lock)
        db.write_blocking(events.append, actors.acme.id, "host.changed", "h1", {})
        db.write_blocking(process)
        return lock(tx, name)

    db.write_blocking(lock, name)
    monkeypatch.setattr(cursors, "lock", lock_late)
    db.write_blocking(cursors.skip, name, kinds)
    assert db.write_blocking(cursors.take, name, kinds) == []
