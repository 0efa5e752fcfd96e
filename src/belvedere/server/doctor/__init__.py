"""`belvedere doctor`: every check there is, as a table, and the way through it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from belvedere.base.clock import wall
from belvedere.base.errors import Refused
from belvedere.db.readonly import ReadOnlyDatabase, peek
from belvedere.server.doctor import data, running
from belvedere.server.doctor import installation as place
from belvedere.server.doctor.model import Check, Finding, Patient, problem
from belvedere.settings import Settings

CHECKS = (
    Check("server", place.server),
    Check("event loop", running.event_loop),
    Check("permissions", place.permissions),
    Check("scripts", place.scripts),
    Check("key", place.key),
    Check("disk", place.disk),
    Check("library", place.sqlite_library, "sqlite"),
    Check("durability", place.postgres_durability, "postgres"),
    Check("clock", place.clock),
    Check("clock", place.postgres_clock, "postgres"),
    Check("integrity", data.pages, "sqlite"),
    Check("jobs", data.jobs),
    Check("attempts", data.attempts),
    Check("restore", data.restores),
    Check("logs", data.logs),
    Check("gaps", data.gaps),
    Check("purging", data.strays),
    Check("reactions", data.parked),
    Check("hosts", place.hosts),
    Check("proxies", place.undeclared_proxies),
)


def examine(
    settings: Settings, tell: Callable[[str, int, int], None] = lambda *_: None
) -> list[Finding]:
    """What every check finds. A schema that is not this version's ends it: nothing else would
    mean anything."""
    with _opened(settings) as (db, logs):
        patient = Patient(settings, db, logs, wall(), tell)
        found = list(data.schema(patient))
        if any(finding.verdict == "problem" for finding in found):
            return found
        for check in CHECKS:
            if check.engine in ("", db.engine):
                tell(check.name, 0, 0)
                found += _carried_out(check, patient)
        return found


def _carried_out(check: Check, patient: Patient) -> list[Finding]:
    """A database that is damaged may not even let itself be looked at."""
    try:
        return list(check.work(patient))
    except Refused as refusal:
        return [problem(check.name, refusal.message, "See what the other checks say.")]


@contextmanager
def _opened(settings: Settings) -> Iterator[tuple[ReadOnlyDatabase, ReadOnlyDatabase]]:
    """The main database and the log store; on PostgreSQL they are one."""
    with peek(settings.database_url) as db:
        if db.engine == "postgres":
            yield db, db
            return
        with peek(str(settings.folder / "logs.db")) as logs:
            yield db, logs
