"""A database of an older version keeps what it holds when it is brought up to date."""

from pathlib import Path

import pytest

from belvedere.db import Tx
from belvedere.db.migrate import apply, migrate, migrations
from belvedere.db.sqlite import Sqlite

LIVE = (1_099_511_627_780, "j1", 1, "h1", 3, "w1", "live", 10, 11, None, None)
LATE = (1_099_511_627_777, "j1", 1, "h1", 2, "w1", "lost", 5, None, 9, '{"exit": 1}')


def _attempts(tx: Tx) -> list[tuple[object, ...]]:
    return tx.rows("select * from attempts order by fence")


def _add(tx: Tx, row: tuple[object, ...]) -> None:
    tx.many(f"insert into attempts values ({', '.join('?' for _ in row)})", [row])


@pytest.fixture
def older(tmp_path: Path) -> Sqlite:
    """From the time before attempts were kept by their fence."""
    db = Sqlite(tmp_path / "older.db")
    for name, text in migrations("sqlite"):
        if name < "0036":
            db.write_now(apply, f"migrations/{name}", text)
    for row in (LIVE, LATE):
        db.write_now(_add, row)
    return db


def test_attempts_stay(older: Sqlite) -> None:
    assert [name.partition("_")[0] for name in migrate(older)] == ["0036", "0037"]
    assert older.write_now(_attempts) == [LATE, LIVE]
    assert migrate(older) == []


def test_a_job_has_one_live_attempt_still(older: Sqlite) -> None:
    migrate(older)
    with pytest.raises(Exception, match="UNIQUE"):
        older.write_now(_add, (LIVE[0] + 1, *LIVE[1:]))
    with pytest.raises(Exception, match="UNIQUE"):
        older.write_now(_add, (LIVE[0], "j2", *LIVE[2:]))
