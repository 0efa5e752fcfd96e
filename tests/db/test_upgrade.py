"""A database of an older version keeps its data when it is upgraded."""

from pathlib import Path

import apsw
import pytest

from belvedere import events
from belvedere.base.errors import Refused, Unavailable
from belvedere.db import Database, Tx
from belvedere.db.migrate import apply, check_installed, migrate, migrations
from belvedere.db.sqlite.database import Sqlite
from belvedere.jobs.attempts import reserve_fences

LIVE = (1_099_511_627_780, "j1", 1, "h1", 3, "w1", "live", 10, 11, None, None)
LATE = (1_099_511_627_777, "j1", 1, "h1", 2, "w1", "lost", 5, None, 9, '{"exit": 1}')


def _attempts(tx: Tx) -> list[tuple[object, ...]]:
    return tx.rows("select * from attempts order by fence")


def _add(tx: Tx, row: tuple[object, ...]) -> None:
    tx.execute_many(f"insert into attempts values ({', '.join('?' for _ in row)})", [row])


@pytest.fixture
def older_db(tmp_path: Path) -> Sqlite:
    """From the time before attempts were stored by their fence, and events counted separately."""
    db = Sqlite(tmp_path / "older.db")
    for name, text in migrations("sqlite"):
        if name < "0036":
            db.write_blocking(apply, f"migrations/{name}", text)
    for row in (LIVE, LATE):
        db.write_blocking(_add, row)
    return db


def test_attempts_stay(older_db: Sqlite) -> None:
    steps = [name.partition("_")[0] for name in migrate(older_db)]
    assert steps[:5] == ["0036", "0037", "0039", "0040", "0041"]
    assert older_db.write_blocking(_attempts) == [LATE, LIVE]
    assert migrate(older_db) == []


def test_a_job_has_one_live_attempt_still(older_db: Sqlite) -> None:
    migrate(older_db)
    with pytest.raises(Exception, match="UNIQUE"):
        older_db.write_blocking(_add, (LIVE[0] + 1, *LIVE[1:]))
    with pytest.raises(Exception, match="UNIQUE"):
        older_db.write_blocking(_add, (LIVE[0], "j2", *LIVE[2:]))


def test_a_job_may_have_many_that_are_not_live(older_db: Sqlite) -> None:
    migrate(older_db)
    older_db.write_blocking(_add, (LATE[0] + 1, *LATE[1:]))
    older_db.write_blocking(lambda tx: tx.execute("update attempts set state = 'lost'"))
    assert {row[6] for row in older_db.write_blocking(_attempts)} == {"lost"}


def test_the_next_fence_is_beyond_all_that_were(older_db: Sqlite) -> None:
    """The counter may be ahead of the attempts: the newest of them were deleted."""
    raised = "update counters set value = ? where name = 'fence'"
    older_db.write_blocking(lambda tx: tx.execute(raised, LIVE[0] + 5))
    migrate(older_db)
    assert older_db.write_blocking(reserve_fences, 2) == [LIVE[0] + 6, LIVE[0] + 7]


def test_an_older_version_gives_no_fence_again(older_db: Sqlite) -> None:
    """It does not know about attempts, and would continue at the value of the counter."""
    migrate(older_db)
    counted = "update counters set value = value + ? where name = 'fence' returning value"
    with pytest.raises(apsw.ConstraintError, match="newer version"):
        older_db.write_blocking(lambda tx: tx.value(counted, 1))


def _append_event(tx: Tx, customer_id: str) -> int:
    events.append(tx, customer_id, "host.created", "h1", {"hostname": "web-1"})
    return int(tx.value("select max(id) from events"))


def _list_events(tx: Tx) -> list[tuple[object, ...]]:
    return tx.rows("select * from events order by id")


def test_events_stay_and_the_next_one_follows_them(older_db: Sqlite) -> None:
    for customer_id in ("c1", "c2"):
        older_db.write_blocking(_append_event, customer_id)
    actual_events = older_db.write_blocking(_list_events)
    migrate(older_db)
    assert older_db.write_blocking(_list_events) == actual_events
    assert older_db.write_blocking(_append_event, "c3") == 3


@pytest.mark.parametrize("gone", ["id > 1", "id > 0"])
def test_ids_of_deleted_events_are_not_used_again(older_db: Sqlite, gone: str) -> None:
    for customer_id in ("c1", "c2", "c3"):
        older_db.write_blocking(_append_event, customer_id)
    older_db.write_blocking(lambda tx: tx.execute(f"delete from events where {gone}"))
    remaining = older_db.write_blocking(_list_events)
    migrate(older_db)
    assert older_db.write_blocking(_list_events) == [*remaining, (3, 0, 0, "", "", "", "", "{}")]
    assert older_db.write_blocking(_append_event, "c4") == 4


def test_a_log_without_events_begins_with_the_first(older_db: Sqlite) -> None:
    migrate(older_db)
    assert older_db.write_blocking(_list_events) == []
    assert older_db.write_blocking(_append_event, "c1") == 1


def test_a_database_of_a_newer_version_is_refused(db: Database) -> None:
    db.write_blocking(
        lambda tx: tx.execute("insert into migrations values ('migrations/9999_future', 0)")
    )
    with pytest.raises(Refused, match=r"9999_future.*Start that version"):
        migrate(db)


def test_an_unknown_migration_of_the_other_store_is_not_its_concern(db: Database) -> None:
    """On PostgreSQL both stores keep their lists in one table."""
    db.write_blocking(
        lambda tx: tx.execute("insert into migrations values ('logs/9999_future', 0)")
    )
    assert migrate(db) == []
    with pytest.raises(Refused, match="9999_future"):
        migrate(db, "logs")


def test_a_database_of_another_program_is_not_an_installation(tmp_path: Path) -> None:
    db = Sqlite(tmp_path / "other.db")
    db.write_blocking(lambda tx: tx.execute("create table migrations (name text, at integer)"))
    db.write_blocking(lambda tx: tx.execute("insert into migrations values ('0001_users', 1)"))
    with pytest.raises(Unavailable, match="not a database of Belvedere"):
        db.write_blocking(check_installed)
