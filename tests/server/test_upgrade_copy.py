"""The copy of a SQLite database before migrations: complete, private, and before any change."""

import asyncio
import errno
import logging
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import TracebackType

import apsw
import pytest

from belvedere import __version__
from belvedere.base.errors import Refused, Unavailable
from belvedere.db import Database, Tx, installation, migrate
from belvedere.db.backup import upgrade_copy
from belvedere.db.backup.sqlite_files import copy_database
from belvedere.db.sqlite.connection import connect
from belvedere.db.sqlite.transaction import SqliteTx
from belvedere.jobs.recovery import restore
from belvedere.server import wiring
from belvedere.settings import Settings

GOOD = ("9001_first", "create table first_table (id text);")
BAD = ("9002_second", "create table first_table (id text);")
own_migrations = migrate.migrations


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """An installation of the version before."""
    settings = Settings(data=str(tmp_path / "data"))
    start(settings)
    return settings


def start(settings: Settings) -> None:
    """Open and migrate the databases, and close them."""
    close(*wiring.open_databases(settings))


def close(*databases: Database) -> None:
    for database in databases:
        asyncio.run(database.close())


def add_migrations(
    monkeypatch: pytest.MonkeyPatch, *extra: tuple[str, str], folder: str = "migrations"
) -> None:
    """The next version of the program has these as well."""

    def migrations(engine: str, name: str = "migrations") -> list[tuple[str, str]]:
        return [*own_migrations(engine, name), *(extra if name == folder else ())]

    monkeypatch.setattr(migrate, "migrations", migrations)


def copies(settings: Settings) -> list[Path]:
    folder = settings.folder / upgrade_copy.FOLDER
    return sorted(folder.iterdir()) if folder.exists() else []


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return list(connection.execute(query))
    finally:
        connection.close()


def has_table(path: Path) -> bool:
    return bool(rows(path, "select 1 from sqlite_schema where name = 'first_table'"))


def test_a_new_database_is_not_copied(settings: Settings) -> None:
    assert copies(settings) == []
    start(settings)
    assert copies(settings) == []


def test_the_copy_has_the_data_from_before(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_migrations(monkeypatch, GOOD)
    start(settings)
    [copy] = copies(settings)
    assert copy.name.startswith(f"{__version__}-to-{__version__}-")
    assert [file.name for file in copy.iterdir()] == ["belvedere.db"]
    assert rows(copy / "belvedere.db", "pragma integrity_check") == [("ok",)]
    assert has_table(settings.folder / "belvedere.db")
    assert not has_table(copy / "belvedere.db")
    assert (copy.stat().st_mode & 0o777, (copy / "belvedere.db").stat().st_mode & 0o777) == (
        0o700,
        0o600,
    )
    start(settings)
    assert copies(settings) == [copy]


def test_the_log_store_is_copied_if_it_changes(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_migrations(monkeypatch, GOOD, folder="logs")
    start(settings)
    [copy] = copies(settings)
    assert sorted(file.name for file in copy.iterdir()) == ["belvedere.db", "logs.db"]
    assert has_table(settings.folder / "logs.db") and not has_table(copy / "logs.db")


def test_the_old_version_starts_with_the_copy(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As docs/howto/upgrade.md describes it."""
    with monkeypatch.context() as patch:
        add_migrations(patch, GOOD)
        start(settings)
    with pytest.raises(Refused, match="newer version"):
        start(settings)
    [copy] = copies(settings)
    older = Settings(data=str(settings.folder.with_name("older")))
    older.folder.mkdir(mode=0o700)
    for source in (copy / "belvedere.db", settings.folder / "logs.db"):
        (older.folder / source.name).write_bytes(source.read_bytes())
    db, logs = wiring.open_databases(older)
    assert db.write_blocking(restore.mark_restored) > 0
    assert db.write_blocking(installation.read, upgrade_copy.UNDER_WAY) is None
    close(db, logs)


def test_the_last_two_copies_are_kept(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    other_folder = settings.folder / upgrade_copy.FOLDER / "mine"
    other_folder.mkdir(parents=True)
    names = []
    for number in range(3):
        add_migrations(
            monkeypatch,
            *((f"900{n}_x", f"create table t{n} (id text);") for n in range(number + 1)),
        )
        start(settings)
        names.append(max(copies(settings)[:-1], key=lambda path: path.name))
    assert copies(settings) == [*names[1:], other_folder]


def test_an_interrupted_upgrade_keeps_its_copy(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second start finds a database that the first migrations have changed already."""
    db, logs = wiring.open_databases(settings)
    add_migrations(monkeypatch, GOOD, BAD)
    for _ in range(3):
        with pytest.raises(apsw.SQLError, match="already exists"):
            wiring._migrate_files(db, logs, settings)
    [copy] = copies(settings)
    assert not has_table(copy / "belvedere.db")
    add_migrations(monkeypatch, GOOD)
    wiring._migrate_files(db, logs, settings)
    assert db.write_blocking(installation.read, upgrade_copy.UNDER_WAY) is None
    close(db, logs)
    assert copies(settings) == [copy]


def test_an_upgrade_that_has_changed_nothing_is_copied_again(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old version may have run with the database since the first copy."""
    db, logs = wiring.open_databases(settings)
    add_migrations(monkeypatch, ("9001_broken", "create table broken (;"))
    for number in range(2):
        with pytest.raises(apsw.SQLError):
            wiring._migrate_files(db, logs, settings)
        db.write_blocking(installation.write, "stored since", str(number))
    first, second = copies(settings)
    assert (stored_since(first), stored_since(second)) == (None, "0")
    close(db, logs)


@pytest.mark.parametrize("folder", ["migrations", "logs"])
def test_a_migration_that_always_fails_copies_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    """The server is started again and again."""
    add_migrations(monkeypatch, ("9001_broken", "create table broken (;"), folder=folder)
    for _ in range(3):
        with pytest.raises(apsw.SQLError) as fault:
            start(settings)
        close_databases(fault.tb)
    assert len(copies(settings)) == 1


def close_databases(traceback: TracebackType | None) -> None:
    """Those of the function that failed, as the end of a process does."""
    while traceback is not None:
        if traceback.tb_frame.f_code is wiring.open_databases.__code__:
            close(*(traceback.tb_frame.f_locals[name] for name in ("db", "logs")))
        traceback = traceback.tb_next


def test_an_interrupted_upgrade_of_the_log_store_keeps_its_copy(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, logs = wiring.open_databases(settings)
    add_migrations(monkeypatch, GOOD, BAD, folder="logs")
    for _ in range(3):
        with pytest.raises(apsw.SQLError, match="already exists"):
            wiring._migrate_files(db, logs, settings)
    close(db, logs)
    [copy] = copies(settings)
    assert not has_table(copy / "logs.db")


def stored_since(copy: Path) -> str | None:
    with closing(connect(str(copy / "belvedere.db"), readonly=True)) as connection:
        return installation.read(SqliteTx(connection, 0), "stored since")


def test_a_full_disk_is_refused_before_anything_changes(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, logs = wiring.open_databases(settings)
    add_migrations(monkeypatch, GOOD)
    with monkeypatch.context() as patch:
        patch.setattr(upgrade_copy, "MARGIN", 1 << 60)
        with pytest.raises(Unavailable, match="MB are needed.*BELVEDERE_UPGRADE_COPY=0"):
            wiring._migrate_files(db, logs, settings)

    def fill_disk(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(upgrade_copy, "_sync", fill_disk)
        with pytest.raises(Unavailable, match="No space left.*Nothing was changed"):
            wiring._migrate_files(db, logs, settings)
    assert copies(settings) == []
    assert db.write_blocking(migrate.pending_names, "migrations") == {"migrations/9001_first"}
    close(db, logs)


def test_a_full_disk_of_sqlite_is_refused_as_well(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, logs = wiring.open_databases(settings)
    add_migrations(monkeypatch, GOOD)

    def fill_disk(tx: Tx, path: Path, report: object) -> None:
        path.write_bytes(b"half")
        raise apsw.FullError("database or disk is full")

    monkeypatch.setattr(upgrade_copy, "copy_database", fill_disk)
    with pytest.raises(Unavailable, match="No space left"):
        wiring._migrate_files(db, logs, settings)
    assert copies(settings) == []
    close(db, logs)


def test_the_setting_turns_it_off(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.upgrade_copy = False
    add_migrations(monkeypatch, GOOD)
    start(settings)
    assert copies(settings) == []
    assert has_table(settings.folder / "belvedere.db")


def test_a_link_in_place_of_a_draft_is_removed_and_not_followed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target = tmp_path / "precious"
    target.mkdir()
    (target / "file").write_text("x")
    folder = settings.folder / upgrade_copy.FOLDER
    folder.mkdir()
    (folder / f"0.1.0-to-0.1.0-20200101T000000000Z{upgrade_copy.PARTIAL}").symlink_to(target)
    (folder / "0.1.0-to-0.1.0-20200101T000000000Z").symlink_to(target)
    add_migrations(monkeypatch, GOOD)
    start(settings)
    assert (target / "file").read_text() == "x"
    assert len(upgrade_copy.list_copies(folder)) == 1


def test_a_killed_copy_leaves_nothing_that_looks_complete(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (
        "import sys; from belvedere.db import migrate; from belvedere.server import wiring\n"
        "from belvedere.settings import Settings\n"
        "own = migrate.migrations\n"
        f"migrate.migrations = lambda *a: [*own(*a), {GOOD!r}]\n"
        "wiring.open_databases(Settings(data=sys.argv[1]))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, settings.data],
        env={"BELVEDERE_FAILPOINT": "upgrade copy written"},
        capture_output=True,
    )
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    folder = settings.folder / upgrade_copy.FOLDER
    assert [path.suffix for path in copies(settings)] == [upgrade_copy.PARTIAL]
    assert upgrade_copy.list_copies(folder) == []
    assert not has_table(settings.folder / "belvedere.db")
    add_migrations(monkeypatch, GOOD)
    start(settings)
    assert copies(settings) == upgrade_copy.list_copies(folder)
    assert len(copies(settings)) == 1


def test_a_database_of_a_newer_version_is_not_copied(settings: Settings) -> None:
    db, logs = wiring.open_databases(settings)
    db.write_blocking(
        lambda tx: tx.execute("insert into migrations values ('migrations/9999_future', 0)")
    )
    db.write_blocking(lambda tx: tx.execute("delete from migrations where name like '%0177%'"))
    with pytest.raises(Exception, match="newer version"):
        wiring._migrate_files(db, logs, settings)
    assert copies(settings) == []
    close(db, logs)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_postgres_names_the_backup(
    db: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(wiring, "_follow_timeline", lambda _: None)
    add_migrations(monkeypatch, GOOD)
    with caplog.at_level(logging.WARNING):
        wiring._migrate_shared(db)
        wiring._migrate_shared(db)
    assert caplog.text.count("belvedere backup") == 1


def test_an_existing_file_is_never_overwritten(settings: Settings, tmp_path: Path) -> None:
    db, logs = wiring.open_databases(settings)
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(FileExistsError):
        db.write_blocking(lambda tx: copy_database(tx, tmp_path / "link", lambda *_: None))  # type: ignore[arg-type]
    assert not (tmp_path / "target").exists()
    close(db, logs)
