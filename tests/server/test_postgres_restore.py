"""A restore into PostgreSQL: interrupted at any point and repeated, and by two connections."""

import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Barrier

import psycopg
import pytest

from belvedere.base.errors import Conflict, Refused, Unavailable
from belvedere.bench.measure import fixture
from belvedere.bench.measure.fixture import Fixture
from belvedere.db import Database
from belvedere.db.backup import postgres_restore, postgres_tables, restore_marker
from belvedere.db.backup.postgres_tables import TableCopy
from belvedere.db.postgres.connection import SERVER_NAME
from belvedere.server.backup.load import RestoreRecord, restore_backup
from belvedere.server.doctor import examine
from belvedere.server.transfer import moves
from belvedere.server.wiring import open_databases
from belvedere.settings import Settings
from server.test_backup import (
    check_with_doctor,
    empty,
    kill_restore,
    place,
    rows_of,
    settings,
    use,
    write,
)

__all__ = ["empty", "place", "settings"]
pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


@pytest.fixture
def source(settings: Settings, place: Fixture, tmp_path: Path) -> Path:
    write(settings, tmp_path / "backup.zip")
    return tmp_path / "backup.zip"


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tables whose rows are loaded in this process."""
    names: list[str] = []
    copy = TableCopy.copy

    def record(table: TableCopy, direction: str) -> psycopg.sql.Composed:
        names.append(table.name)
        return copy(table, direction)

    monkeypatch.setattr(TableCopy, "copy", record)
    return names


def repeat(settings: Settings, source: Path) -> tuple[RestoreRecord, set[str]]:
    """Returns the steps too."""
    steps: set[str] = set()
    record = restore_backup(settings, source, str, lambda step, *_: steps.add(step))
    return record, steps


def list_done(settings: Settings) -> set[str]:
    with postgres_tables.open_snapshot(settings.database) as snapshot:
        return restore_marker.list_done(snapshot) - {restore_marker.SOURCE}


@pytest.mark.parametrize(
    ("point", "steps"),
    [
        ("restore part", {"tables", "indexes", "analyze", "keys"}),
        ("restore step", {"tables", "indexes", "analyze", "keys"}),
        ("restore step:20", {"indexes", "analyze", "keys"}),
        ("restore finished", {"keys"}),
    ],
)
def test_a_killed_restore_continues(
    settings: Settings,
    place: Fixture,
    empty: Settings,
    source: Path,
    loads: list[str],
    point: str,
    steps: set[str],
) -> None:
    kill_restore(empty, source, point)
    done = list_done(empty)
    assert bool(done) == (point != "restore part")
    record, repeated = repeat(empty, source)
    assert (record.is_continued, record.epoch) == (True, 2)
    # Neither the check of the backup nor a table is repeated.
    assert repeated == steps
    assert not done & {f"rows {table}" for table in loads}
    assert rows_of(empty) == rows_of(settings)
    check_with_doctor(empty)
    use(settings, place, empty)


def open_server(settings: Settings) -> None:
    open_databases(settings)


def back_up_again(settings: Settings) -> None:
    write(settings, settings.folder / "again.zip")


def move_to_sqlite(settings: Settings) -> None:
    moves.move(settings, "sqlite", lambda *_: None, lambda: None, is_copy_only=True)


@pytest.mark.parametrize("use_database", [open_server, back_up_again, move_to_sqlite])
def test_an_incomplete_database_is_not_used(
    empty: Settings, source: Path, use_database: Callable[[Settings], None]
) -> None:
    kill_restore(empty, source, "restore step")
    with pytest.raises(Unavailable, match=r"interrupted.*Run `belvedere restore` again"):
        use_database(empty)


def test_the_doctor_names_an_incomplete_restore(empty: Settings, source: Path) -> None:
    kill_restore(empty, source, "restore finished")
    texts = [finding.message for finding in examine(empty) if finding.check == "schema"]
    assert any("was interrupted" in text for text in texts)


def test_an_incomplete_restore_of_another_backup_is_refused(
    settings: Settings, place: Fixture, db: Database, empty: Settings, source: Path
) -> None:
    kill_restore(empty, source, "restore step")
    db.write_blocking(fixture.create, place)
    write(settings, source.with_name("newer.zip"))
    with pytest.raises(Conflict, match="another backup"):
        repeat(empty, source.with_name("newer.zip"))
    assert repeat(empty, source)[0].is_continued


def test_a_file_that_was_replaced_is_checked_again(
    settings: Settings, empty: Settings, source: Path
) -> None:
    """Also if its manifest is the same."""
    kill_restore(empty, source, "restore step")
    shutil.copyfile(source, source.with_name("copy.zip"))
    record, steps = repeat(empty, source.with_name("copy.zip"))
    assert record.is_continued and "verify" in steps
    assert rows_of(empty) == rows_of(settings)


def test_a_database_of_a_running_server_is_refused(empty: Settings, source: Path) -> None:
    """It was started when the database was empty."""
    with (
        psycopg.connect(empty.database, application_name=SERVER_NAME),
        pytest.raises(Conflict, match="A server is running"),
    ):
        repeat(empty, source)
    assert repeat(empty, source)[0].is_continued


def test_two_restores_at_the_same_time_are_refused(
    empty: Settings, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_restore, "LOCK_TRIES", 2)
    monkeypatch.setattr(postgres_restore, "LOCK_PAUSE_S", 0.0)
    with psycopg.connect(empty.database) as other:
        other.execute("select pg_advisory_lock(%s)", (postgres_tables.LOCK,))
        with pytest.raises(Conflict, match="Another `belvedere restore`"):
            repeat(empty, source)


def test_a_server_that_begins_during_a_restore_does_not_start(
    empty: Settings, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has looked for the marker before the restore began."""
    kill_restore(empty, source, "restore finished")
    monkeypatch.setattr("belvedere.db.transfer.marks.check_before_use", lambda _: None)
    answers = iter([None])
    explain = restore_marker.explain
    monkeypatch.setattr(restore_marker, "explain", lambda tx: next(answers, explain(tx)))
    with pytest.raises(Unavailable, match="not complete"):
        open_databases(empty)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (psycopg.errors.DiskFull("could not extend file"), "disk of PostgreSQL is full"),
        (psycopg.OperationalError("the connection\nis lost"), "reports: the connection is lost"),
    ],
)
def test_an_error_while_loading_says_that_the_restore_continues(
    settings: Settings,
    empty: Settings,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: psycopg.Error,
    message: str,
) -> None:
    def fail(copy: psycopg.Copy, block: bytes) -> None:
        raise fault

    with monkeypatch.context() as patch:
        patch.setattr(postgres_restore, "send", fail)
        with pytest.raises(Unavailable, match=rf"{message}.*run `belvedere restore` again"):
            repeat(empty, source)
    assert repeat(empty, source)[0].is_continued
    assert rows_of(empty) == rows_of(settings)


def test_two_tables_are_loaded_at_the_same_time(
    empty: Settings, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the first two blocks waits until the other table has one too."""
    both = Barrier(2, timeout=20)
    waits = iter([both.wait, both.wait])
    send = postgres_restore.send

    def wait_for_other(copy: psycopg.Copy, block: bytes) -> None:
        next(waits, lambda: 0)()
        send(copy, block)

    monkeypatch.setattr(postgres_restore, "send", wait_for_other)
    repeat(empty, source)


def replace_indexes(settings: Settings, statements: list[tuple[str, str]]) -> None:
    with postgres_tables.connect(settings.database) as connection:
        tx = postgres_tables.as_tx(connection)
        state = restore_marker.read_source(tx)
        assert state is not None
        state.indexes = statements
        restore_marker.write_source(tx, state)


def test_an_error_ends_what_the_other_connection_does(empty: Settings, source: Path) -> None:
    """Creating an index may take long; here it would exceed the time limit of this test."""
    kill_restore(empty, source, "restore step")
    replace_indexes(empty, [("jobs", "select pg_sleep(600)"), ("events", "select 1 / 0")])
    with pytest.raises(Refused, match="division by zero"):
        repeat(empty, source)


def test_sessions_end_with_their_client(empty: Settings) -> None:
    """PostgreSQL would notice it only at the end of an index."""
    with postgres_restore._open_workers(empty.database) as workers:
        for worker in workers:
            [(interval,)] = worker.execute("show client_connection_check_interval")
            assert interval == "1s"


def test_rows_are_loaded_before_there_are_indexes(
    empty: Settings, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Filling indexes row by row takes several times as long."""
    counts: list[int] = []
    send = postgres_restore.send

    def count_indexes(copy: psycopg.Copy, block: bytes) -> None:
        counts.append(len(list_indexes(empty)))
        send(copy, block)

    monkeypatch.setattr(postgres_restore, "send", count_indexes)
    repeat(empty, source)
    # That of the marker.
    assert set(counts) == {1}
    assert len(list_indexes(empty)) > 100


def list_indexes(settings: Settings) -> list[str]:
    with postgres_tables.open_snapshot(settings.database) as snapshot:
        rows = snapshot.rows("select indexname from pg_indexes where schemaname = current_schema()")
    return [name for (name,) in rows]
