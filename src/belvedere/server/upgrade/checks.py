"""Checks before an upgrade: migrations, space for the copy, versions of agents, running jobs,
settings."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from belvedere import __version__
from belvedere.base.text.versions import AgentAge, compare_agent
from belvedere.db import Tx
from belvedere.db.backup.copy import Location
from belvedere.db.migrate import pending_names
from belvedere.db.migration_plan import PendingMigration, list_pending, list_unknown
from belvedere.server.doctor.model import (
    MAX_FAULTS,
    Finding,
    Installation,
    notice,
    ok,
    problem,
    problems,
)
from belvedere.settings import DEPRECATED, TABLE

PREFIX = "BELVEDERE_"
# Variables of the agent, the command line and the tests.
OTHERS = frozenset(
    PREFIX + name
    for name in (
        *("SERVER", "TOKEN", "CUSTOMER", "CA_FILE", "ENROLMENT_TOKEN", "PRIVATE_FD"),
        *("MIN_FREE_BYTES", "MIN_FREE_INODES", "FAILPOINT", "TEST_POSTGRES", "AGENT_BASE"),
    )
)


def pending(place: Installation) -> list[PendingMigration]:
    return [
        *place.db.read(list_pending, "migrations"),
        *place.logs.read(list_pending, "logs"),
    ]


def unknown(place: Installation) -> list[str]:
    return [*place.db.read(list_unknown, "migrations"), *place.logs.read(list_unknown, "logs")]


def migrations(place: Installation) -> Iterable[Finding]:
    unknown_names, pending_rows = unknown(place), pending(place)
    if unknown_names:
        yield problem(
            "migrations",
            f"A newer version has upgraded this database: {', '.join(unknown_names[:MAX_FAULTS])}.",
            "Use that version or a newer one, or restore a backup from before the upgrade.",
        )
    slow = [row for row in pending_rows if row.may_be_slow]
    for row in slow[:MAX_FAULTS]:
        yield notice(
            "migrations",
            f"{row.name} may take long: {', '.join(row.large_tables)} has many rows.",
            "Start the new version at a quiet time; it accepts no requests until it is done.",
        )
    if pending_rows:
        count = len(pending_rows)
        word = "migration" if count == 1 else "migrations"
        yield ok("migrations", f"The next start applies {count} {word}.")
    elif not unknown_names:
        yield ok("migrations", "The schema belongs to this version.")


def disk(place: Installation) -> Iterable[Finding]:
    """The start of the new version copies the database before it changes it."""
    # Imported only here: PostgreSQL needs nothing of SQLite.
    from belvedere.db.backup import upgrade_copy

    files, folder = _files_to_copy(place), place.settings.folder
    if not files:
        return
    if not place.settings.upgrade_copy:
        yield notice(
            "disk",
            f"The database is not copied before the upgrade ({upgrade_copy.SWITCH_OFF}).",
            "Make a backup: without it you cannot go back to the old version.",
        )
        return
    need, free = upgrade_copy.check_space(files, folder)
    text = (
        f"The copy before the upgrade needs up to {need / 1e6:.0f} MB; {free / 1e6:.0f} MB are free"
        f" on the disk of {folder}."
    )
    if free < need:
        yield problem("disk", text, "Free some space; without it the new version does not start.")
    else:
        yield ok("disk", text)


def _files_to_copy(place: Installation) -> dict[str, Path]:
    logs_change = bool(place.logs.read(pending_names, "logs"))
    if not logs_change and not place.db.read(pending_names, "migrations"):
        return {}
    files = dict(Location(place.settings.database_url, place.settings.folder).files)
    if not logs_change:
        del files["logs.db"]
    return files


def agents(place: Installation) -> Iterable[Finding]:
    """A server supports agents of its own and the previous release."""
    rows = place.db.read(_agent_versions)
    ages = {version: compare_agent(version, __version__) for version, _, _ in rows}
    old = [_describe(row) for row in rows if ages[row[0]] is AgentAge.TOO_OLD]
    newer = [_describe(row) for row in rows if ages[row[0]] is AgentAge.NEWER]
    yield from problems(
        "agents", old, f"Upgrade these agents before the server is upgraded to {__version__}."
    )
    yield from problems(
        "agents", newer, f"They are newer than {__version__}: use their version of the server."
    )
    for row in [row for row in rows if ages[row[0]] is AgentAge.UNKNOWN][:MAX_FAULTS]:
        yield notice("agents", _describe(row), "This is not a version; check these agents.")
    if not old and not newer:
        yield ok("agents", f"{sum(row[1] for row in rows)} agents; none is too old or too new.")


def _describe(row: tuple[str, int, str]) -> str:
    version, count, hostname = row
    return f"Agents of version {version[:40]!r}: {count}, such as that of host {hostname}."


def _agent_versions(tx: Tx) -> list[tuple[str, int, str]]:
    """(version, agents, one of their hosts); without the agents of TheEye."""
    return [
        (version, int(count), hostname)
        for version, count, hostname in tx.rows(
            "select h.agent_version, count(*), min(h.hostname) from hosts h"
            " where h.deleted_at is null and h.enabled = 1 and h.agent_version <> ''"
            " and not exists (select 1 from original_agents o where o.host_id = h.id)"
            " group by h.agent_version order by h.agent_version"
        )
    ]


def running_jobs(place: Installation) -> Iterable[Finding]:
    count = place.db.read(
        lambda tx: int(tx.value("select count(*) from attempts where state = 'live'"))
    )
    text = f"{count} jobs are running."
    if count:
        text += " Their scripts continue while the server is restarted."
    yield ok("jobs", text)


def environment_settings(_: Installation) -> Iterable[Finding]:
    findings = list(review_environment(os.environ))
    yield from findings[:MAX_FAULTS]
    if not findings:
        yield ok("settings", "No setting in this environment is deprecated or unknown.")


def review_environment(environ: Mapping[str, str]) -> Iterable[Finding]:
    """Only names are reported: values may be secret."""
    names = {env for _, env, _, _ in TABLE}
    for name in sorted(environ):
        if name in DEPRECATED:
            yield notice("settings", f"{name} is deprecated.", DEPRECATED[name])
        elif name.startswith(PREFIX) and name not in names | OTHERS:
            yield notice(
                "settings",
                f"{name[:60]} is not a setting.",
                "It has no effect; correct the name or remove it.",
            )
