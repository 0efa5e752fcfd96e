"""`belvedere upgrade --check`: whether this version of the program can be started with the
database, and what has to be done before."""

import msgspec

from belvedere import __version__
from belvedere.base.clock import wall
from belvedere.db import Tx, installation
from belvedere.db.backup.copy import SQLITE
from belvedere.db.migrate import check_installed, table_exists
from belvedere.db.migration_plan import PendingMigration
from belvedere.db.transfer import marks
from belvedere.server.doctor import backups, environment, open_installation, run_check
from belvedere.server.doctor.model import Check, Finding, Installation, problem
from belvedere.server.upgrade import checks
from belvedere.settings import Settings

CHECKS = (
    Check("server", environment.server),
    Check("migrations", checks.migrations),
    Check("disk", checks.disk, SQLITE),
    Check("backup", backups.last_backup),
    Check("key", environment.key),
    Check("library", environment.sqlite_library, SQLITE),
    Check("agents", checks.agents),
    Check("jobs", checks.running_jobs),
    Check("settings", checks.environment_settings),
)


class UpgradeReport(msgspec.Struct):
    # Version of the program that runs the check.
    version: str
    engine: str
    # The version that migrated the database; empty: older than the first that records it.
    database_version: str
    pending: list[PendingMigration]
    # Migrations of a newer version.
    unknown: list[str]
    findings: list[Finding]
    # Whether no finding is a problem.
    ready: bool


def check_upgrade(settings: Settings) -> UpgradeReport:
    """Reads only; the server of the old version may be running."""
    with open_installation(settings) as (db, logs):
        # First: a restore has locked all other tables.
        refusal = db.read(marks.explain)
        if refusal is not None:
            findings = [problem("database", *refusal)]
            return UpgradeReport(__version__, db.dialect.name, "", [], [], findings, ready=False)
        db.read(check_installed)
        place = Installation(settings, db, logs, wall(), lambda *_: None, is_quick=True)
        findings = [
            finding
            for check in CHECKS
            if check.applies_to(place)
            for finding in run_check(check, place)
        ]
        return UpgradeReport(
            __version__,
            db.dialect.name,
            db.read(_database_version),
            checks.pending(place),
            checks.unknown(place),
            findings,
            all(finding.verdict != "problem" for finding in findings),
        )


def _database_version(tx: Tx) -> str:
    if not table_exists(tx, "meta"):
        return ""
    return installation.read(tx, installation.PROGRAM_VERSION) or ""
