"""Rows of attempts, the fences that number them, and claims of jobs before they are written."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, Protocol

import msgspec

from belvedere.db import Dialect, Query, Row, Tx, columns
from belvedere.jobs.model import JobRow
from belvedere.jobs.store import JOB_COLUMNS, json_array
from belvedere.triggers import store
from belvedere.triggers.store import ActiveTriggers


class Attempt(msgspec.Struct):
    """One permission to run a job, in the order of the select."""

    fence: int
    job_id: str
    number: int
    host_id: str
    session: int
    journal_id: str
    state: str
    claimed_at: int
    started_at: int | None
    ended_at: int | None


def attempts_by_fence(tx: Tx, fences: Sequence[int]) -> dict[int, Attempt]:
    rows = tx.all(
        Attempt,
        f"select {columns(Attempt)} from attempts where fence in {tx.dialect.in_numbers}",
        json_array(fences),
    )
    return {attempt.fence: attempt for attempt in rows}


@cache
def _lock_statements(dialect: Dialect, is_single: bool) -> tuple[str, str, str, str]:
    """The statements of `lock_reported`. Usually there is one fence; a list as a parameter costs
    twice as much."""
    equals, in_subquery = (
        ("= ?", "= ({})") if is_single else (f"in {dialect.in_numbers}", dialect.in_subquery)
    )
    of_fences = in_subquery.format(f"select job_id from attempts where fence {equals}")
    of_jobs = in_subquery.format(f"select task_id from jobs where id {of_fences}")
    return (
        f"select {JOB_COLUMNS} from jobs where id {of_fences} order by id{dialect.lock_rows}",
        f"select {columns(Attempt)} from attempts where fence {equals}",
        store.active_triggers_query(of_jobs),
        ready_job_of(in_subquery.format(f"select host_id from attempts where fence {equals}")),
    )


def ready_job_of(hosts: str) -> str:
    """A row if a host that fulfils the condition has a ready job. PostgreSQL turns `exists` into a
    join that reads all ready jobs of the host."""
    return f"select 1 from jobs where lifecycle = 'ready' and host_id {hosts} limit 1"


class LockedReports(NamedTuple):
    """The rows that reports refer to."""

    jobs: dict[str, JobRow]
    attempts: dict[int, Attempt]
    # The active triggers of their tasks.
    triggers: ActiveTriggers
    # Whether jobs are ready on their hosts.
    has_ready_jobs: bool


def lock_reported(tx: Tx, fences: Sequence[int]) -> LockedReports:
    """The jobs of these fences, locked as by `lock_many`; their attempts, read after the lock
    because another transaction may have ended them before; and the triggers of their tasks."""
    is_single = len(fences) == 1
    parameter = fences[0] if is_single else json_array(fences)
    of_jobs, of_attempts, of_triggers, of_ready_jobs = _lock_statements(tx.dialect, is_single)
    jobs, attempts, triggers, ready_jobs = tx.pipeline(
        (of_jobs, (parameter,)),
        (of_attempts, (parameter,)),
        (of_triggers, ("task", parameter)),
        (of_ready_jobs, (parameter,)),
    )
    return LockedReports(
        {job.id: job for row in jobs for job in [JobRow(*row)]},
        {attempt.fence: attempt for row in attempts for attempt in [Attempt(*row)]},
        {(source_id, event_name) for source_id, event_name in triggers},
        bool(ready_jobs),
    )


def attempts_for_job(tx: Tx, job_id: str) -> list[Attempt]:
    sql, params = attempts_query(job_id)
    return tx.all(Attempt, sql, *params)


def attempts_query(job_id: str) -> Query:
    return (
        f"select {columns(Attempt)} from attempts where job_id = ? order by number, fence",
        (job_id,),
    )


def live_attempts(tx: Tx, host_id: str) -> list[Attempt]:
    return tx.all(
        Attempt,
        f"select {columns(Attempt, 'a.')} from jobs j join attempts a on a.fence = j.fence"
        " where j.host_id = ? and j.lifecycle = 'assigned' and a.state = 'live' order by a.fence",
        host_id,
    )


def insert_attempts(tx: Tx, attempts: Sequence[Attempt]) -> None:
    tx.execute_many(
        f"insert into attempts ({columns(Attempt)}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [msgspec.structs.astuple(attempt) for attempt in attempts],
    )


def close_attempts(tx: Tx, ends: Sequence[tuple[int, str, int, int | None, str | None]]) -> None:
    """(fence, state, ended_at, started_at, report)."""
    tx.update_many(
        "update attempts set state = ?, ended_at = ?, started_at = coalesce(?, started_at),"
        " report = coalesce(?, report) where fence = ?",
        [(state, ended, started, report, fence) for fence, state, ended, started, report in ends],
    )


def end_attempt(tx: Tx, job: JobRow, state: str) -> None:
    """Close the current attempt of a job that ends without a report."""
    tx.execute(
        "update attempts set state = ?, ended_at = ? where fence = ? and state in ('live', 'lost')",
        state,
        tx.now,
        job.fence,
    )


def reserve_fences(tx: Tx, count: int) -> list[int]:
    """New fences, each larger than any before."""
    return fences_from_rows(tx, tx.rows(tx.dialect.next_fences, count), count)


def fences_query(tx: Tx, count: int) -> Query:
    return tx.dialect.next_fences, (count,)


def fences_from_rows(tx: Tx, rows: Sequence[Row], count: int) -> list[int]:
    fences = [int(number) for (number,) in rows]
    if tx.dialect.lock_rows:
        return fences
    # SQLite has one writer: the numbers follow the newest one, written or reserved here.
    tx.fence = max(fences[0], tx.fence + count)
    return list(range(tx.fence - count + 1, tx.fence + 1))


# A ready job with its arguments.
ReadyJob = tuple[JobRow, str]


class ClaimResult(msgspec.Struct):
    """What an immediate claim has assigned."""

    # Already changed to assigned; they are inserted in that state.
    jobs: list[JobRow] = []
    attempts: list[Attempt] = []
    # Hosts whose claim is complete: the end of the transaction need not claim for them again.
    claimed_hosts: set[str] = set()

    def add(self, other: "ClaimResult") -> None:
        self.jobs += other.jobs
        self.attempts += other.attempts
        self.claimed_hosts |= other.claimed_hosts


class ImmediateClaim(Protocol):
    """Claims ready jobs for connected agents before they are written: one write instead of two."""

    def __call__(self, tx: Tx, ready: Sequence[ReadyJob]) -> ClaimResult: ...


def no_claim(tx: Tx, ready: Sequence[ReadyJob]) -> ClaimResult:
    return ClaimResult()
