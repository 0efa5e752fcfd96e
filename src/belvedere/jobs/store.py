"""Rows of jobs."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, get_args, get_type_hints

import msgspec

from belvedere.base.errors import NotFound
from belvedere.db import Query, Row, Tx, columns
from belvedere.jobs.model import AtClaim, AtEnd, Immutable, JobRow, JobState, Lifecycle

encode = msgspec.json.Encoder().encode
# Decodes a stored result. Created once: a call with a type analyses that type every time.
decode_result = msgspec.json.Decoder(dict[str, Any]).decode
JOB_COLUMNS = columns(JobRow)
_INSERT = (
    f"insert into jobs ({JOB_COLUMNS}, arguments, output) values"
    f" ({', '.join('?' for _ in JobRow.__struct_fields__)}, ?, ?)"
)


class JobDetails(msgspec.Struct):
    """The large columns of one job, and the current name of its host."""

    arguments: str
    result: str | None
    output: str | None
    log: str | None
    hostname: str | None
    warning: str | None = None


# The columns of JobDetails.
_DETAILS = (
    "j.arguments, j.result, j.output, j.log, h.hostname,"
    " (select w.message from job_warnings w where w.job_id = j.id)"
)


def json_array(values: Sequence[Any]) -> str:
    return encode(list(values)).decode()


def insert(tx: Tx, jobs: Sequence[tuple[JobRow, str, str | None]]) -> None:
    """Each job with its arguments and, if it is created as finished, its output."""
    tx.execute_many(_INSERT, [(*msgspec.structs.astuple(job), *rest) for job, *rest in jobs])


def save_warning(tx: Tx, job_id: str, message: str) -> None:
    tx.execute(
        "insert into job_warnings (job_id, message) values (?, ?)"
        " on conflict (job_id) do update set message = excluded.message",
        job_id,
        message,
    )


def find(tx: Tx, customer_id: str, job_id: str) -> JobRow:
    """A job that was not purged from the history."""
    row = tx.row(
        f"select {columns(JobRow, 'j.')} from jobs j join customers c on c.id = j.customer_id"
        f" where j.id = ? and j.customer_id = ? and {UNPURGED}",
        job_id,
        customer_id,
    )
    if row is None:
        raise NotFound("There is no such job.", code="job_not_found")
    return JobRow(*row)


# A job, under the alias in place of {0}, whose history of a task or workflow is being deleted.
# Finished steps are kept until their workflow job has ended.
IS_HIDDEN = (
    "exists (select 1 from history_deletions d where d.object_id in ({0}.task_id, {0}.workflow_id)"
    " and {0}.ended_at <= d.until_at and ({0}.workflow_job_id is null or (select w.ended_at is null"
    " from jobs w where w.id = {0}.workflow_job_id) is not true))"
)
# Deleting a history only marks it; rows are deleted later. Lost jobs stay.
UNPURGED = (
    "(j.ended_at is null or j.state = 'lost'"
    f" or j.ended_at > c.purged_until and not {IS_HIDDEN.format('j')})"
)


def lock(tx: Tx, customer_id: str, job_id: str) -> JobRow:
    """The same, locked until the transaction ends."""
    find(tx, customer_id, job_id)
    job = tx.one(
        JobRow, f"select {JOB_COLUMNS} from jobs where id = ?{tx.dialect.lock_rows}", job_id
    )
    if job is None:
        raise NotFound("There is no such job.", code="job_not_found")
    return job


def lock_many(tx: Tx, job_ids: Sequence[str]) -> dict[str, JobRow]:
    """Locked jobs by id. They are locked in the order of ids, so that there are no deadlocks."""
    rows = tx.all(
        JobRow,
        f"select {JOB_COLUMNS} from jobs where id in {tx.dialect.in_texts} order by"
        f" id{tx.dialect.lock_rows}",
        json_array(job_ids),
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


def read_details(tx: Tx, job_id: str) -> JobDetails:
    sql, params = details_query(job_id)
    [row] = tx.rows(sql, *params)
    return JobDetails(*row)


def job_with_details_query(customer_id: str, job_id: str) -> Query:
    """A job that was not purged: the columns of its row, then the large ones."""
    return (_SELECT_WITH_DETAILS, (job_id, customer_id))


def details_query(job_id: str) -> Query:
    return (
        f"select {_DETAILS} from jobs j left join hosts h on h.id = j.host_id where j.id = ?",
        (job_id,),
    )


_SELECT_WITH_DETAILS = (
    f"select {columns(JobRow, 'j.')}, {_DETAILS}"
    " from jobs j join customers c on c.id = j.customer_id left join hosts h on h.id = j.host_id"
    f" where j.id = ? and j.customer_id = ? and {UNPURGED}"
)
_COLUMN_COUNT = len(JobRow.__struct_fields__)


def job_with_details_from_rows(rows: Sequence[Row]) -> tuple[JobRow, JobDetails]:
    if not rows:
        raise NotFound("There is no such job.", code="job_not_found")
    return JobRow(*rows[0][:_COLUMN_COUNT]), JobDetails(*rows[0][_COLUMN_COUNT:])


def _marked_columns(mark: object) -> tuple[str, ...]:
    """The columns whose type has this mark, in the order of the table."""
    [name] = get_args(mark)[1:]
    hints = get_type_hints(JobRow, include_extras=True)
    return tuple(column for column, hint in hints.items() if name in get_args(hint)[1:])


IMMUTABLE = frozenset(_marked_columns(Immutable))
CHANGING = tuple(column for column in JobRow.__struct_fields__ if column not in IMMUTABLE)
ASSIGNED, ENDED = _marked_columns(AtClaim), _marked_columns(AtEnd)


class EndColumns(msgspec.Struct):
    """The large columns of an ended job, as JSON texts."""

    result: str | None = None
    output: str | None = None
    log: str | None = None


def update_statement(columns: Sequence[str]) -> str:
    """Each job must have its next version; the statement changes only the version before it."""
    changes = ", ".join(f"{column} = ?" for column in columns)
    return f"update jobs set {changes} where id = ? and version = ?"


# Built once at import: PostgreSQL groups statements by their text.
_SAVE = update_statement(CHANGING)
_SAVE_ASSIGNED = update_statement(ASSIGNED)
_SAVE_ENDED = update_statement((*ENDED, *EndColumns.__struct_fields__))
_changing, _assigned, _ended = attrgetter(*CHANGING), attrgetter(*ASSIGNED), attrgetter(*ENDED)
_end_columns = attrgetter(*EndColumns.__struct_fields__)


def save(tx: Tx, jobs: Sequence[JobRow]) -> None:
    """Write jobs that this transaction has locked."""
    tx.update_many(_SAVE, [(*_changing(job), job.id, job.version - 1) for job in jobs])


def save_assigned(tx: Tx, jobs: Sequence[JobRow]) -> None:
    """The same for claimed jobs."""
    tx.update_many(_SAVE_ASSIGNED, [(*_assigned(job), job.id, job.version - 1) for job in jobs])


def save_ended(tx: Tx, ends: Sequence[tuple[JobRow, EndColumns]]) -> None:
    """The same for jobs that a report ended, with their results: one statement per job."""
    tx.update_many(
        _SAVE_ENDED,
        [(*_ended(job), *_end_columns(end), job.id, job.version - 1) for job, end in ends],
    )


def save_arguments(tx: Tx, job_id: str, arguments: str) -> None:
    tx.execute("update jobs set arguments = ? where id = ?", arguments, job_id)


def apply_transition(job: JobRow, lifecycle: Lifecycle, state: JobState, now: int) -> None:
    """Change lifecycle and state in memory; `save` writes the row."""
    # In Python 3.11 `.value` of a member costs two calls, and this runs for every transition.
    job.lifecycle = str(lifecycle)
    job.state = str(state)
    job.version += 1
    job.updated_at = now
