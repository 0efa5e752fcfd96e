"""The rows of jobs and attempts."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere.base.errors import NotFound
from belvedere.db import Query, Row, Tx, columns
from belvedere.jobs.model import JobRow, Lifecycle, State

encode = msgspec.json.Encoder().encode
# A result as it is stored. Made once: a type that is named in a call is worked out every time.
decode_result = msgspec.json.Decoder(dict[str, Any]).decode
JOB = columns(JobRow)
_INSERT = (
    f"insert into jobs ({JOB}, arguments, output) values"
    f" ({', '.join('?' for _ in JobRow.__struct_fields__)}, ?, ?)"
)


class Heavy(msgspec.Struct):
    """The large columns of one job, and what its host is called today."""

    arguments: str
    result: str | None
    output: str | None
    log: str | None
    hostname: str | None


def json_list(values: Sequence[Any]) -> str:
    return encode(list(values)).decode()


def insert(tx: Tx, jobs: Sequence[tuple[JobRow, str, str | None]]) -> None:
    """Each with its arguments and, for those born finished, its output."""
    tx.execute_many(_INSERT, [(*msgspec.structs.astuple(job), *rest) for job, *rest in jobs])


def find(tx: Tx, customer_id: str, job_id: str) -> JobRow:
    """A job that readers may see: purged history is not there."""
    row = tx.row(
        f"select {columns(JobRow, 'j.')} from jobs j join customers c on c.id = j.customer_id"
        f" where j.id = ? and j.customer_id = ? and {UNPURGED}",
        job_id,
        customer_id,
    )
    if row is None:
        raise NotFound("There is no such job.", code="job_not_found")
    return JobRow(*row)


# A mass delete only raises a mark; the rows go later. What nobody has settled yet stays.
UNPURGED = "(j.ended_at is null or j.ended_at > c.purged_until or j.state = 'lost')"


def lock(tx: Tx, customer_id: str, job_id: str) -> JobRow:
    """The same, held until the transaction ends."""
    find(tx, customer_id, job_id)
    job = tx.one(JobRow, f"select {JOB} from jobs where id = ?{tx.dialect.lock_rows}", job_id)
    if job is None:
        raise NotFound("There is no such job.", code="job_not_found")
    return job


def lock_many(tx: Tx, job_ids: Sequence[str]) -> dict[str, JobRow]:
    """Jobs by id, held; in the order of ids, so that two transactions cannot wait in a ring."""
    rows = tx.all(
        JobRow,
        f"select {JOB} from jobs where id in {tx.dialect.in_texts} order by"
        f" id{tx.dialect.lock_rows}",
        json_list(job_ids),
    )
    return {job.id: job for job in rows}


def set_expiry(tx: Tx, job_id: str, expires_at: int) -> None:
    tx.execute("update jobs set expires_at = ? where id = ?", expires_at, job_id)


def open_steps(tx: Tx, workflow_job_id: str) -> list[str]:
    """The jobs of a workflow job that are not over, in the order in which they are locked."""
    rows = tx.rows(
        "select id from jobs where workflow_job_id = ? and ended_at is null order by id",
        workflow_job_id,
    )
    return [job_id for (job_id,) in rows]


def heavy(tx: Tx, job_id: str) -> Heavy:
    sql, params = asking_heavy(job_id)
    [row] = tx.rows(sql, *params)
    return Heavy(*row)


def asking_whole(customer_id: str, job_id: str) -> Query:
    """A job that readers may see, with its large columns behind those of its row."""
    return (_WHOLE, (job_id, customer_id))


def asking_heavy(job_id: str) -> Query:
    return (
        "select j.arguments, j.result, j.output, j.log, h.hostname from jobs j"
        " left join hosts h on h.id = j.host_id where j.id = ?",
        (job_id,),
    )


_WHOLE = (
    f"select {columns(JobRow, 'j.')}, j.arguments, j.result, j.output, j.log, h.hostname"
    " from jobs j join customers c on c.id = j.customer_id left join hosts h on h.id = j.host_id"
    f" where j.id = ? and j.customer_id = ? and {UNPURGED}"
)
_WIDTH = len(JobRow.__struct_fields__)


def found_whole(rows: Sequence[Row]) -> tuple[JobRow, Heavy]:
    if not rows:
        raise NotFound("There is no such job.", code="job_not_found")
    return JobRow(*rows[0][:_WIDTH]), Heavy(*rows[0][_WIDTH:])


_SAVE = (
    "update jobs set lifecycle = ?, state = ?, version = ?, fence = ?, attempts = ?, ran = ?,"
    " reason = ?, trigger_name = ?, timeout = ?, not_before_at = ?, expires_at = ?,"
    " cancel_requested_at = ?, canceled_by = ?, unreachable_at = ?, reconciled = ?,"
    " resolved_by = ?, updated_at = ?, assigned_at = ?, started_at = ?, ended_at = ?,"
    " deadline_at = ?"
)
_OF_ONE = " where id = ? and version = ?"


def _saved(job: JobRow) -> tuple[Any, ...]:
    return (
        job.lifecycle,
        job.state,
        job.version,
        job.fence,
        job.attempts,
        job.ran,
        job.reason,
        job.trigger_name,
        job.timeout,
        job.not_before_at,
        job.expires_at,
        job.cancel_requested_at,
        job.canceled_by,
        job.unreachable_at,
        job.reconciled,
        job.resolved_by,
        job.updated_at,
        job.assigned_at,
        job.started_at,
        job.ended_at,
        job.deadline_at,
    )


def save(tx: Tx, jobs: Sequence[JobRow]) -> None:
    """Write back jobs that this transaction has locked; each must carry its next version."""
    tx.update_many(_SAVE + _OF_ONE, [(*_saved(job), job.id, job.version - 1) for job in jobs])


def save_assigned(tx: Tx, jobs: Sequence[JobRow]) -> None:
    """The same for jobs that an agent takes up. Only what that changes: an index of a column that
    is named is written anew, whether it changed or not."""
    tx.update_many(
        "update jobs set lifecycle = ?, version = ?, fence = ?, attempts = ?, reason = ?,"
        f" updated_at = ?, assigned_at = ?, started_at = ?, deadline_at = ?{_OF_ONE}",
        [
            (
                job.lifecycle,
                job.version,
                job.fence,
                job.attempts,
                job.reason,
                job.updated_at,
                job.assigned_at,
                job.started_at,
                job.deadline_at,
                job.id,
                job.version - 1,
            )
            for job in jobs
        ],
    )


class End(msgspec.Struct):
    """What an ended job keeps beside its row, as JSON texts."""

    result: str | None = None
    output: str | None = None
    log: str | None = None


def save_ended(tx: Tx, ended: Sequence[tuple[JobRow, End]]) -> None:
    """The same for jobs that a report ended, with what they leave behind, in one write each."""
    tx.update_many(
        "update jobs set lifecycle = ?, state = ?, version = ?, ran = ?, reason = ?,"
        " trigger_name = ?, unreachable_at = ?, reconciled = ?, updated_at = ?, started_at = ?,"
        f" ended_at = ?, result = ?, output = ?, log = ?{_OF_ONE}",
        [
            (
                job.lifecycle,
                job.state,
                job.version,
                job.ran,
                job.reason,
                job.trigger_name,
                job.unreachable_at,
                job.reconciled,
                job.updated_at,
                job.started_at,
                job.ended_at,
                end.result,
                end.output,
                end.log,
                job.id,
                job.version - 1,
            )
            for job, end in ended
        ],
    )


def save_arguments(tx: Tx, job_id: str, arguments: str) -> None:
    tx.execute("update jobs set arguments = ? where id = ?", arguments, job_id)


def step(job: JobRow, lifecycle: Lifecycle, state: State, now: int) -> None:
    """Put a job that may move into its next place; the row is written by `save`."""
    # In Python 3.11 `.value` of a member is two calls, and this runs for every move.
    job.lifecycle = str(lifecycle)
    job.state = str(state)
    job.version += 1
    job.updated_at = now
