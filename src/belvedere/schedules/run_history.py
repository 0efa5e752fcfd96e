"""The history of a schedule: the outcome of every nominal instant, and its retention."""

import msgspec

from belvedere.base.clock import DAY, Millis
from belvedere.db import Tx, columns
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.listing_sql import clauses
from belvedere.schedules.model import ScheduleRun

RETENTION: Millis = 90 * DAY
# Rows of each schedule.
MAX_RUNS = 1_000
BATCH_SIZE = 500
RUNS = Listable(
    fields={
        "id": Field("nominal_at", FieldKind.INT),
        "nominal": Field("nominal_at", FieldKind.TIME),
        "state": Field("state"),
        "reason": Field("reason"),
        "job_id": Field("job_id"),
    },
    order="nominal",
    newest_first=True,
    most=MAX_RUNS,
)
_ROW = columns(ScheduleRun)


def insert(tx: Tx, run: ScheduleRun) -> bool:
    """Insert the row; False if this instant already has one."""
    marks = ", ".join("?" for _ in ScheduleRun.__struct_fields__)
    return (
        tx.execute(
            f"insert into schedule_runs ({_ROW}) values ({marks}) on conflict do nothing",
            *msgspec.structs.astuple(run),
        )
        == 1
    )


def complete(tx: Tx, run: ScheduleRun) -> None:
    """Set the outcome of a row that this transaction inserted."""
    tx.execute(
        "update schedule_runs set state = ?, reason = ?, message = ?, job_id = ?"
        " where schedule_id = ? and nominal_at = ?",
        run.state,
        run.reason,
        run.message,
        run.job_id,
        run.schedule_id,
        run.nominal_at,
    )


def select_page(tx: Tx, customer_id: str, schedule_id: str, listing: Listing) -> list[ScheduleRun]:
    sql = clauses(listing)
    return tx.all(
        ScheduleRun,
        f"select {_ROW} from schedule_runs where schedule_id = ? and customer_id = ?"
        f"{sql.where}{sql.page}",
        schedule_id,
        customer_id,
        *sql.params,
        *sql.page_params,
    )


def started_from(tx: Tx, schedule_id: str, first_at: Millis) -> list[Millis]:
    """Instants that were started, from this one on."""
    rows = tx.rows(
        "select nominal_at from schedule_runs where schedule_id = ? and nominal_at >= ?"
        " and state = 'started' order by nominal_at",
        schedule_id,
        first_at,
    )
    return [at for (at,) in rows]


def oldest_retained(tx: Tx, schedule_id: str) -> Millis:
    """Rows of earlier instants may have been deleted; 0 while the history is not full."""
    oldest: Millis | None = tx.value(
        "select nominal_at from schedule_runs where schedule_id = ?"
        " order by nominal_at desc limit 1 offset ?",
        schedule_id,
        MAX_RUNS - 1,
    )
    return oldest or 0


def purge_old(tx: Tx) -> bool:
    """Delete a batch of old rows; returns whether there may be more."""
    deleted = tx.execute(
        "delete from schedule_runs where (schedule_id, nominal_at) in (select schedule_id,"
        " nominal_at from schedule_runs where decided_at < ? order by decided_at limit ?)",
        tx.now - RETENTION,
        BATCH_SIZE,
    )
    return deleted == BATCH_SIZE


def purge_surplus(tx: Tx, after: str) -> str | None:
    """Delete surplus rows of the schedule after this one; returns its id, None if there is none."""
    schedule_id: str | None = tx.value(
        "select id from schedules where id > ? order by id limit 1", after
    )
    if schedule_id is not None:
        tx.execute(
            "delete from schedule_runs where schedule_id = ? and nominal_at <="
            " (select nominal_at from schedule_runs where schedule_id = ?"
            " order by nominal_at desc limit 1 offset ?)",
            schedule_id,
            schedule_id,
            MAX_RUNS,
        )
    return schedule_id
