"""`belvedere doctor`: the table of all checks, and running them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from belvedere.base.clock import wall
from belvedere.base.errors import Refused
from belvedere.db.readonly import ReadOnlyDatabase, peek
from belvedere.server.doctor import data, environment
from belvedere.server.doctor.model import Check, Finding, Installation, problem
from belvedere.settings import Settings

CHECKS = (
    Check("server", environment.server),
    Check("event loop", environment.event_loop),
    Check("permissions", environment.permissions),
    Check("scripts", environment.scripts),
    Check("key", environment.key),
    Check("disk", environment.disk),
    Check("library", environment.sqlite_library, "sqlite"),
    Check("durability", environment.postgres_durability, "postgres"),
    Check("clock", environment.clock),
    Check("clock", environment.postgres_clock, "postgres"),
    Check("integrity", data.pages, "sqlite"),
    Check("jobs", data.jobs),
    Check("attempts", data.attempts),
    Check("restore", data.restores),
    Check("journals", data.journals),
    Check("logs", data.logs),
    Check("gaps", data.gaps),
    Check("purging", data.orphaned_logs),
    Check("reactions", data.parked),
    Check("hosts", environment.hosts),
    Check("proxies", environment.undeclared_proxies),
)


def examine(
    settings: Settings, report: Callable[[str, int, int], None] = lambda *_: None
) -> list[Finding]:
    """The findings of all checks. A schema of another version ends it: the other checks would
    have no meaning."""
    with _open(settings) as (db, logs):
        installation = Installation(settings, db, logs, wall(), report)
        findings = list(data.schema(installation))
        if any(finding.verdict == "problem" for finding in findings):
            return findings
        for check in CHECKS:
            if check.engine in ("", db.engine):
                report(check.name, 0, 0)
                findings += _run(check, installation)
        return findings


def _run(check: Check, installation: Installation) -> list[Finding]:
    """A damaged database may not even be readable."""
    try:
        return list(check.work(installation))
    except Refused as refusal:
        return [problem(check.name, refusal.message, "See the findings of the other checks.")]


@contextmanager
def _open(settings: Settings) -> Iterator[tuple[ReadOnlyDatabase, ReadOnlyDatabase]]:
    """The main database and the log store; on PostgreSQL they are one."""
    with peek(settings.database_url) as db:
        if db.engine == "postgres":
            yield db, db
            return
        with peek(str(settings.folder / "logs.db")) as logs:
            yield db, logs
