"""An installation that is moved to the other database engine."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import sleep

import apsw
import psycopg
import pytest

import engines
from belvedere.access.crypto.keyring import SECRET_FILE, Keyring
from belvedere.base import failpoints
from belvedere.base.errors import Conflict, Invalid, Refused, Unavailable
from belvedere.bench.measure import fixture
from belvedere.bench.measure.fixture import Fixture
from belvedere.db import Database, Tx, installation
from belvedere.db.backup import postgres_tables
from belvedere.db.backup.copy import Location
from belvedere.db.interface import Row
from belvedere.db.postgres import connection
from belvedere.db.postgres import database as postgres_database
from belvedere.db.readonly import peek
from belvedere.db.sqlite.connection import connect
from belvedere.db.transfer import marks, postgres_ends
from belvedere.db.transfer.marks import Mark
from belvedere.db.transfer.run import TransferRecord, source_of
from belvedere.db.transfer.side import FullDisk
from belvedere.db.transfer.sqlite_side import report_errors
from belvedere.events import cursors
from belvedere.events import log as events
from belvedere.jobs.output import log_store
from belvedere.jobs.recovery import restore
from belvedere.server.transfer import moves
from belvedere.server.wiring import open_databases
from belvedere.settings import Settings

SECRET = bytes(range(32))
POINTS = (
    *("created", "batch", "copied", "recording", "constrained"),
    *("stopped", "compared", "verified", "completed", "moved"),
)
# They say how a database came to be, or belong to one engine.
OTHER_TABLES = {"migrations", "counters", "job_moves", "sqlite_sequence"}


class ProcessKill(BaseException):
    """Ends a transfer as SIGKILL does: nothing is cleaned up."""


@dataclass
class Installation:
    """With a finished job that has a log, and one that waits; its server can be stopped."""

    settings: Settings
    # How `--to` names the other engine, and the settings of a server that uses it.
    to: str
    moved: Settings
    place: Fixture
    databases: list[Database]

    @property
    def db(self) -> Database:
        return self.databases[0]

    def stop(self) -> None:
        while self.databases:
            engines.close(self.databases.pop())

    def move(
        self,
        steps: list[str] | None = None,
        *,
        is_copy_only: bool = False,
        before_stop: Callable[[], object] | None = None,
    ) -> TransferRecord:
        """`before_stop`: what the server still does when it is asked to stop."""

        def stop() -> None:
            if before_stop is not None:
                before_stop()
            self.stop()

        return moves.move(
            self.settings,
            self.to,
            lambda step, done, total: None if steps is None else steps.append(step),
            stop,
            is_copy_only=is_copy_only,
        )


@pytest.fixture
def place_of_installation(
    engine: str,
    database_url: str,
    tmp_path: Path,
    postgres_template: str,
    sqlite_logs_template: Path,
) -> Iterator[Installation]:
    (tmp_path / SECRET_FILE).write_text(SECRET.hex())
    (tmp_path / SECRET_FILE).chmod(0o600)
    with engines.postgres_copy(postgres_template) as empty:
        engines.empty_postgres(empty)
        urls = ["", empty] if engine == "sqlite" else [database_url, ""]
        if engine == "sqlite":
            shutil.copyfile(sqlite_logs_template, tmp_path / "logs.db")
        before, after = (Settings(data=str(tmp_path), database=url) for url in urls)
        db = engines.open_fast(before.database_url)
        logs = db if engine == "postgres" else engines.open_fast(str(tmp_path / "logs.db"))
        databases = [db] if logs is db else [db, logs]
        fixture_place = fill(db, logs)
        site = Installation(before, urls[1] or "sqlite", after, fixture_place, databases)
        yield site
        site.stop()


@pytest.fixture
def site(place_of_installation: Installation) -> Installation:
    return place_of_installation


def fill(db: Database, logs: Database) -> Fixture:
    db.write_blocking(Keyring(SECRET).verify_database)
    place = db.write_blocking(fixture.create_fixture)
    job_id = db.write_blocking(fixture.create, place)
    [claimed] = db.write_blocking(fixture.claim, place)
    piece = log_store.LogPiece(claimed.job.fence, job_id, 0, 0, b"a\\b\t\0\xff\n")
    logs.write_blocking(log_store.append, [piece])
    db.write_blocking(fixture.finish, place, claimed.job.fence)
    db.write_blocking(fixture.create, place)
    db.write_blocking(add_values, place)
    return place


def add_values(tx: Tx, place: Fixture) -> None:
    """Numbers and texts that the engines store in different ways, and a fence far above the
    newest attempt."""
    tx.value(tx.dialect.set_fence, installation.newest_fence(tx) + 1_000)
    for number, value in enumerate((0.1, -0.0, 1e300, 5e-324, 3.0, float("inf"))):
        tx.execute(
            "insert into monitor_rollups (monitor_id, metric, step, at, count, total, low, high)"
            " values ('ñ\t\\N', '😀', 1, ?, 1, ?, ?, -1.5)",
            *(number, value, value),
        )


def tables_of(settings: Settings) -> dict[str, list[tuple[object, ...]]]:
    logs = settings.database or str(settings.folder / "logs.db")
    with peek(settings.database_url) as db, peek(logs) as log_db:
        return {**log_db.read(list_tables), **db.read(list_tables)}


def list_tables(tx: Tx) -> dict[str, list[tuple[object, ...]]]:
    statement = (
        "select tablename from pg_tables where schemaname = 'public'"
        if tx.dialect.is_shared
        else "select name from sqlite_schema where type = 'table'"
    )
    names = {name for (name,) in tx.rows(statement)} - OTHER_TABLES
    # Each engine has its own search index, which the server fills.
    moved = sorted(name for name in names if not name.startswith("job_search"))
    return {name: list_rows(tx, name) for name in moved}


def list_rows(tx: Tx, table: str) -> list[tuple[object, ...]]:
    rows = tx.rows(f"select * from {table}")
    if table == "meta":
        rows = [
            row for row in rows if not row[0].startswith(("migration", "timeline", "database_mark"))
        ]
    # The numbers of transactions exist in PostgreSQL only.
    if table in ("events", "cursors"):
        rows = [(*row[:1], *row[2:]) for row in rows]
    return sorted((tuple(row) for row in rows), key=repr)


def check_moved(site: Installation) -> None:
    """Everything is in the new database, and a server continues there."""
    before, after = tables_of(site.settings), tables_of(site.moved)
    assert after.keys() == before.keys()
    assert {name for name in before if before[name] != after[name]} == set()
    with pytest.raises(Unavailable, match="was moved to"):
        open_databases(site.settings)
    check_use(site)


def check_use(site: Installation) -> None:
    with peek(site.settings.database_url) as old:
        fence = old.read(installation.newest_fence)
        event_id = old.read(events.newest)[1]
    db, logs = open_databases(site.moved)
    try:
        assert not db.write_blocking(restore.was_restored)
        [claimed] = db.write_blocking(fixture.claim, site.place)
        assert claimed.job.fence == fence + 1
        db.write_blocking(fixture.finish, site.place, claimed.job.fence)
        ids = db.write_blocking(lambda tx: tx.rows("select id from events order by id desc"))
        assert ids[0][0] > event_id
        assert len(ids) == len(set(ids))
    finally:
        for database in {id(db): db, id(logs): logs}.values():
            engines.close(database)


def test_everything_is_moved(site: Installation) -> None:
    site.stop()
    record = site.move()
    assert (record.is_complete, record.changed) == (True, 0)
    assert record.rows == sum(map(len, tables_of(site.settings).values()))
    check_schema(site)
    check_moved(site)
    assert (site.settings.folder / SECRET_FILE).read_text() == SECRET.hex()


def test_tables_of_other_programs_are_not_moved(site: Installation) -> None:
    """Litestream creates these in SQLite, without a primary key."""
    names = ("_litestream_seq", "_litestream_lock")
    for name in names:
        site.db.write_blocking(lambda tx: tx.execute(f"create table {name} (id int)"))  # noqa: B023
    assert site.move().is_complete
    before = tables_of(site.settings)
    assert tables_of(site.moved).keys() == before.keys() - set(names)
    check_use(site)


def check_schema(site: Installation) -> None:
    """Nothing of it is missing: it is that of a new database."""
    names = list_schema(site.moved)
    new = site.moved.folder / "new"
    url = ""
    if site.moved.database:
        url = engines.create_postgres(site.moved.database, "new")
    for database in {id(db): db for db in open_databases(Settings(str(new), url))}.values():
        engines.close(database)
    assert names == list_schema(Settings(data=str(new), database=url))
    if url:
        engines.drop_postgres(url)


def list_schema(settings: Settings) -> list[tuple[object, ...]]:
    with peek(settings.database_url) as db:
        return db.read(_list_schema)


def _list_schema(tx: Tx) -> list[tuple[object, ...]]:
    if not tx.dialect.is_shared:
        return tx.rows("select type, name, sql from sqlite_schema order by 1, 2")
    return tx.rows(
        "select indexdef from pg_indexes where schemaname = 'public' union all"
        " select conrelid::regclass || conname || pg_get_constraintdef(oid) from pg_constraint"
        " where connamespace = 'public'::regnamespace union all"
        " select tgname::text from pg_trigger where not tgisinternal order by 1"
    )


def test_changes_during_the_copy_are_moved(site: Installation) -> None:
    assert not site.move(is_copy_only=True).is_complete
    with pytest.raises(Unavailable, match="incomplete copy"):
        open_databases(site.moved)
    site.db.write_blocking(change, site.place)
    assert not site.move(is_copy_only=True).is_complete
    site.db.write_blocking(change, site.place)
    # A server runs until it is asked to stop.
    record = site.move(before_stop=lambda: site.db.write_blocking(change, site.place))
    assert record.is_complete
    assert record.changed > 0
    check_moved(site)


def test_changes_during_the_copy_are_copied_before_the_stop(
    site: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is copied again while the server runs; without a server, everything is compared once."""

    def change_after_copy(point: str) -> None:
        if point == "migrate copied":
            site.db.write_blocking(lambda tx: tx.execute("update tasks set name = name || 'x'"))

    monkeypatch.setattr(failpoints, "reach", change_after_copy)
    steps: list[str] = []
    record = site.move(steps)
    assert (record.is_complete, record.changed) == (True, 0)
    assert {"update", "compare"} <= {step.split()[0] for step in steps}
    check_moved(site)


def test_a_copy_is_compared_once_if_no_server_runs(site: Installation) -> None:
    site.move(is_copy_only=True)
    site.db.write_blocking(change, site.place)
    site.stop()
    steps: list[str] = []
    assert site.move(steps).is_complete
    assert "update" not in {step.split()[0] for step in steps}
    check_moved(site)


def change(tx: Tx, place: Fixture) -> None:
    """Rows that are new, changed and deleted, and a unique value that changes its owner."""
    fixture.create(tx, place)
    tx.execute("update tasks set name = name || 'x'")
    tx.execute("delete from monitor_rollups where at = (select min(at) from monitor_rollups)")
    tx.execute("update users set username = username || 'x', email = email || 'x'")
    tx.execute(
        "insert into users (id, email, username, created_at, updated_at)"
        " select '0' || id, substr(email, 1, length(email) - 1),"
        " substr(username, 1, length(username) - 1), 0, 0 from users order by id limit 1"
    )


def test_a_transfer_continues_after_every_kill(
    site: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    for point in POINTS:
        with monkeypatch.context() as patch:
            patch.setattr(failpoints, "reach", kill_at(f"migrate {point}"))
            with pytest.raises(ProcessKill):
                site.move()
        with pytest.raises(Unavailable, match="incomplete copy"):
            open_databases(site.moved)
        is_closed = POINTS.index(point) >= POINTS.index("stopped")
        assert bool(site.databases) is not is_closed
        if is_closed:
            with pytest.raises(Unavailable, match="was moved" if point == "moved" else "is being"):
                open_databases(site.settings)
    assert site.move().is_complete
    check_moved(site)
    with pytest.raises(Conflict, match="no unfinished copy.*If that move is complete, start"):
        site.move()


def kill_at(point: str) -> Callable[[str], None]:
    def reach(name: str) -> None:
        if name == point:
            raise ProcessKill

    return reach


def test_a_killed_move_can_be_given_up_and_begun_again(
    site: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source is used again in between; its rows are no longer those of the copy."""
    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "reach", kill_at("migrate completed"))
        with pytest.raises(ProcessKill):
            site.move()
    assert moves.reopen(site.settings).epoch is None
    db, logs = open_databases(site.settings)
    site.databases = [db] if logs is db else [db, logs]
    db.write_blocking(change, site.place)
    assert site.move().is_complete
    check_schema(site)
    check_moved(site)


def test_the_old_database_counts_as_a_restored_backup(site: Installation) -> None:
    site.stop()
    site.move()
    record = moves.reopen(site.settings)
    assert record.epoch == 2
    db, logs = open_databases(site.settings)
    site.databases = [db] if logs is db else [db, logs]
    assert db.write_blocking(restore.was_restored)
    site.stop()
    with pytest.raises(Conflict, match="was not moved"):
        moves.reopen(site.settings)


def test_a_changed_row_is_detected(site: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the comparison and the checksum of the whole table."""

    def tamper(name: str) -> None:
        if name == "migrate compared":
            execute(site, "update tasks set name = 'tampered'")

    site.stop()
    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "reach", tamper)
        with pytest.raises(Conflict, match=r"table tasks differs.*another checksum"):
            site.move()
    # The source can be used, and the next run repairs the copy.
    for database in {id(db): db for db in open_databases(site.settings)}.values():
        engines.close(database)
    assert site.move().is_complete
    check_moved(site)


def execute(site: Installation, statement: str) -> None:
    """In the target, by somebody else."""
    if site.moved.database:
        with psycopg.connect(site.moved.database) as connection:
            connection.execute(statement.encode())
        return
    with closing(connect(str(site.moved.folder / "belvedere.db"))) as file:
        file.execute(statement)


def test_a_full_disk_is_reported(site: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        if name == "migrate batch":
            raise FullDisk("the new database")

    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "reach", fail)
        with pytest.raises(Conflict, match="disk of the new database is full.*continues"):
            site.move()
    assert site.move().is_complete


def test_the_disks_of_both_files_of_sqlite_are_named(tmp_path: Path) -> None:
    location = Location(str(tmp_path / "fast" / "x.db"), tmp_path)
    text = f"disk of {tmp_path}/fast or {tmp_path} is full"
    with pytest.raises(FullDisk, match=text), report_errors(location):
        raise apsw.FullError


def test_a_target_with_data_is_refused(site: Installation) -> None:
    execute_on_empty(site)
    with pytest.raises(Conflict, match="not empty|already exists"):
        site.move()


def execute_on_empty(site: Installation) -> None:
    if site.moved.database:
        execute(site, "create table other (id bigint)")
    else:
        (site.moved.folder / "belvedere.db").write_text("something")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("insert into migrations values ('migrations/9999_new', 0)", "newer version"),
        ("delete from migrations where name like 'migrations/0177%'", "older version"),
    ],
)
def test_other_versions_of_the_source_are_refused(
    site: Installation, statement: str, message: str
) -> None:
    site.db.write_blocking(lambda tx: tx.execute(statement))
    with pytest.raises(Refused, match=message):
        site.move()


def test_a_copy_of_another_version_is_not_continued(site: Installation) -> None:
    site.move(is_copy_only=True)
    execute(site, "insert into migrations values ('migrations/9999_new', 0)")
    with pytest.raises(Conflict, match="begun by another version"):
        site.move()


def test_a_copy_of_another_installation_is_not_continued(site: Installation) -> None:
    site.move(is_copy_only=True)
    site.db.write_blocking(lambda tx: tx.execute("update meta set value = 'x'"))
    with pytest.raises(Conflict, match="incomplete copy of another database"):
        site.move()


def test_the_same_engine_is_refused(site: Installation) -> None:
    site.to = site.settings.database or "sqlite"
    with pytest.raises(Conflict, match="names the database that is moved"):
        site.move()
    site.to = f"{site.settings.database}x" if site.settings.database else "sqlite:///other.db"
    with pytest.raises(Conflict, match="belvedere restore"):
        site.move()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("to", "message"),
    [
        ("mysql://root:secret@db/belvedere", r"not mysql://…\."),
        ("sqlite://relative.db", "ABSOLUTE"),
        ("postgresql://u:secret@localhost:port/x", "PostgreSQL"),
        ("postgresql://u:secret@127.0.0.1:1/x", r"postgresql://127.0.0.1:1/x\) reports"),
    ],
)
def test_wrong_addresses_are_refused(site: Installation, to: str, message: str) -> None:
    site.to = to
    with pytest.raises((Invalid, Unavailable), match=message) as refusal:
        site.move()
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_text_that_postgresql_cannot_store_is_named(site: Installation) -> None:
    site.db.write_blocking(lambda tx: tx.execute("update tasks set name = 'a' || char(0)"))
    with pytest.raises(Invalid, match=r"table tasks \(id [0-9a-f]+\) has a NUL"):
        site.move()


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_events_that_were_committed_in_another_order_are_processed_once(
    site: Installation,
) -> None:
    """One consumer has processed the first two by transaction, another one all, and a third
    nothing."""
    site.db.write_blocking(write_events_out_of_order)
    site.db.write_blocking(lambda tx: cursors.save(tx, "two", (1 << 41, 1_003)))
    site.db.write_blocking(lambda tx: cursors.save(tx, "all", (1 << 42, 1_001)))
    site.db.write_blocking(lambda tx: cursors.save(tx, "none", (1 << 39, 0)))
    site.move()
    db, logs = open_databases(site.moved)
    try:
        kinds = {name: db.write_blocking(read_kinds, name) for name in ("none", "two", "all")}
    finally:
        engines.close(db)
        engines.close(logs)
    assert kinds == {"none": ["a", "b", "c"], "two": ["c"], "all": []}


def write_events_out_of_order(tx: Tx) -> None:
    for xid, event_id, kind in ((40, 1_002, "a"), (41, 1_003, "b"), (42, 1_001, "c")):
        tx.execute(
            "insert into events (id, xid, at, customer_id, kind, object, object_id, data)"
            " overriding system value values (?, ?, 0, '', ?, 'task', '', '{}')",
            *(event_id, 1 << xid, kind),
        )


def read_kinds(tx: Tx, name: str) -> list[str]:
    return [event.kind for event in cursors.take(tx, name, frozenset("abc"))]


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_server_that_connects_again_does_not_use_the_old_database(site: Installation) -> None:
    db, _ = open_databases(site.settings)
    engines.close(site.databases.pop())
    for opened in db._opened:  # type: ignore[attr-defined]
        opened.close()
    site.move()
    db.discard_idle()  # type: ignore[attr-defined]
    with pytest.raises(Unavailable, match="was moved to"):
        db.write_blocking(lambda tx: tx.value("select 1"))
    engines.close(db)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_only_servers_prevent_a_stop(site: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not `doctor`, nor a server that is refused again and again."""
    source = source_of(Location(site.settings.database_url, site.settings.folder))
    mark = source_mark("a", marks.CLOSED)
    assert not source.try_stop(mark)
    site.stop()
    with peek(site.settings.database_url) as db:
        db.read(lambda tx: tx.value("select 1"))
        assert source.try_stop(mark)
    names: list[str] = []
    connect_as = connection.open_connection

    def record_name(url: str, *, autocommit: bool, name: str) -> psycopg.Connection[Row]:
        names.append(name)
        return connect_as(url, autocommit=autocommit, name=name)

    monkeypatch.setattr(postgres_database, "open_connection", record_name)
    with pytest.raises(Unavailable, match="is being moved"):
        open_databases(site.settings)
    assert names == [connection.CHECK_NAME]


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_server_that_has_just_stopped_does_not_prevent_a_change(
    site: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = source_of(Location(site.settings.database_url, site.settings.folder))
    waits: list[float] = []
    monkeypatch.setattr(postgres_ends, "sleep", waits.append)
    with pytest.raises(Conflict, match="A server is running"):
        source.change(marks.clear)
    assert len(waits) == postgres_ends.LOOKS

    def stop(pause_s: float) -> None:
        """The processes of PostgreSQL end a moment later."""
        site.stop()
        sleep(pause_s)

    monkeypatch.setattr(postgres_ends, "sleep", stop)
    source.change(marks.clear)


def source_mark(move_id: str, state: str) -> Mark:
    return Mark(move_id, state, f"database {move_id}", 0)


def test_a_source_is_moved_to_one_database_only(site: Installation) -> None:
    """Another `belvedere migrate` may have waited for the stop in a second terminal."""
    db = site.db
    assert db.write_blocking(marks.mark_source, source_mark("a", marks.CLOSED)) is None
    moved = source_mark("a", marks.MOVED)
    assert db.write_blocking(marks.mark_source, moved) == source_mark("a", marks.CLOSED)
    with pytest.raises(Conflict, match="to database a, or is doing so"):
        db.write_blocking(marks.mark_source, source_mark("b", marks.CLOSED))
    assert db.write_blocking(marks.read) == moved


# A server that connects while the source is marked.
CONNECTS = "select count(*) from meta where name = 'migration' and value like '%closed%'"


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize("before", [None, source_mark("a", marks.MOVED)])
def test_a_server_that_connects_does_not_open_a_closed_source(
    site: Installation, monkeypatch: pytest.MonkeyPatch, before: Mark | None
) -> None:
    if before is not None:
        site.db.write_blocking(marks.write, before)
    monkeypatch.setattr(postgres_tables, "SERVERS", CONNECTS)
    source = source_of(Location(site.settings.database_url, site.settings.folder))
    assert not source.try_stop(source_mark("a", marks.CLOSED))
    assert site.db.write_blocking(marks.read) == before
