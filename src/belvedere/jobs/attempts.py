"""The rows of attempts, and the fences that number them."""

from collections.abc import Sequence
from functools import cache

import msgspec

from belvedere.db import Dialect, Query, Row, Tx, columns
from belvedere.jobs.model import JobRow
from belvedere.jobs.store import JOB, json_list
from belvedere.triggers import store
from belvedere.triggers.store import ActiveTriggers


class Attempt(msgspec.Struct):
    """One permission to run, in the order of the select."""

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
        json_list(fences),
    )
    return {attempt.fence: attempt for attempt in rows}


@cache
def _reported(sql: Dialect, is_one: bool) -> tuple[str, str, str]:
    """The statements below. Mostly it is one: a list in a parameter costs twice as much."""
    which, among = ("= ?", "= ({})") if is_one else (f"in {sql.in_numbers}", sql.in_subquery)
    of_fences = among.format(f"select job_id from attempts where fence {which}")
    of_jobs = among.format(f"select task_id from jobs where id {of_fences}")
    return (
        f"select {JOB} from jobs where id {of_fences} order by id{sql.lock_rows}",
        f"select {columns(Attempt)} from attempts where fence {which}",
        store.active_triggers_query(of_jobs),
    )


def lock_reported(
    tx: Tx, fences: Sequence[int]
) -> tuple[dict[str, JobRow], dict[int, Attempt], ActiveTriggers]:
    """The jobs of these fences, held as `lock_many` does; the attempts as they are once that is
    so, because what was live a moment earlier may have been settled meanwhile; and what the ends
    of their tasks start."""
    is_one = len(fences) == 1
    asked = fences[0] if is_one else json_list(fences)
    of_jobs, of_attempts, of_triggers = _reported(tx.dialect, is_one)
    jobs, attempts, starting = tx.pipeline(
        (of_jobs, (asked,)), (of_attempts, (asked,)), (of_triggers, ("task", asked))
    )
    return (
        {job.id: job for job in (JobRow(*row) for row in jobs)},
        {attempt.fence: attempt for attempt in (Attempt(*row) for row in attempts)},
        {(source_id, event_name) for source_id, event_name in starting},
    )


def attempts_of(tx: Tx, job_id: str) -> list[Attempt]:
    sql, params = asking_attempts(job_id)
    return tx.all(Attempt, sql, *params)


def asking_attempts(job_id: str) -> Query:
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
    return taken_fences(tx, tx.rows(tx.dialect.next_fences, count), count)


def asking_fences(tx: Tx, count: int) -> Query:
    return tx.dialect.next_fences, (count,)


def taken_fences(tx: Tx, rows: Sequence[Row], count: int) -> list[int]:
    taken = [int(number) for (number,) in rows]
    if tx.dialect.lock_rows:
        return taken
    # One transaction at a time: they follow the newest, be it written or only reserved here.
    tx.fence = max(taken[0], tx.fence + count)
    return list(range(tx.fence - count + 1, tx.fence + 1))
