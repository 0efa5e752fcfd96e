"""`belvedere upgrade --check`: what it reports, on both engines, and that it changes nothing."""

from pathlib import Path

import pytest

from belvedere import __version__
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.clock import DAY, wall
from belvedere.bench.measure import fixture
from belvedere.bench.measure.fixture import Fixture
from belvedere.db import Database, Tx, installation, migration_plan
from belvedere.db.backup import upgrade_copy
from belvedere.server.doctor import backups
from belvedere.server.doctor.backups import LastBackup
from belvedere.server.upgrade import check_upgrade, checks
from belvedere.settings import Settings

SECRET = bytes(range(32)).hex()
LAST = "migrations/0177_job_traces"


@pytest.fixture
def settings(
    database_url: str, engine: str, tmp_path: Path, db: Database, logs: Database, keys: Keyring
) -> Settings:
    db.write_blocking(keys.verify_database)
    database = database_url if engine == "postgres" else ""
    return Settings(data=str(tmp_path), database=database, secret_key=SECRET)


@pytest.fixture
def bench_fixture(db: Database) -> Fixture:
    return db.write_blocking(fixture.create_fixture)


def messages(check: str, settings: Settings, verdict: str = "problem") -> list[str]:
    return [
        item.message
        for item in check_upgrade(settings).findings
        if item.check == check and item.verdict == verdict
    ]


def forget(tx: Tx, name: str) -> None:
    tx.execute("delete from migrations where name = ?", name)


def set_agent_version(tx: Tx, version: str) -> None:
    tx.execute("update hosts set agent_version = ?", version)


def test_an_installation_of_this_version_is_ready(settings: Settings, db: Database) -> None:
    db.write_blocking(installation.record_version)
    report = check_upgrade(settings)
    assert (report.version, report.database_version) == (__version__, __version__)
    assert (report.pending, report.unknown, report.ready) == ([], [], True)


def test_a_pending_migration_is_described(settings: Settings, db: Database) -> None:
    db.write_blocking(forget, LAST)
    report = check_upgrade(settings)
    [pending] = report.pending
    assert pending.name == LAST
    assert "trace context" in pending.about
    assert (pending.may_be_slow, report.ready) == (False, True)
    assert db.write_blocking(migration_plan.list_pending, "migrations") == [pending]


def test_a_migration_of_a_large_table_may_be_slow(
    settings: Settings, db: Database, bench_fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "migrations/0165_job_queues"
    db.write_blocking(forget, name)
    assert [row.may_be_slow for row in check_upgrade(settings).pending] == [False]
    monkeypatch.setattr(migration_plan, "LARGE", 1)
    for _ in range(2):
        db.write_blocking(fixture.create, bench_fixture)
    [pending] = check_upgrade(settings).pending
    assert (pending.may_be_slow, pending.large_tables) == (True, ["jobs"])
    assert name in messages("migrations", settings, "notice")[0]


def test_a_migration_of_a_newer_version_is_a_problem(settings: Settings, db: Database) -> None:
    db.write_blocking(
        lambda tx: tx.execute("insert into migrations values ('migrations/9999_future', 0)")
    )
    report = check_upgrade(settings)
    assert (report.unknown, report.ready) == (["migrations/9999_future"], False)


def test_agents_that_are_too_old_or_too_new_are_problems(
    settings: Settings,
    db: Database,
    bench_fixture: Fixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checks, "__version__", "0.4.1")
    for version, count in (("0.4.1", 0), ("0.3.9", 0), ("0.2.9", 1), ("0.5.0", 1), ("1.0", 1)):
        db.write_blocking(set_agent_version, version)
        assert len(messages("agents", settings)) == count, version
    db.write_blocking(set_agent_version, "?" * 300)
    assert messages("agents", settings) == []
    assert len(messages("agents", settings, "notice")[0]) < 120


def test_running_jobs_are_counted(settings: Settings, db: Database, bench_fixture: Fixture) -> None:
    db.write_blocking(fixture.create, bench_fixture)
    db.write_blocking(fixture.claim, bench_fixture)
    [message] = messages("jobs", settings, "ok")
    assert message.startswith("1 jobs are running.")


def test_an_old_backup_is_a_problem(settings: Settings) -> None:
    backups.record(settings.folder, LastBackup(wall() - 3 * DAY, "/backup/x.zip", 5))
    assert check_upgrade(settings).ready is False
    backups.record(settings.folder, LastBackup(wall(), "/backup/x.zip", 5))
    assert check_upgrade(settings).ready is True


def test_a_disk_without_space_for_the_copy_is_a_problem(
    settings: Settings, db: Database, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrade_copy, "MARGIN", 1 << 60)
    assert messages("disk", settings) == []
    db.write_blocking(forget, LAST)
    assert len(messages("disk", settings)) == (1 if engine == "sqlite" else 0)
    settings.upgrade_copy = False
    assert messages("disk", settings) == []
    assert len(messages("disk", settings, "notice")) == (1 if engine == "sqlite" else 0)


def test_settings_without_effect_are_reported_by_name_only() -> None:
    environ = {"BELVEDERE_LEASH": "x", "BELVEDERE_PROT": "y", "BELVEDERE_PORT": "1", "HOME": "/"}
    findings = list(checks.review_environment(environ))
    assert [item.message for item in findings] == [
        "BELVEDERE_LEASH is deprecated.",
        "BELVEDERE_PROT is not a setting.",
    ]
