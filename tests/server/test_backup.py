"""Backups of a running installation, restored into an empty location."""

import errno
import fcntl
import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest

import engines
from belvedere.access.crypto import key_file
from belvedere.access.crypto.key_file import KeyFile
from belvedere.access.crypto.keyring import SECRET_FILE, Keyring
from belvedere.base.errors import Conflict, Invalid, NotFound, Refused, Unavailable
from belvedere.bench.measure import fixture
from belvedere.bench.measure.fixture import Fixture
from belvedere.db import Database, Tx
from belvedere.db.backup import archive, copy, postgres_tables
from belvedere.db.readonly import peek
from belvedere.db.transfer import marks
from belvedere.db.transfer.marks import Mark
from belvedere.jobs.output import log_store
from belvedere.jobs.recovery import restore
from belvedere.jobs.search import progress
from belvedere.server import operator_socket
from belvedere.server.backup import create, key_part, rotation
from belvedere.server.backup.create import BackupRecord, back_up
from belvedere.server.backup.load import RestoreRecord, restore_backup
from belvedere.server.doctor import backups, examine
from belvedere.server.upgrade import check_upgrade
from belvedere.server.wiring import open_databases
from belvedere.settings import Settings

SECRET = bytes(range(32)).hex()
PASSPHRASE = "four plain words here"
RECORD = BackupRecord("", 0, "", "", "", 1, 0, 0, "", "")


@pytest.fixture
def settings(
    database_url: str, engine: str, tmp_path: Path, db: Database, logs: Database, keys: Keyring
) -> Settings:
    """An installation with a server that has its databases open."""
    (tmp_path / SECRET_FILE).write_text(SECRET)
    for path in (tmp_path, *tmp_path.iterdir()):
        path.chmod(0o700 if path.is_dir() else 0o600)
    db.write_blocking(keys.verify_database)
    return Settings(data=str(tmp_path), database=database_url if engine == "postgres" else "")


@pytest.fixture
def place(db: Database, logs: Database) -> Fixture:
    """One finished job with a log, and one that waits."""
    place = db.write_blocking(fixture.create_fixture)
    job_id = db.write_blocking(fixture.create, place)
    [claimed] = db.write_blocking(fixture.claim, place)
    logs.write_blocking(
        log_store.append, [log_store.LogPiece(claimed.job.fence, job_id, 0, 0, b"a\\b\t\0\xff\n")]
    )
    db.write_blocking(fixture.finish, place, claimed.job.fence)
    db.write_blocking(fixture.create, place)
    return place


@pytest.fixture
def empty(settings: Settings, tmp_path: Path) -> Iterator[Settings]:
    """Where a backup can be restored."""
    folder = tmp_path / "restored"
    if not settings.database:
        yield Settings(data=str(folder))
        return
    url = engines.create_postgres(settings.database, "restored")
    yield Settings(data=str(folder), database=url)
    engines.drop_postgres(url)


def report_nothing(name: str, done: int, total: int) -> None:
    """For tests that do not look at the progress."""


def write(settings: Settings, target: Path, **options: object) -> BackupRecord:
    return back_up(settings, target, report_nothing, **options)  # type: ignore[arg-type]


def load(
    settings: Settings, source: Path, passphrase: str = "", *, unsigned: bool = False
) -> RestoreRecord:
    return restore_backup(settings, source, lambda: passphrase, report_nothing, unsigned=unsigned)


def rows_of(settings: Settings) -> dict[str, list[tuple[object, ...]]]:
    """Everything that a restore must not change."""
    tables = ("jobs", "attempts", "events", "customers", "hosts", "task_versions", "migrations")
    logs = settings.database or str(settings.folder / "logs.db")
    with peek(settings.database_url) as db, peek(logs) as log_db:
        rows = {name: db.read(list_rows, name) for name in tables}
        return {**rows, "log_chunks": log_db.read(list_rows, "log_chunks")}


def list_rows(tx: Tx, table: str) -> list[tuple[object, ...]]:
    return sorted(tx.rows(f"select * from {table}"), key=repr)


def count_jobs(settings: Settings) -> int:
    with peek(settings.database_url) as db:
        return int(db.read(lambda tx: tx.value("select count(*) from jobs")))


def test_everything_is_restored(
    settings: Settings, place: Fixture, empty: Settings, tmp_path: Path
) -> None:
    record = write(settings, tmp_path / "backup.zip")
    assert (record.epoch, record.key) == (1, str(tmp_path / SECRET_FILE))
    assert (tmp_path / "backup.zip").stat().st_mode & 0o777 == 0o600
    with archive.open_backup(tmp_path / "backup.zip") as reader:
        assert reader.manifest.key == record.key
    restored = load(empty, tmp_path / "backup.zip")
    assert not restored.is_repeated
    assert (restored.epoch, restored.missing_key) == (2, str(empty.folder / SECRET_FILE))
    assert rows_of(empty) == rows_of(settings)
    leftovers = sorted(path.name for path in tmp_path.glob("backup*"))
    assert leftovers == ["backup.zip"]
    check_with_doctor(empty)
    use(settings, place, empty)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_pages_are_not_written_again_after_a_restore(
    settings: Settings, place: Fixture, empty: Settings, tmp_path: Path
) -> None:
    """Rows are visible to all from the start, so that no reader marks them."""
    write(settings, tmp_path / "backup.zip")
    load(empty, tmp_path / "backup.zip")
    with peek(empty.database_url) as db:
        pages = "select relpages, relallvisible from pg_class where relname = 'jobs'"
        [(count, visible)] = db.read(lambda tx: tx.rows(pages))
    assert count == visible > 0


def check_with_doctor(settings: Settings) -> None:
    findings = examine(settings)
    # The key is copied by hand; the PostgreSQL of the tests works without fsync.
    problems = {finding.check for finding in findings if finding.verdict == "problem"}
    assert problems - {"durability"} == {"key"}, findings


def use(settings: Settings, place: Fixture, restored: Settings) -> None:
    """Sequences, indexes and migrations are as in any other database."""
    db, logs = open_databases(restored)
    try:
        assert db.write_blocking(restore.was_restored)
        job_id = db.write_blocking(fixture.create, place)
        assert db.write_blocking(lambda tx: tx.value("select 1 from jobs where id = ?", job_id))
        schema = db.write_blocking(list_schema)
    finally:
        engines.close(db)
        if logs is not db:
            engines.close(logs)
    with peek(settings.database_url) as original:
        assert schema == original.read(list_schema)


def list_schema(tx: Tx) -> list[tuple[object, ...]]:
    if tx.dialect.is_shared:
        return tx.rows(
            "select indexdef from pg_indexes where schemaname = current_schema() union all"
            " select conrelid::regclass || pg_get_constraintdef(oid) from pg_constraint"
            " where connamespace = current_schema()::regnamespace order by 1"
        )
    return tx.rows("select sql from sqlite_schema where name not like 'sqlite_%' order by 1")


def test_writes_during_a_backup_are_not_in_it(
    settings: Settings, place: Fixture, db: Database, empty: Settings, tmp_path: Path
) -> None:
    before = count_jobs(settings)

    def write_meanwhile(name: str, done: int, total: int) -> None:
        db.write_blocking(fixture.create, place)

    back_up(settings, tmp_path / "backup.zip", write_meanwhile)
    assert count_jobs(settings) > before
    load(empty, tmp_path / "backup.zip")
    assert count_jobs(empty) == before


@pytest.mark.parametrize("state", [marks.COPYING, marks.CLOSED, marks.MOVED])
def test_a_database_that_servers_do_not_use_is_not_backed_up(
    settings: Settings, db: Database, tmp_path: Path, state: str
) -> None:
    """After a move, a timer that still names the old database must fail."""
    db.write_blocking(marks.write, Mark("m", state, "elsewhere", 0))
    with pytest.raises(Unavailable, match=r"elsewhere.*--database"):
        write(settings, tmp_path / "backup.zip")
    assert list(tmp_path.glob("*.zip*")) == []
    assert backups.read(tmp_path) is None


def test_an_existing_file_is_replaced_only_on_request(
    settings: Settings, place: Fixture, tmp_path: Path
) -> None:
    target = tmp_path / "backup.zip"
    target.write_text("important")
    with pytest.raises(Conflict, match="--force"):
        write(settings, target)
    assert target.read_text() == "important"
    assert write(settings, target, force=True).size == target.stat().st_size


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("force", [False, True])
def test_a_folder_is_refused(
    settings: Settings, place: Fixture, tmp_path: Path, force: bool
) -> None:
    with pytest.raises(Conflict, match=f"is a folder.*{tmp_path}/belvedere.zip"):
        write(settings, tmp_path, force=force)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_another_backup_to_the_same_file_is_refused(
    settings: Settings, place: Fixture, tmp_path: Path
) -> None:
    def write_again(name: str, done: int, total: int) -> None:
        with pytest.raises(Conflict, match="Another backup"):
            write(settings, tmp_path / "backup.zip")

    back_up(settings, tmp_path / "backup.zip", write_again)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_backup_that_begins_when_another_ends_does_not_truncate_it(
    settings: Settings, place: Fixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one renames its file after this one has opened it."""
    target = tmp_path / "backup.zip"
    lock = fcntl.flock

    def finish_other(fd: int, mode: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        Path(f"{target}.partial").rename(target)
        target.write_bytes(b"complete")
        lock(fd, mode)

    monkeypatch.setattr(fcntl, "flock", finish_other)
    with pytest.raises(Conflict, match="Another backup"):
        write(settings, target, force=True)
    assert target.read_bytes() == b"complete"


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_backup_does_not_delete_the_unfinished_file_of_the_next(
    settings: Settings, place: Fixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = tmp_path / "backup.zip.partial"
    monkeypatch.setattr(create, "sync_folder", lambda _: draft.write_bytes(b"next"))
    write(settings, tmp_path / "backup.zip")
    assert draft.read_bytes() == b"next"


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_an_unfinished_backup_is_closed_to_other_users(
    settings: Settings, place: Fixture, tmp_path: Path
) -> None:
    target, elsewhere = tmp_path / "backup.zip", tmp_path / "elsewhere"
    draft = tmp_path / "backup.zip.partial"
    elsewhere.write_text("kept")
    draft.symlink_to(elsewhere)
    with pytest.raises(Conflict, match="is a link"):
        write(settings, target)
    draft.unlink()
    draft.hardlink_to(elsewhere)
    with pytest.raises(Conflict, match="another user"):
        write(settings, target)
    assert elsewhere.read_text() == "kept"
    draft.unlink()
    draft.write_text("left by a backup that was killed")
    draft.chmod(0o666)
    write(settings, target)
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_leaves_no_file(settings: Settings, place: Fixture, tmp_path: Path) -> None:
    def fail(name: str, done: int, total: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(Unavailable, match="is full"):
        back_up(settings, tmp_path / "backup.zip", fail)
    assert list(tmp_path.glob("backup*")) == []


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_full_disk_leaves_no_restored_database(
    settings: Settings, place: Fixture, empty: Settings, tmp_path: Path
) -> None:
    has_key: list[bool] = []

    def fail(name: str, done: int, total: int) -> None:
        if not name.startswith("verify"):
            # A database that is complete must have its key, whenever the process is killed.
            has_key.append((empty.folder / SECRET_FILE).exists())
            raise OSError(errno.ENOSPC, "No space left on device")

    write(settings, tmp_path / "backup.zip", passphrase=PASSPHRASE)
    with pytest.raises(Unavailable, match="is full"):
        restore_backup(empty, tmp_path / "backup.zip", lambda: PASSPHRASE, fail)
    assert has_key == [True]
    assert [path.name for path in empty.folder.iterdir() if path.suffix != ".lock"] == []


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, engine: str) -> None:
    with pytest.raises(NotFound, match="--data"):
        write(Settings(data=str(tmp_path)), tmp_path / "backup.zip")
    for name in ("belvedere.db", "logs.db"):
        (tmp_path / name).write_bytes(b"text" * 1_000)
    with pytest.raises(Unavailable, match="not a database"):
        write(Settings(data=str(tmp_path)), tmp_path / "backup.zip")
    assert not list(tmp_path.glob("backup*"))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (apsw.FullError("database or disk is full"), "is full"),
        (apsw.NotADBError("file is not a database"), "cannot be used"),
        (apsw.CorruptError("database disk image is malformed"), "cannot be used"),
        (apsw.IOError("disk I/O error"), "SQLite reports"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "quota"),
    ],
)
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_errors_of_the_restored_database_are_reported(
    settings: Settings,
    place: Fixture,
    empty: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: Exception,
    message: str,
) -> None:
    def fail(tx: Tx) -> int:
        raise fault

    write(settings, tmp_path / "backup.zip")
    monkeypatch.setattr(restore, "mark_restored", fail)
    with pytest.raises(Unavailable, match=message):
        load(empty, tmp_path / "backup.zip")
    assert [path.name for path in empty.folder.iterdir() if path.suffix != ".lock"] == []


def test_a_wrong_address_is_reported(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"not the address.*[^\n]\.$"):
        write(Settings(data=str(tmp_path), database="postgresql://host:a b/?x"), tmp_path / "a.zip")


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b'{"salt": 1}', b'{"salt": "!", "nonce": "", "data": ""}'],
)
def test_a_damaged_key_is_reported(data: bytes) -> None:
    with pytest.raises(Invalid, match="cannot be read"):
        key_part.unseal(data, PASSPHRASE)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_the_key_that_does_not_fit_is_named(
    settings: Settings, place: Fixture, empty: Settings, tmp_path: Path
) -> None:
    write(settings, tmp_path / "backup.zip")
    other = Settings(data=empty.data, secret_key="ab" * 32)
    with pytest.raises(Conflict, match="The key in BELVEDERE_SECRET_KEY"):
        load(other, tmp_path / "backup.zip")
    empty.folder.mkdir(mode=0o700)
    key_file.write(empty.folder, key_file.parse("ab" * 32, ""))
    with pytest.raises(Conflict, match=f"The key in {empty.folder / SECRET_FILE}"):
        load(empty, tmp_path / "backup.zip")
    key_file.write(settings.folder, key_file.parse("ab" * 32, ""))
    write(settings, tmp_path / "other.zip", passphrase=PASSPHRASE)
    with pytest.raises(Invalid, match="The key in the backup"):
        load(empty, tmp_path / "other.zip", PASSPHRASE)


def mark_restored(settings: Settings) -> None:
    operator_socket.offline(settings, "/mark-restored", {})


@pytest.mark.parametrize("use_installation", [mark_restored, examine, check_upgrade])
def test_an_empty_location_is_not_an_installation(
    empty: Settings, use_installation: Callable[[Settings], object]
) -> None:
    with pytest.raises((NotFound, Unavailable), match=r"^(No database at|This is not a database)"):
        use_installation(empty)
    assert not empty.folder.exists()


def test_a_location_with_data_is_not_overwritten(
    settings: Settings, place: Fixture, tmp_path: Path
) -> None:
    write(settings, tmp_path / "backup.zip")
    with pytest.raises(Conflict, match="empty"):
        load(settings, tmp_path / "backup.zip")
    assert count_jobs(settings) == 2


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def compress_otherwise(path: Path) -> None:
    """With a method whose errors are others."""
    rewrite(path, lambda name, data: data, method=zipfile.ZIP_LZMA)
    data = bytearray(path.read_bytes())
    data[2_000] ^= 1
    path.write_bytes(data)


def cut_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def change_bytes(path: Path) -> None:
    """In the middle of the largest part; a single bit may have no effect on repeated content."""
    with zipfile.ZipFile(path) as source:
        # The last two are the manifest and the seal.
        part = max(source.infolist()[:-2], key=lambda info: info.compress_size)
    data = bytearray(path.read_bytes())
    middle = part.header_offset + part.compress_size // 2
    data[middle : middle + 64] = bytes(64)
    path.write_bytes(data)


def replace_part(path: Path) -> None:
    """With its own checksums: only the manifest shows it."""
    names: list[str] = []

    def replace(name: str, data: bytes) -> bytes:
        if name not in PART_NAMES:
            return data
        names.append(name)
        return data[:-1] + b"?"

    rewrite(path, replace)
    assert len(names) == 1


def change_manifest(path: Path) -> None:
    rewrite(path, lambda name, data: data.replace(b'"epoch": 1', b'"epoch": 9'))


def replace_all(path: Path) -> None:
    """A forger who computes every SHA-256 again, but has no key."""
    rewrite(path, lambda name, data: data.replace(b'"epoch": 1', b'"epoch": 9'), seals=True)


def remove_signature(path: Path) -> None:
    """The same forger, who knows that there is a signature."""
    replace_all(path)
    rewrite(
        path,
        lambda name, data: (
            msgspec.json.encode({**msgspec.json.decode(data), "signature": ""})
            if name == archive.SEAL
            else data
        ),
    )


PART_NAMES = ("belvedere.db", "tables/jobs.copy")


def rewrite(
    path: Path,
    change: Callable[[str, bytes], bytes],
    *,
    seals: bool = False,
    method: int = zipfile.ZIP_DEFLATED,
) -> None:
    with zipfile.ZipFile(path) as source:
        contents = {name: change(name, source.read(name)) for name in source.namelist()}
    if seals:
        seal = msgspec.json.decode(contents[archive.SEAL])
        seal["sha256"] = hashlib.sha256(contents[archive.MANIFEST]).hexdigest()
        contents[archive.SEAL] = msgspec.json.encode(seal)
    with zipfile.ZipFile(path, "w", method) as target:
        for name, data in contents.items():
            target.writestr(name, data)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (truncate, "not a complete backup"),
        (cut_half, "not a complete backup"),
        (change_bytes, "damaged|changed"),
        (compress_otherwise, "not a complete backup"),
        (replace_part, "SHA-256 differs"),
        (change_manifest, "manifest .* was changed"),
        (replace_all, "signature differs"),
        (remove_signature, "has no signature.*--unsigned"),
    ],
)
def test_a_damaged_or_changed_file_changes_nothing(
    settings: Settings,
    place: Fixture,
    empty: Settings,
    tmp_path: Path,
    damage: Callable[[Path], None],
    message: str,
) -> None:
    write(settings, tmp_path / "backup.zip")
    damage(tmp_path / "backup.zip")
    with_key = Settings(data=empty.data, database=empty.database, secret_key=SECRET)
    with pytest.raises(Invalid, match=message):
        load(with_key, tmp_path / "backup.zip")
    assert not empty.folder.exists()
    if empty.database:
        with peek(empty.database) as db:
            assert db.read(lambda tx: tx.rows(postgres_tables.RELATIONS)) == []


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_backup_without_the_key_is_restored_on_request(
    settings: Settings, place: Fixture, empty: Settings, tmp_path: Path
) -> None:
    (settings.folder / SECRET_FILE).rename(tmp_path / "elsewhere")
    write(settings, tmp_path / "backup.zip")
    with_key = Settings(data=empty.data, database=empty.database, secret_key=SECRET)
    with pytest.raises(Invalid, match="has no signature"):
        load(with_key, tmp_path / "backup.zip")
    assert not load(with_key, tmp_path / "backup.zip", unsigned=True).is_signed


@pytest.mark.parametrize(
    "change",
    [
        lambda name, data: data.replace(b'"format": 1', b'"format": 2'),
        lambda name, data: data.replace(b'"migrations/0001', b'"migrations/9001'),
    ],
    ids=["format", "migration"],
)
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_backup_of_a_newer_version_is_refused(
    settings: Settings,
    place: Fixture,
    empty: Settings,
    tmp_path: Path,
    change: Callable[[str, bytes], bytes],
) -> None:
    write(settings, tmp_path / "backup.zip")
    rewrite(tmp_path / "backup.zip", change, seals=True)
    with pytest.raises(Invalid, match="newer"):
        load(empty, tmp_path / "backup.zip")
    assert not empty.folder.exists()


def test_a_backup_of_the_other_engine_is_refused(
    settings: Settings, place: Fixture, tmp_path: Path
) -> None:
    write(settings, tmp_path / "backup.zip")
    other = Settings(data=str(tmp_path / "other"))
    if not settings.database:
        other.database = "postgresql://localhost:1/none"
    with pytest.raises(Conflict, match="it cannot be restored into"):
        load(other, tmp_path / "backup.zip")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_the_key_is_included_with_a_passphrase(
    settings: Settings, place: Fixture, empty: Settings, tmp_path: Path
) -> None:
    with pytest.raises(Invalid, match="12 characters"):
        write(settings, tmp_path / "backup.zip", passphrase="short")
    assert write(settings, tmp_path / "backup.zip", passphrase=PASSPHRASE).key == ""
    assert SECRET.encode() not in (tmp_path / "backup.zip").read_bytes()
    with archive.open_backup(tmp_path / "backup.zip") as reader:
        assert reader.manifest.key == f"{key_part.NAME} in this file"
    with pytest.raises(Invalid, match="passphrase is wrong"):
        load(empty, tmp_path / "backup.zip", "another passphrase")
    assert not empty.folder.exists()
    restored = load(empty, tmp_path / "backup.zip", PASSPHRASE)
    assert (restored.missing_key, restored.is_signed) == ("", True)
    original = key_file.load(settings.folder)
    assert key_file.load(empty.folder).keys.digest("x") == original.keys.digest("x")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_key_that_was_dropped_since_the_backup_is_restored(
    settings: Settings, place: Fixture, empty: Settings, tmp_path: Path
) -> None:
    old = key_file.load(settings.folder)
    secret = old.keys.seal("text", "record")
    write(settings, tmp_path / "backup.zip", passphrase=PASSPHRASE)
    rotated = key_file.with_new_key(old)
    current = KeyFile(rotated.hash, {rotated.newest: rotated.seals[rotated.newest]})
    by_setting = Settings(data=empty.data, secret_key=current.text())
    with pytest.raises(Conflict, match=r"BELVEDERE_SECRET_KEY lacks a key"):
        load(by_setting, tmp_path / "backup.zip", PASSPHRASE)
    assert not empty.folder.exists()
    empty.folder.mkdir(mode=0o700)
    key_file.write(empty.folder, current)
    fail_to_restore(empty, tmp_path / "backup.zip")
    assert key_file.load(empty.folder) == current
    load(empty, tmp_path / "backup.zip", PASSPHRASE)
    keys = key_file.load(empty.folder)
    assert keys == rotated
    assert keys.keys.unseal(secret, "record") == "text"


def fail_to_restore(settings: Settings, source: Path, name: str = "") -> None:
    """At the first report of this name, or the first that is not about the check."""

    def stop(part: str, done: int, total: int) -> None:
        if part == name or not (name or part.startswith("verify")):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        restore_backup(settings, source, lambda: PASSPHRASE, stop)


def test_an_error_around_the_commit_never_removes_the_key(
    settings: Settings,
    place: Fixture,
    empty: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(settings, tmp_path / "backup.zip", passphrase=PASSPHRASE)
    if settings.database:
        fail_to_restore(empty, tmp_path / "backup.zip", "analyze")
        assert not (empty.folder / SECRET_FILE).exists()
    load_backup = copy.load_backup

    def load_and_fail(*args: Any) -> int:
        load_backup(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(copy, "load_backup", load_and_fail)
    with pytest.raises(KeyboardInterrupt):
        load(empty, tmp_path / "backup.zip", PASSPHRASE)
    assert count_jobs(empty) == 2
    assert key_file.load(empty.folder).keys.digest("x") == key_file.load(
        settings.folder
    ).keys.digest("x")


def kill_restore(settings: Settings, source: Path, point: str) -> None:
    words = [sys.executable, "-m", "belvedere.cli.main", "restore", str(source)]
    killed = subprocess.run(
        [*words, "--data", settings.data],
        env={"BELVEDERE_FAILPOINT": point, "BELVEDERE_DATABASE": settings.database},
        capture_output=True,
    )
    assert killed.returncode == -9, killed


def put_back(path: Path) -> None:
    """As a new file in place of another."""
    path.unlink(missing_ok=True)
    path.write_bytes(b"original")


def overwrite(path: Path) -> None:
    """The content of a file that stays the same."""
    path.write_bytes(b"original")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", ["belvedere.db", "belvedere.db-wal", "logs.db"])
@pytest.mark.parametrize("replace", [put_back, overwrite])
@pytest.mark.parametrize("point", ["restore extracted", "restore renamed:2"])
def test_files_put_back_after_a_killed_restore_are_not_deleted(
    settings: Settings,
    place: Fixture,
    empty: Settings,
    tmp_path: Path,
    point: str,
    replace: Callable[[Path], None],
    name: str,
) -> None:
    write(settings, tmp_path / "backup.zip")
    kill_restore(empty, tmp_path / "backup.zip", point)
    replace(empty.folder / name)
    if name.endswith("-wal"):
        (empty.folder / "belvedere.db").unlink(missing_ok=True)
    with pytest.raises(Unavailable, match=r"remove .*restore\.incomplete"):
        open_databases(empty)
    with pytest.raises(Conflict, match=rf"{name} already exists.*remove .*restore\.incomplete"):
        load(empty, tmp_path / "backup.zip")
    assert (empty.folder / name).read_bytes() == b"original"


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_another_database_is_not_deleted_after_a_killed_restore(
    settings: Settings, place: Fixture, empty: Settings, tmp_path: Path
) -> None:
    write(settings, tmp_path / "backup.zip")
    kill_restore(empty, tmp_path / "backup.zip", "restore extracted")
    live = tmp_path / "live.db"
    live.write_bytes(b"original")
    with pytest.raises(Conflict, match="the same --database"):
        load(Settings(data=empty.data, database=f"sqlite://{live}"), tmp_path / "backup.zip")
    # The marker of an older version is empty.
    (empty.folder / copy.MARKER).write_bytes(b"")
    with pytest.raises(Conflict, match=r"live\.db already exists"):
        load(Settings(data=empty.data, database=f"sqlite://{live}"), tmp_path / "backup.zip")
    assert live.read_bytes() == b"original"


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_old_backups_are_deleted_and_other_files_are_not(
    settings: Settings, place: Fixture, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    target = folder / "night.zip"
    names = [rotation.add_time(target, datetime(2026, 1, day, tzinfo=UTC)) for day in range(1, 5)]
    for path in names:
        write(settings, path)
    other_files = ("night-20250101T000000Z.zip", "night-notes.zip", "day-20250101T000000Z.zip")
    for name in other_files:
        (folder / name).write_text("not a backup")
    (folder / "night-20260101T000001Z.zip.partial").touch()
    (folder / "night-20260101T000001Z.zip.partial.logs.db").touch()
    rotation.remove_interrupted(target)
    assert rotation.remove_old(target, 2) == [str(path) for path in names[:2]]
    rest = sorted(path.name for path in folder.iterdir())
    assert rest == sorted([*other_files, *(path.name for path in names[2:])])


def test_backups_repeat_after_the_newest_one_and_after_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "night.zip"
    waits: list[float] = []
    monkeypatch.setattr(rotation, "sleep", waits.append)
    outcomes: Iterator[BackupRecord | Refused] = iter([Unavailable("no"), RECORD])

    def run(path: Path) -> BackupRecord:
        outcome = next(outcomes)
        if isinstance(outcome, Refused):
            raise outcome
        path.touch()
        return outcome

    repeated = rotation.repeat(target, 3_600, run)
    assert isinstance(next(repeated), Unavailable)
    assert isinstance(next(repeated), BackupRecord)
    with pytest.raises(StopIteration):
        next(outcomes)
    with pytest.raises(RuntimeError):
        next(repeated)
    assert waits[:3] == [0.0, 300.0, 0.0]
    assert 3_590 < waits[3] <= 3_600


def test_a_clock_that_was_set_back_does_not_stop_backups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(rotation, "sleep", waits.append)
    rotation.add_time(tmp_path / "night.zip", datetime(2999, 1, 1, tzinfo=UTC)).touch()
    next(rotation.repeat(tmp_path / "night.zip", 3_600, lambda _: RECORD))
    assert waits == [3_600]


def test_a_name_without_a_valid_time_does_not_stop_backups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(rotation, "sleep", waits.append)
    (tmp_path / "night-99999999T999999Z.zip").touch()
    next(rotation.repeat(tmp_path / "night.zip", 3_600, lambda _: RECORD))
    assert waits == [0.0]


def test_a_fifo_does_not_block_backups(tmp_path: Path) -> None:
    target = tmp_path / "night.zip"
    paths = (
        tmp_path / "night-20260101T000000Z.zip",
        tmp_path / "night-20260101T000000Z.zip.partial",
    )
    for path in paths:
        os.mkfifo(path)
    rotation.remove_interrupted(target)
    assert rotation.remove_old(target, 1) == []
    assert all(path.exists() for path in paths)


def test_the_search_index_is_complete_after_a_restore(
    settings: Settings, place: Fixture, db: Database, empty: Settings, tmp_path: Path
) -> None:
    """SQLite copies its file; on PostgreSQL the index is not in the backup, but filled again."""
    db.write_blocking(progress.start)
    db.write_blocking(progress.add_older)
    write(settings, tmp_path / "backup.zip")
    load(empty, tmp_path / "backup.zip")
    with peek(empty.database_url) as restored:
        assert restored.read(progress.is_complete) == (not settings.database)
    db, logs = open_databases(empty)
    try:
        db.write_blocking(progress.start)
        db.write_blocking(progress.add_older)
        assert db.write_blocking(progress.is_complete)
        assert db.write_blocking(lambda tx: tx.value("select count(*) from job_search")) == 2
    finally:
        engines.close(db)
        if logs is not db:
            engines.close(logs)
