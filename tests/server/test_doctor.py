"""`doctor` finds problems, says what to do, and changes nothing."""

import asyncio
import resource
import shutil
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from belvedere.access.crypto.keyring import Keyring
from belvedere.base.clock import DAY, SECOND, wall
from belvedere.base.errors import Unavailable
from belvedere.bench.measure import fixture
from belvedere.bench.measure.fixture import Fixture
from belvedere.bench.measure.history_data import skip_events
from belvedere.db import Database, Tx, installation
from belvedere.db.backup import restore_marker
from belvedere.db.backup.restore_marker import RestoreSource
from belvedere.db.migrate import migrate, open_database
from belvedere.db.readonly import peek
from belvedere.db.transfer import marks
from belvedere.db.transfer.marks import Mark
from belvedere.events import Event, cursors
from belvedere.hosts import journal_warnings
from belvedere.hosts.journal_warnings import JournalProblem
from belvedere.jobs.output import log_store
from belvedere.jobs.recovery import restore
from belvedere.server import doctor, operator_socket
from belvedere.server.backup import create
from belvedere.server.doctor import backups, consumers, data, environment, examine, examine_quickly
from belvedere.server.doctor.api import Examination
from belvedere.server.doctor.backups import LastBackup
from belvedere.server.doctor.model import MAX_FAULTS, Finding, Installation
from belvedere.server.runtime import ServerRuntime
from belvedere.server.transport.proxies import Proxies
from belvedere.server.upgrade import check_upgrade
from belvedere.settings import Settings
from contract.world import World

SECRET = bytes(range(32)).hex()


@pytest.fixture
def settings(
    database_url: str, engine: str, tmp_path: Path, db: Database, logs: Database, keys: Keyring
) -> Settings:
    """An installation with a server that holds its databases open."""
    for path in (tmp_path, *tmp_path.iterdir()):
        path.chmod(0o700 if path.is_dir() else 0o600)
    db.write_blocking(keys.verify_database)
    database = database_url if engine == "postgres" else ""
    return Settings(data=str(tmp_path), database=database, secret_key=SECRET)


@pytest.fixture
def bench_fixture(db: Database) -> Fixture:
    return db.write_blocking(fixture.create_fixture)


def run_one(tx: Tx, place: Fixture) -> str:
    job_id = fixture.create(tx, place)
    [claimed] = fixture.claim(tx, place)
    fixture.finish(tx, place, claimed.job.fence)
    return job_id


def found_by(check: str, settings: Settings) -> list[Finding]:
    return [finding for finding in examine(settings) if finding.check == check]


def problems_of(check: str, settings: Settings) -> list[str]:
    return [item.message for item in found_by(check, settings) if item.verdict == "problem"]


def test_a_sound_database_has_no_problem(
    settings: Settings, db: Database, bench_fixture: Fixture
) -> None:
    for _ in range(3):
        db.write_blocking(run_one, bench_fixture)
    db.write_blocking(fixture.create, bench_fixture)
    findings = examine(settings)
    # The PostgreSQL of the tests works without fsync on purpose.
    bad = [
        finding
        for finding in findings
        if finding.verdict == "problem" and finding.check != "durability"
    ]
    assert bad == []
    assert "4 jobs match their events and attempts." in [finding.message for finding in findings]


def test_every_problem_says_what_to_do(settings: Settings, db: Database) -> None:
    db.write_blocking(lambda tx: tx.execute("delete from migrations where name like '%0007%'"))
    assert all(item.advice for item in examine(settings) if item.verdict != "ok")


def test_a_job_that_contradicts_its_events_is_a_problem(
    settings: Settings, db: Database, bench_fixture: Fixture
) -> None:
    job_id = db.write_blocking(run_one, bench_fixture)
    db.write_blocking(lambda tx: tx.execute("update jobs set version = 9 where id = ?", job_id))
    [problem] = problems_of("jobs", settings)
    assert job_id in problem


def test_every_job_of_several_batches_is_checked(
    settings: Settings, db: Database, bench_fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "BATCH", 2)
    job_ids = [db.write_blocking(run_one, bench_fixture) for _ in range(5)]
    db.write_blocking(lambda tx: tx.execute("update jobs set version = 9"))
    problems = problems_of("jobs", settings)
    assert [job_id for job_id in job_ids if not any(job_id in line for line in problems)] == []


def test_further_faults_are_only_counted(
    settings: Settings, db: Database, bench_fixture: Fixture
) -> None:
    for _ in range(12):
        db.write_blocking(run_one, bench_fixture)
    db.write_blocking(lambda tx: tx.execute("update jobs set version = 9"))
    problems = problems_of("jobs", settings)
    assert len(problems) == 11
    assert problems[-1] == "2 more like this."


def test_an_attempt_without_its_job_is_a_problem(
    settings: Settings, db: Database, bench_fixture: Fixture
) -> None:
    job_id = db.write_blocking(run_one, bench_fixture)
    db.write_blocking(lambda tx: tx.execute("delete from jobs"))
    [problem] = problems_of("attempts", settings)
    assert job_id in problem


def test_a_log_that_lost_a_piece_is_a_problem(settings: Settings, logs: Database) -> None:
    logs.write_blocking(log_store.append, [log_store.LogPiece(7, "j", 0, 0, b"one\n")])
    logs.write_blocking(log_store.append, [log_store.LogPiece(7, "j", 4, 1, b"two\n")])
    assert problems_of("logs", settings) == []
    logs.write_blocking(lambda tx: tx.execute("delete from log_chunks where at_byte = 0"))
    assert problems_of("logs", settings) == ["Log 7: 8 bytes were recorded, 4 are stored."]


def test_a_log_that_lacks_output_is_reported_with_its_job(
    settings: Settings, logs: Database
) -> None:
    logs.write_blocking(log_store.append, [log_store.LogPiece(7, "whole", 0, 0, b"one\n")])
    logs.write_blocking(log_store.close, log_store.LogEnd(7, "whole", 4, 1, "ab" * 32))
    # Long logs are cut in the middle, which is correct.
    logs.write_blocking(log_store.close, log_store.LogEnd(8, "long", 99 << 20, 1, "ab" * 32))
    number = log_store.MAX_KEPT_BYTES - 1000
    logs.write_blocking(
        lambda tx: tx.execute("update logs set bytes_kept = ? where fence = 8", number)
    )
    assert found_by("gaps", settings) == []
    logs.write_blocking(log_store.close, log_store.LogEnd(9, "empty", 12, 1, "ab" * 32))
    [finding] = found_by("gaps", settings)
    assert (finding.verdict, "Latest jobs: empty." in finding.message) == ("notice", True)


def test_output_without_a_log_is_a_problem(settings: Settings, logs: Database) -> None:
    logs.write_blocking(log_store.append, [log_store.LogPiece(7, "j", 0, 0, b"one\n")])
    logs.write_blocking(lambda tx: tx.execute("delete from logs"))
    assert problems_of("logs", settings) == ["Attempt 7 has output, but no log."]


def test_a_log_is_no_stray_while_its_job_is_there(
    settings: Settings, db: Database, logs: Database, bench_fixture: Fixture
) -> None:
    job_id = db.write_blocking(run_one, bench_fixture)
    logs.write_blocking(log_store.append, [log_store.LogPiece(7, job_id, 0, 0, b"one\n")])
    assert found_by("purging", settings) == []


def test_an_orphaned_log_is_reported_after_a_moment(
    settings: Settings, database_url: str, tmp_path: Path, engine: str, logs: Database
) -> None:
    logs.write_blocking(log_store.append, [log_store.LogPiece(7, "gone", 0, 0, b"one\n")])
    waited: list[float] = []
    where = database_url if engine == "postgres" else str(tmp_path / "logs.db")
    with peek(database_url) as main, peek(where) as store:
        assert len(data.find_orphaned_logs(main, store, waited.append)) == 1
        forget = lambda _: logs.write_blocking(log_store.delete, ["gone"])  # noqa: E731
        assert data.find_orphaned_logs(main, store, forget) == []
    assert waited == [data.PURGE_DELAY_S]


def test_an_event_that_was_set_aside_is_a_problem(settings: Settings, db: Database) -> None:
    event = Event(5, 0, 0, "c", "host.deleted", "host", "h", "{}")
    db.write_blocking(
        lambda tx: cursors.set_aside(tx, "jobs of deleted hosts expire", event, "ValueError()")
    )
    [problem] = problems_of("reactions", settings)
    assert "event 5" in problem and "ValueError()" in problem


def test_a_consumer_without_progress_is_a_problem(
    settings: Settings, db: Database, bench_fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "is_running", lambda _: True)
    db.write_blocking(skip_events)
    db.write_blocking(run_one, bench_fixture)
    assert [item.verdict for item in found_by("consumers", settings)] == ["ok"]
    db.write_blocking(lambda tx: tx.execute("update events set at = at - ?", consumers.MAX_WAIT))
    [message] = problems_of("consumers", settings)
    assert "'people are told' has not processed an event" in message
    # Without a server no consumer can proceed.
    monkeypatch.setattr(consumers, "is_running", lambda _: False)
    [finding] = found_by("consumers", settings)
    assert (finding.verdict, finding.advice) == ("notice", "It continues when the server starts.")


def test_a_silent_host_is_a_notice(
    settings: Settings, db: Database, bench_fixture: Fixture
) -> None:
    assert [item.verdict for item in found_by("hosts", settings)] == ["ok"]
    db.write_blocking(lambda tx: tx.execute("update hosts set connected_at = null"))
    [finding] = found_by("hosts", settings)
    assert finding.verdict == "notice"
    assert "bench" in finding.message


def test_a_refused_and_a_rolled_back_journal_are_reported(
    settings: Settings, db: Database, bench_fixture: Fixture
) -> None:
    assert found_by("journals", settings) == []
    db.write_blocking(journal_warnings.note_rolled_back, bench_fixture.host_id)
    db.write_blocking(journal_warnings.note_refused, bench_fixture.host_id, "Run mark-restored.")
    refused, rolled_back = found_by("journals", settings)
    assert (refused.verdict, rolled_back.verdict) == ("problem", "notice")
    assert "Run mark-restored." in refused.message
    assert "belvedere job list --host bench --state lost" in rolled_back.advice


def test_a_restore_that_only_an_agent_has_shown_is_reported(
    settings: Settings, db: Database, bench_fixture: Fixture
) -> None:
    """Also if it holds no job."""
    assert [finding.verdict for finding in found_by("restore", settings)] == ["ok"]
    newest = db.write_blocking(installation.newest_fence)
    db.write_blocking(restore.hold_for_host, bench_fixture.host_id, newest + 5)
    [finding] = found_by("restore", settings)
    assert finding.verdict == "notice"
    assert "`belvedere mark-restored`" in finding.message and "No job is held." in finding.message


def test_many_hosts_with_the_same_fault_are_counted(
    settings: Settings, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = [(f"web-{n}", "acme", None) for n in range(500)]
    monkeypatch.setattr(environment, "_silent_hosts", lambda tx: silent)
    findings = found_by("hosts", settings)
    assert len(findings) == MAX_FAULTS + 1
    assert findings[-1].message == "490 more findings of this kind."
    rolled_back = [JournalProblem(f"web-{n}", "acme", None, "", 1) for n in range(500)]
    refused = JournalProblem("db-1", "acme", 1, "Run mark-restored.", None)
    monkeypatch.setattr(journal_warnings, "problems", lambda tx: [*rolled_back, refused])
    findings = found_by("journals", settings)
    assert [finding.verdict for finding in findings] == ["problem", *["notice"] * MAX_FAULTS]
    assert findings[-1].message == "491 more findings of this kind."


def test_an_event_of_tomorrow_is_a_problem(
    settings: Settings, db: Database, bench_fixture: Fixture
) -> None:
    db.write_blocking(lambda tx: tx.execute("update events set at = ?", tx.now + DAY))
    [problem] = problems_of("clock", settings)
    assert "in the future" in problem


@pytest.mark.parametrize("seconds", [-60, 60])
def test_a_clock_that_differs_from_postgresql_is_a_problem(
    settings: Settings, engine: str, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    assert problems_of("clock", settings) == []
    monkeypatch.setattr(doctor, "wall", lambda: wall() + seconds * SECOND)
    problems = [text for text in problems_of("clock", settings) if "PostgreSQL" in text]
    # SQLite has no clock of its own.
    assert len(problems) == (engine == "postgres")
    assert all("differ by 60 s" in text or "differ by 59 s" in text for text in problems)


@pytest.mark.parametrize(("free", "verdict"), [(1 << 30, "ok"), ((1 << 30) - 1, "problem")])
def test_a_full_disk_is_a_problem(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, free: int, verdict: str
) -> None:
    paths: list[Path] = []

    def measure(path: Path) -> SimpleNamespace:
        paths.append(path)
        return SimpleNamespace(free=free)

    monkeypatch.setattr(shutil, "disk_usage", measure)
    assert verdicts_of("disk", settings) == [verdict]
    assert paths == [settings.folder]


def test_an_undeclared_proxy_is_a_notice(settings: Settings, db: Database) -> None:
    assert verdicts_of("proxies", settings) == ["ok"]
    proxies = Proxies("", wall)
    for peer in ("203.0.113.1", "203.0.113.2"):
        proxies.record(peer)
    db.write_blocking(proxies.save)
    assert verdicts_of("proxies", settings) == ["notice", "notice"]
    settings.proxies = "203.0.113.1"
    [finding] = found_by("proxies", settings)
    assert "203.0.113.2" in finding.message and "203.0.113.2" in finding.advice


def test_another_key_is_a_problem(settings: Settings) -> None:
    settings.secret_key = "ff" * 32
    assert problems_of("key", settings) == ["The secret key belongs to another database."]


def test_a_missing_key_is_a_problem_and_none_is_created(settings: Settings, tmp_path: Path) -> None:
    settings.secret_key = ""
    assert len(problems_of("key", settings)) == 1
    assert not (tmp_path / "secret.key").exists()


def test_a_key_that_others_can_read_is_a_problem(settings: Settings, tmp_path: Path) -> None:
    settings.secret_key = ""
    (tmp_path / "secret.key").write_text(SECRET)
    (tmp_path / "secret.key").chmod(0o644)
    [problem] = problems_of("key", settings)
    assert "chmod 600" in problem


def test_a_folder_that_others_can_read_is_a_problem(settings: Settings, tmp_path: Path) -> None:
    assert problems_of("permissions", settings) == []
    tmp_path.chmod(0o755)
    [problem] = problems_of("permissions", settings)
    assert str(tmp_path) in problem


def test_a_schema_of_another_version_ends_it(settings: Settings, db: Database) -> None:
    db.write_blocking(
        lambda tx: tx.execute("insert into migrations (name, at) values ('logs/9999', 0)")
    )
    db.write_blocking(lambda tx: tx.execute("delete from migrations where name like '%0007%'"))
    findings = examine(settings)
    # On SQLite the log store has a list of its own.
    expected = ["Migrations not applied"] + (["Unknown migrations"] if settings.database else [])
    assert [item.message.partition(":")[0] for item in findings] == expected


def test_a_database_that_was_moved_has_no_other_finding(settings: Settings, db: Database) -> None:
    db.write_blocking(lambda tx: tx.execute("delete from migrations where name like '%0007%'"))
    db.write_blocking(marks.write, Mark("m", marks.MOVED, "elsewhere", wall()))
    [finding] = examine(settings)
    assert (finding.check, finding.verdict) == ("schema", "problem")
    assert "moved to elsewhere" in finding.message


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_restore_that_is_running_is_the_only_finding(settings: Settings, db: Database) -> None:
    """It has locked every other table."""

    def begin_restore(tx: Tx) -> None:
        restore_marker.create_table(tx)
        restore_marker.write_source(tx, RestoreSource(None, "", [], []))

    db.write_blocking(begin_restore)
    with closing(db.connect()) as restoring:  # type: ignore[attr-defined]
        restoring.execute("lock table migrations, meta, jobs, hosts in access exclusive mode")
        [finding] = examine(settings)
        assert "restore" in finding.message
        report = check_upgrade(settings)
        assert (report.findings, report.ready) == (
            [Finding("database", "problem", finding.message, finding.advice)],
            False,
        )


def test_a_damaged_page_is_a_problem(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    for name, folder in (("belvedere.db", "migrations"), ("logs.db", "logs")):
        db = open_database(str(tmp_path / name))
        migrate(db, folder)
        if folder == "migrations":
            place = db.write_blocking(fixture.create_fixture)
            for _ in range(50):
                db.write_blocking(run_one, place)
        asyncio.run(db.close())
    _damage(tmp_path / "belvedere.db", "attempts")
    settings = Settings(data=str(tmp_path), secret_key=SECRET)
    assert problems_of("integrity", settings) != []


def _damage(path: Path, table: str) -> None:
    """Overwrite the first page of a table."""
    with peek(str(path)) as read_only_database:
        page, size = read_only_database.read(
            lambda tx: (
                tx.value("select rootpage from sqlite_schema where name = ?", table),
                tx.value("pragma page_size"),
            )
        )
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def test_doctor_changes_nothing(settings: Settings, db: Database, bench_fixture: Fixture) -> None:
    db.write_blocking(run_one, bench_fixture)
    before = db.write_blocking(_everything)
    examine(settings)
    assert db.write_blocking(_everything) == before


def _everything(tx: Tx) -> list[object]:
    tables = ("jobs", "attempts", "events", "meta", "hosts", "parked", "migrations")
    return [tx.value(f"select count(*) from {table}") for table in tables]


# Backups, descriptors, epoch.


def verdicts_of(check: str, settings: Settings) -> list[str]:
    return [finding.verdict for finding in found_by(check, settings)]


def test_the_age_of_the_last_backup(settings: Settings, tmp_path: Path) -> None:
    assert verdicts_of("backup", settings) == ["notice"]
    create.back_up(settings, tmp_path / "a.backup", lambda *_: None)
    assert verdicts_of("backup", settings) == ["ok"]
    backups.record(tmp_path, LastBackup(wall() - 3 * DAY, "old.backup", 1))
    [finding] = found_by("backup", settings)
    assert finding.verdict == "problem" and "--every 1d" in finding.advice
    backups.record(tmp_path, LastBackup(wall() + DAY, str(tmp_path / "a.backup"), 1))
    [finding] = found_by("backup", settings)
    assert finding.verdict == "problem" and "in the future" in finding.advice
    backups.record(tmp_path, LastBackup(wall(), str(tmp_path / "deleted.backup"), 1))
    [finding] = found_by("backup", settings)
    assert finding.verdict == "notice" and "no longer there" in finding.message
    (tmp_path / backups.FILE).write_text("nonsense")
    assert verdicts_of("backup", settings) == ["notice"]


def test_a_backup_that_cannot_be_recorded_is_still_a_backup(tmp_path: Path) -> None:
    backups.record(tmp_path / "missing", LastBackup(1, "x", 1))
    assert backups.read(tmp_path / "missing") is None


@pytest.mark.parametrize(
    ("count", "limit", "verdict"),
    [(100, 4_096, "ok"), (4_000, 4_096, "problem"), (9, 256, "notice")],
)
def test_descriptors_of_the_server(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    limit: int,
    verdict: str,
) -> None:
    answers = {"/descriptors": {"open": count, "limit": limit}}
    monkeypatch.setattr(environment, "_ask_server", lambda _, path: answers.get(path))
    assert verdicts_of("descriptors", settings) == [verdict]


async def test_a_running_server_reports_its_descriptors(runtime: ServerRuntime) -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]

    nothing: Any = None
    installation = Installation(runtime.settings, nothing, nothing, 0, lambda *_: None)

    def examine_descriptors() -> list[Finding]:
        return list(environment.descriptors(installation))

    assert await asyncio.to_thread(examine_descriptors) == []
    async with await operator_socket.listen(runtime):
        [finding] = await asyncio.to_thread(examine_descriptors)
    assert f" of {limit} file descriptors" in finding.message


async def test_a_server_runs_in_a_folder_with_a_long_path(
    runtime: ServerRuntime, tmp_path: Path
) -> None:
    """The address of a Unix socket has at most 107 bytes."""
    runtime.settings.data = str(tmp_path / ("x" * 120))
    runtime.settings.folder.mkdir()
    nothing: Any = None
    installation = Installation(runtime.settings, nothing, nothing, 0, lambda *_: None)
    async with await operator_socket.listen(runtime):
        assert environment.is_running(installation)
    assert not environment.is_running(installation)


# On SQLite the counter of fences is the newest attempt itself.
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_an_attempt_of_a_later_epoch_is_a_problem(
    settings: Settings, db: Database, bench_fixture: Fixture
) -> None:
    db.write_blocking(run_one, bench_fixture)
    assert verdicts_of("epoch", settings) == ["ok"]
    future = 99 << installation.EPOCH_BITS
    db.write_blocking(lambda tx: tx.execute("update attempts set fence = fence + ?", future))
    assert "epoch 1" in problems_of("epoch", settings)[0]


# Over HTTP, for owners.


async def test_owners_see_the_quick_checks(
    world: World, runtime: ServerRuntime, database_url: str, engine: str
) -> None:
    runtime.settings.database = database_url if engine == "postgres" else ""
    for who in ("vic", "uma", "ada"):
        assert (await world.client(who).get("/api/doctor")).status == 403
    assert (await world.client().get("/api/doctor")).status == 401
    report = (await world.client("olga").get("/api/doctor")).json
    checks = {finding["check"] for finding in report["findings"]}
    # There are two organizations: no check that names one of them.
    assert not report["complete"]
    assert {"schema", "clock", "epoch"} <= checks
    assert not checks & {"hosts", "permissions", "backup", "jobs", "logs"}


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_owners_do_not_see_the_address_of_the_database(
    runtime: ServerRuntime, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(settings: Settings) -> None:
        raise Unavailable("PostgreSQL reports: no route to db1")

    monkeypatch.setattr(doctor, "examine_quickly", fail)
    with pytest.raises(Unavailable) as refusal:
        await runtime.of(Examination).report()
    assert "db1" not in refusal.value.message
    assert "error=PostgreSQL reports: no route to db1" in caplog.text


def test_the_only_organization_sees_all_quick_checks(
    settings: Settings, db: Database, bench_fixture: Fixture
) -> None:
    findings, is_complete = examine_quickly(settings)
    checks = {finding.check for finding in findings}
    assert is_complete
    assert {"schema", "hosts", "permissions", "backup", "restore", "disk"} <= checks
    assert not checks & {"jobs", "logs", "integrity", "attempts"}
