"""Read-only access beside the server: it sees committed data and cannot change it."""

from pathlib import Path

import pytest

from belvedere.base.errors import NotFound, Unavailable
from belvedere.db import Database, Tx
from belvedere.db.readonly import peek


def note(tx: Tx, value: str) -> int:
    return tx.execute("insert into meta (name, value) values ('note', ?)", value)


def read_note(tx: Tx) -> str | None:
    value: str | None = tx.value("select value from meta where name = 'note'")
    return value


def test_reads_see_committed_changes(db: Database, database_url: str) -> None:
    with peek(database_url) as read_only_database:
        assert read_only_database.read(read_note) is None
        db.write_blocking(note, "hello")
        assert read_only_database.read(read_note) == "hello"


def test_a_read_only_database_cannot_write(db: Database, database_url: str) -> None:
    with peek(database_url) as read_only_database, pytest.raises(Unavailable, match="read-?only"):
        read_only_database.read(note, "hello")
    assert db.write_blocking(read_note) is None


def test_reading_continues_after_a_refused_operation(db: Database, database_url: str) -> None:
    with peek(database_url) as read_only_database:
        with pytest.raises(Unavailable):
            read_only_database.read(note, "hello")
        assert read_only_database.read(read_note) is None


def test_opening_read_only_creates_no_database(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="--data"), peek(str(tmp_path / "none.db")):
        pass
    assert list(tmp_path.iterdir()) == []
