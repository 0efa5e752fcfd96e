"""Checks of the data: schema, pages, jobs against their events, logs against their chunks."""

import time
from collections.abc import Callable, Iterable

from belvedere.base.clock import DAY, Millis, iso
from belvedere.db import Tx
from belvedere.db.installation import epoch_of, newest_fence
from belvedere.db.migrate import check_installed, compare
from belvedere.db.readonly import ReadOnlyDatabase
from belvedere.db.transfer import marks
from belvedere.hosts import journal_warnings
from belvedere.hosts.journal_warnings import JournalProblem
from belvedere.jobs.history import consistency
from belvedere.jobs.output import log_store
from belvedere.jobs.recovery import hold, restore
from belvedere.jobs.recovery.restore import Restore
from belvedere.protocol import CHUNK
from belvedere.server.doctor.model import (
    Finding,
    Installation,
    limit_findings,
    notice,
    ok,
    problem,
    problems,
)

BATCH = 500
REPORT = "This is a bug in Belvedere: keep a copy of the database and report it."
# A running server deletes a job first and its log a moment later.
PURGE_DELAY_S = 2.0
# Jobs that are listed where many have the same fault.
MAX_LISTED = 5
# Logs that are searched for gaps.
QUICK_LOGS, ALL_LOGS = 10_000, 1 << 60
# How long a restore that only an agent has shown is reported.
REPORT_RESTORE: Millis = 7 * DAY


def schema(installation: Installation) -> Iterable[Finding]:
    # First: a restore has locked all other tables.
    refusal = installation.db.read(marks.explain)
    if refusal is not None:
        yield problem("schema", *refusal)
        return
    installation.db.read(check_installed)
    main = installation.db.read(compare, "migrations")
    logs = installation.logs.read(compare, "logs")
    missing, extra = main[0] | logs[0], main[1] | logs[1]
    if missing:
        names = ", ".join(sorted(missing))
        yield problem("schema", f"Migrations not applied: {names}.", "Start the server once.")
    if extra:
        names = ", ".join(sorted(extra))
        yield problem(
            "schema", f"Unknown migrations: {names}.", "Use the newer version of Belvedere."
        )
    if not missing and not extra:
        yield ok("schema", "The schema belongs to this version.")


def pages(installation: Installation) -> Iterable[Finding]:
    for name, database in (("the database", installation.db), ("the log store", installation.logs)):
        results = database.read(
            lambda tx: [str(row[0]) for row in tx.rows("pragma quick_check(10)")]
        )
        if results == ["ok"]:
            yield ok("integrity", f"Every page of {name} is intact.")
        else:
            yield from problems(
                "integrity", results, f"Stop the server and restore {name} from a backup."
            )


def jobs(installation: Installation) -> Iterable[Finding]:
    """The events of every job result in its row, and its attempts match."""
    total = installation.db.read(lambda tx: int(tx.value("select count(*) from jobs")))
    faults: list[str] = []
    after, done = "", 0
    while (batch := installation.db.read(_job_batch, after)) is not None:
        after, done = batch[0], done + BATCH
        faults += batch[1]
        installation.report("jobs", min(done, total), total)
    if faults:
        yield from problems("jobs", faults, REPORT)
    else:
        yield ok("jobs", f"{total} jobs match their events and attempts.")


def _job_batch(tx: Tx, after: str) -> tuple[str, list[str]] | None:
    """The last id of the next batch, and its faults; None after the last batch."""
    last = tx.value(
        "select max(id) from (select id from jobs where id > ? order by id limit ?) as batch",
        after,
        BATCH,
    )
    return None if last is None else (last, consistency.check(tx, after, BATCH))


def attempts(installation: Installation) -> Iterable[Finding]:
    orphans = installation.db.read(
        lambda tx: tx.rows(
            "select fence, job_id from attempts a"
            " where not exists (select 1 from jobs j where j.id = a.job_id) limit 100"
        )
    )
    faults = [
        f"Attempt {fence} belongs to the job {job_id}, which does not exist."
        for fence, job_id in orphans
    ]
    yield from problems("attempts", faults, REPORT)
    if not faults:
        live = installation.db.read(
            lambda tx: tx.value("select count(*) from attempts where state = 'live'")
        )
        yield ok("attempts", f"Every attempt belongs to a job; {live} are running.")


def epoch(installation: Installation) -> Iterable[Finding]:
    """No attempt may be newer than the fences that the database assigns from now on."""
    newest, highest = installation.db.read(_fences)
    current, used = epoch_of(newest), epoch_of(highest)
    if highest > newest:
        yield problem(
            "epoch",
            f"An attempt of epoch {used} exists, but the database assigns fences of epoch"
            f" {current}: agents would refuse new orders as old ones.",
            "Stop the server, run belvedere mark-restored, and start it again.",
        )
    else:
        yield ok("epoch", f"The epoch is {current}; no attempt is newer.")


def _fences(tx: Tx) -> tuple[int, int]:
    return newest_fence(tx), int(tx.value("select max(fence) from attempts") or 0)


def restores(installation: Installation) -> Iterable[Finding]:
    """Jobs that are held because they may have run after the backup."""
    count = installation.db.read(hold.count)
    last = installation.db.read(restore.last_restore)
    when = "" if last is None else f" It was restored at {iso(last.at)}."
    if count:
        yield notice(
            "restore",
            f"{count} jobs have been held since the database was restored: they may have "
            f"run.{when}",
            "List them with `belvedere job held`, then release, resolve or cancel each.",
        )
    elif last is not None and _is_undeclared(last, installation.now):
        yield notice(
            "restore",
            "The journal of an agent is newer than the database, which was restored without"
            f" `belvedere mark-restored` or has lost commits in a failover. No job is held.{when}",
            "Look for lost jobs: belvedere job list --state lost. After the next restore, run"
            " `belvedere mark-restored` before the server starts.",
        )
    else:
        yield ok("restore", f"No job is held.{when}")


def _is_undeclared(last: Restore, now: Millis) -> bool:
    return last.evidence == "journal" and now - last.at < REPORT_RESTORE


def journals(installation: Installation) -> Iterable[Finding]:
    """Agents that are refused because of their journal, and journals that went back."""
    return limit_findings(_journals(installation.db.read(journal_warnings.problems)))


def _journals(hosts: Iterable[JournalProblem]) -> Iterable[Finding]:
    for host in hosts:
        name = f"host {host.hostname} ({host.customer_name})"
        if host.journal_refused_at is not None:
            yield problem(
                "journals",
                f"The agent of {name} has been refused since {iso(host.journal_refused_at)}:"
                f" {host.journal_message}",
                "Follow the message above; the host gets no jobs until then.",
            )
        if host.rolled_back_at is not None:
            yield notice(
                "journals",
                f"The agent journal of {name} was rolled back at {iso(host.rolled_back_at)}.",
                "Its disk was probably restored. Check the lost jobs of the host:"
                f" belvedere job list --host {host.hostname} --state lost.",
            )


def logs(installation: Installation) -> Iterable[Finding]:
    total = installation.logs.read(lambda tx: int(tx.value("select count(*) from logs")))
    faults: list[str] = []
    after, done = -1, 0
    while batch := installation.logs.read(_log_batch, after):
        faults += [
            f"Log {fence}: {recorded} bytes were recorded, {stored} are stored."
            for fence, recorded, stored in batch
            if recorded != stored
        ]
        after, done = batch[-1][0], done + len(batch)
        installation.report("logs", done, total)
    faults += installation.logs.read(_orphaned_chunks)
    yield from problems("logs", faults, REPORT)
    if not faults:
        yield ok("logs", f"{total} logs have all bytes that were recorded.")


def gaps(installation: Installation) -> Iterable[Finding]:
    """Logs with missing output although they are not long enough to be cut."""
    limit = QUICK_LOGS if installation.is_quick else ALL_LOGS
    count, newest = installation.logs.read(_with_gaps, limit)
    if count:
        jobs = ", ".join(newest)
        yield notice(
            "gaps",
            f"Output is missing in {count} logs, where it is marked. Latest jobs: {jobs}.",
            "Check whether the disks of their hosts were full, and whether the organizations had"
            " storage left for output.",
        )


def _with_gaps(tx: Tx, limit: int) -> tuple[int, list[str]]:
    # A long log keeps at least this much: complete chunks are cut out of it.
    where = (
        "from (select job_id, fence, bytes_total, bytes_kept from logs"
        " order by fence desc limit ?) l where bytes_total is not null"
        " and bytes_kept < case when bytes_total > ? then ? else bytes_total end"
    )
    limits = (limit, log_store.MAX_KEPT_BYTES, log_store.MAX_KEPT_BYTES - CHUNK)
    count = int(tx.value(f"select count(*) {where}", *limits))
    rows = tx.rows(f"select job_id {where} order by fence desc limit ?", *limits, MAX_LISTED)
    return count, [job_id for (job_id,) in rows]


def _log_batch(tx: Tx, after: int) -> list[tuple[int, int, int]]:
    return [
        (fence, recorded, int(stored))
        for fence, recorded, stored in tx.rows(
            "select l.fence, l.bytes_kept, (select coalesce(sum(c.size), 0) from log_chunks c"
            " where c.fence = l.fence) from logs l where l.fence > ? order by l.fence limit ?",
            after,
            BATCH,
        )
    ]


def _orphaned_chunks(tx: Tx) -> list[str]:
    rows = tx.rows(
        "select distinct fence from log_chunks c"
        " where not exists (select 1 from logs l where l.fence = c.fence) limit 100"
    )
    return [f"Attempt {fence} has output, but no log." for (fence,) in rows]


def orphaned_logs(installation: Installation) -> Iterable[Finding]:
    """Logs of deleted jobs: they only use space."""
    orphans = find_orphaned_logs(installation.db, installation.logs, time.sleep)
    if orphans:
        yield notice(
            "purging",
            f"{len(orphans)} jobs were deleted, but their logs were not.",
            "They only use space; report it if their number grows.",
        )


def find_orphaned_logs(
    db: ReadOnlyDatabase, logs: ReadOnlyDatabase, sleep: Callable[[float], None]
) -> list[str]:
    """Those that remain after a moment in which a running server may delete them."""
    first = _orphaned_logs(db, logs)
    if not first:
        return []
    sleep(PURGE_DELAY_S)
    return sorted(set(first) & set(_orphaned_logs(db, logs)))


def _orphaned_logs(db: ReadOnlyDatabase, logs: ReadOnlyDatabase) -> list[str]:
    orphans: list[str] = []
    after = ""
    while job_ids := logs.read(consistency.jobs_with_logs, after, BATCH):
        orphans += db.read(consistency.orphaned_logs, job_ids)
        after = job_ids[-1]
    return orphans
