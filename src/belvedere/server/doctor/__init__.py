"""`belvedere doctor`: the table of all checks, and running them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from belvedere.base.clock import wall
from belvedere.base.errors import Refused
from belvedere.db.readonly import ReadOnlyDatabase, peek
from belvedere.server import scripts_user
from belvedere.server.doctor import backups, consumers, data, environment
from belvedere.server.doctor.model import Check, Finding, Installation, problem
from belvedere.settings import Settings

CHECKS = (
    Check("server", environment.server),
    Check("event loop", environment.event_loop),
    Check("descriptors", environment.descriptors),
    Check("permissions", environment.permissions),
    Check("scripts", environment.scripts),
    Check("key", environment.key),
    Check("disk", environment.disk),
    Check("backup", backups.last_backup),
    Check("library", environment.sqlite_library, "sqlite", is_public=True),
    Check("durability", environment.postgres_durability, "postgres", is_public=True),
    Check("clock", environment.clock, is_public=True),
    Check("clock", environment.postgres_clock, "postgres", is_public=True),
    Check("integrity", data.pages, "sqlite", is_quick=False),
    Check("jobs", data.jobs, is_quick=False),
    Check("attempts", data.attempts, is_quick=False),
    Check("epoch", data.epoch, is_public=True),
    Check("restore", data.restores),
    Check("journals", data.journals),
    Check("logs", data.logs, is_quick=False),
    Check("gaps", data.gaps),
    Check("purging", data.orphaned_logs, is_quick=False),
    Check("reactions", consumers.parked),
    Check("consumers", consumers.progress, is_public=True),
    Check("hosts", environment.hosts),
    Check("proxies", environment.undeclared_proxies),
)


def examine(
    settings: Settings, report: Callable[[str, int, int], None] = lambda *_: None
) -> list[Finding]:
    """The findings of all checks. A schema of another version ends it: the other checks would
    have no meaning."""
    with open_installation(settings) as (db, logs):
        return _examine(CHECKS, Installation(settings, db, logs, wall(), report))


def examine_quickly(settings: Settings) -> tuple[list[Finding], bool]:
    """The checks whose time does not grow with the database. In an installation with several
    organizations only those that name none of them, because owners see the findings; returns
    whether none was left out."""
    with open_installation(settings) as (db, logs):
        is_alone = db.read(scripts_user.organizations) <= 1
        checks = [check for check in CHECKS if check.is_quick and (check.is_public or is_alone)]
        installation = Installation(settings, db, logs, wall(), lambda *_: None, is_quick=True)
        return _examine(checks, installation), is_alone


def _examine(checks: Sequence[Check], installation: Installation) -> list[Finding]:
    findings = list(data.schema(installation))
    if any(finding.verdict == "problem" for finding in findings):
        return findings
    for check in checks:
        if check.applies_to(installation):
            installation.report(check.name, 0, 0)
            findings += run_check(check, installation)
    return findings


def run_check(check: Check, installation: Installation) -> list[Finding]:
    """A damaged database may not even be readable."""
    try:
        return list(check.work(installation))
    except Refused as refusal:
        return [problem(check.name, refusal.message, "See the findings of the other checks.")]


@contextmanager
def open_installation(settings: Settings) -> Iterator[tuple[ReadOnlyDatabase, ReadOnlyDatabase]]:
    """The main database and the log store; on PostgreSQL they are one."""
    with peek(settings.database_url) as db:
        if db.dialect.is_shared:
            yield db, db
            return
        with peek(str(settings.folder / "logs.db")) as logs:
            yield db, logs
