"""The data itself: schema, pages, jobs against their events, logs against their chunks."""

import time
from collections.abc import Callable, Iterable

from belvedere.base.clock import iso
from belvedere.db import Tx
from belvedere.db.migrate import migrations
from belvedere.db.readonly import ReadOnlyDatabase
from belvedere.jobs.history import consistency
from belvedere.jobs.output import log_store as joblog
from belvedere.jobs.recovery import hold, restore
from belvedere.protocol import CHUNK
from belvedere.server.doctor.model import Finding, Patient, notice, ok, problem, problems

BATCH = 500
REPORT = "This is a fault of Belvedere: keep a copy of the database and report it."
# A server that purges drops a job first and its log a moment later.
MOMENT_S = 2.0
# Jobs that are named where many have the same fault.
NAMED = 5


def schema(patient: Patient) -> Iterable[Finding]:
    missing: set[str] = set()
    extra: set[str] = set()
    for peek, folder in ((patient.db, "migrations"), (patient.logs, "logs")):
        wanted = {f"{folder}/{name}" for name, _ in migrations(peek.engine, folder)}
        there = {name for name in peek.look(_applied) if name.startswith(f"{folder}/")}
        missing |= wanted - there
        extra |= there - wanted
    if missing:
        names = ", ".join(sorted(missing))
        yield problem("schema", f"Not applied yet: {names}.", "Start the server once.")
    if extra:
        names = ", ".join(sorted(extra))
        yield problem("schema", f"Unknown here: {names}.", "Use the newer Belvedere that made it.")
    if not missing and not extra:
        yield ok("schema", "It is that of this version.")


def _applied(tx: Tx) -> list[str]:
    return [name for (name,) in tx.rows("select name from migrations")]


def pages(patient: Patient) -> Iterable[Finding]:
    for name, peek in (("the database", patient.db), ("the log store", patient.logs)):
        said = peek.look(lambda tx: [str(row[0]) for row in tx.rows("pragma quick_check(10)")])
        if said == ["ok"]:
            yield ok("integrity", f"Every page of {name} is sound.")
        else:
            yield from problems(
                "integrity", said, f"Stop the server and restore {name} from a backup."
            )


def jobs(patient: Patient) -> Iterable[Finding]:
    """Every job's events add up to its row, and its attempts fit."""
    total = patient.db.look(lambda tx: int(tx.value("select count(*) from jobs")))
    faults: list[str] = []
    after, done = "", 0
    while (found := patient.db.look(_job_batch, after)) is not None:
        after, done = found[0], done + BATCH
        faults += found[1]
        patient.tell("jobs", min(done, total), total)
    if faults:
        yield from problems("jobs", faults, REPORT)
    else:
        yield ok("jobs", f"{total} jobs are as their events and attempts tell.")


def _job_batch(tx: Tx, after: str) -> tuple[str, list[str]] | None:
    """The last id of the next batch, and what is wrong in it; None when there is none."""
    last = tx.value(
        "select max(id) from (select id from jobs where id > ? order by id limit ?) as batch",
        after,
        BATCH,
    )
    return None if last is None else (last, consistency.check(tx, after, BATCH))


def attempts(patient: Patient) -> Iterable[Finding]:
    orphans = patient.db.look(
        lambda tx: tx.rows(
            "select fence, job_id from attempts a"
            " where not exists (select 1 from jobs j where j.id = a.job_id) limit 100"
        )
    )
    faults = [
        f"Attempt {fence} is of the job {job_id}, which is gone." for fence, job_id in orphans
    ]
    yield from problems("attempts", faults, REPORT)
    if not faults:
        live = patient.db.look(
            lambda tx: tx.value("select count(*) from attempts where state = 'live'")
        )
        yield ok("attempts", f"Each belongs to a job; {live} are under way.")


def parked(patient: Patient) -> Iterable[Finding]:
    rows = patient.db.look(
        lambda tx: tx.rows("select reaction, event_id, at, fault from parked order by at")
    )
    advice = (
        "Do by hand what the reaction could not, then remove the row from the table `parked`;"
        " the server's log of that moment tells more."
    )
    faults = [
        f"{reaction!r} could not digest event {event_id} of {iso(at)}: {fault}"
        for reaction, event_id, at, fault in rows
    ]
    yield from problems("reactions", faults, advice)
    if not faults:
        yield ok("reactions", "No event was set aside.")


def restores(patient: Patient) -> Iterable[Finding]:
    """Jobs that wait because they may have run after the backup."""
    count = patient.db.look(hold.count)
    last = patient.db.look(restore.last)
    when = "" if last is None else f" It was restored at {iso(last.at)}."
    if count:
        yield notice(
            "restore",
            f"{count} jobs are held since the database was restored: they may have run.{when}",
            "Release, resolve or cancel them: belvedere job list --held.",
        )
    elif last is not None:
        yield ok("restore", f"No job is held.{when}")


def logs(patient: Patient) -> Iterable[Finding]:
    total = patient.logs.look(lambda tx: int(tx.value("select count(*) from logs")))
    faults: list[str] = []
    after, done = -1, 0
    while found := patient.logs.look(_log_batch, after):
        faults += [
            f"Log {fence}: {kept} bytes are noted, {held} are there."
            for fence, kept, held in found
            if kept != held
        ]
        after, done = found[-1][0], done + len(found)
        patient.tell("logs", done, total)
    faults += patient.logs.look(_loose_chunks)
    yield from problems("logs", faults, REPORT)
    if not faults:
        yield ok("logs", f"{total} logs are complete as far as they were kept.")


def gaps(patient: Patient) -> Iterable[Finding]:
    """Logs that lack output although they are not long enough to be cut."""
    count, newest = patient.logs.look(_with_gaps)
    if count:
        jobs = ", ".join(newest)
        yield notice(
            "gaps",
            f"{count} logs lack a part of their output, which is marked. Newest jobs: {jobs}.",
            "See whether the disks of their hosts were full, and whether the organizations had"
            " room for output.",
        )


def _with_gaps(tx: Tx) -> tuple[int, list[str]]:
    # A long log keeps at least this much: whole pieces are cut out of it.
    where = (
        "from logs where bytes_total is not null"
        " and bytes_kept < case when bytes_total > ? then ? else bytes_total end"
    )
    limits = (joblog.KEEP, joblog.KEEP - CHUNK)
    count = int(tx.value(f"select count(*) {where}", *limits))
    rows = tx.rows(f"select job_id {where} order by fence desc limit ?", *limits, NAMED)
    return count, [job_id for (job_id,) in rows]


def _log_batch(tx: Tx, after: int) -> list[tuple[int, int, int]]:
    return [
        (fence, kept, int(held))
        for fence, kept, held in tx.rows(
            "select l.fence, l.bytes_kept, (select coalesce(sum(c.size), 0) from log_chunks c"
            " where c.fence = l.fence) from logs l where l.fence > ? order by l.fence limit ?",
            after,
            BATCH,
        )
    ]


def _loose_chunks(tx: Tx) -> list[str]:
    rows = tx.rows(
        "select distinct fence from log_chunks c"
        " where not exists (select 1 from logs l where l.fence = c.fence) limit 100"
    )
    return [f"There is output of attempt {fence}, but no log." for (fence,) in rows]


def strays(patient: Patient) -> Iterable[Finding]:
    """Logs of jobs that are gone: they take room, nothing else."""
    found = find_strays(patient.db, patient.logs, time.sleep)
    if found:
        yield notice(
            "purging",
            f"{len(found)} jobs were purged while their logs stayed.",
            "They only take room; report it if they become more.",
        )


def find_strays(
    db: ReadOnlyDatabase, logs: ReadOnlyDatabase, sleep: Callable[[float], None]
) -> list[str]:
    """Those that are still there after a moment, in which a server may finish its purging."""
    first = _strays(db, logs)
    if not first:
        return []
    sleep(MOMENT_S)
    return sorted(set(first) & set(_strays(db, logs)))


def _strays(db: ReadOnlyDatabase, logs: ReadOnlyDatabase) -> list[str]:
    found: list[str] = []
    after = ""
    while job_ids := logs.look(consistency.logged, after, BATCH):
        found += db.look(consistency.strays, job_ids)
        after = job_ids[-1]
    return found
