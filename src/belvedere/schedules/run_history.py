"""The ledger: what became of every nominal instant, and how long that is kept."""

import msgspec

from belvedere.base.clock import DAY, Millis
from belvedere.db import Tx, columns
from belvedere.rest.listing import Field, Kind, Listable, Listing
from belvedere.rest.listing_sql import clauses
from belvedere.schedules.model import Run

LIFE: Millis = 90 * DAY
# Of each schedule.
MOST = 1_000
BATCH = 500
RUNS = Listable(
    fields={
        "id": Field("nominal_at", Kind.INT),
        "nominal": Field("nominal_at", Kind.TIME),
        "state": Field("state"),
        "reason": Field("reason"),
        "job_id": Field("job_id"),
    },
    order="nominal",
    newest_first=True,
    most=MOST,
)
_ROW = columns(Run)


def enter(tx: Tx, run: Run) -> bool:
    """Write the line; False where this instant has one already, whoever wrote it."""
    marks = ", ".join("?" for _ in Run.__struct_fields__)
    return (
        tx.run(
            f"insert into schedule_runs ({_ROW}) values ({marks}) on conflict do nothing",
            *msgspec.structs.astuple(run),
        )
        == 1
    )


def settle(tx: Tx, run: Run) -> None:
    """What came of a line that this transaction entered."""
    tx.run(
        "update schedule_runs set state = ?, reason = ?, message = ?, job_id = ?"
        " where schedule_id = ? and nominal_at = ?",
        run.state,
        run.reason,
        run.message,
        run.job_id,
        run.schedule_id,
        run.nominal_at,
    )


def page(tx: Tx, customer_id: str, schedule_id: str, listing: Listing) -> list[Run]:
    sql = clauses(listing)
    return tx.all(
        Run,
        f"select {_ROW} from schedule_runs where schedule_id = ? and customer_id = ?"
        f"{sql.where}{sql.page}",
        schedule_id,
        customer_id,
        *sql.params,
        *sql.page_params,
    )


def from_on(tx: Tx, schedule_id: str, first_at: Millis) -> list[Millis]:
    """Instants from this one on that were started."""
    rows = tx.rows(
        "select nominal_at from schedule_runs where schedule_id = ? and nominal_at >= ?"
        " and state = 'started' order by nominal_at",
        schedule_id,
        first_at,
    )
    return [at for (at,) in rows]


def oldest_known(tx: Tx, schedule_id: str) -> Millis:
    """Earlier instants may have been forgotten; 0 while the ledger is not full."""
    found: Millis | None = tx.value(
        "select nominal_at from schedule_runs where schedule_id = ?"
        " order by nominal_at desc limit 1 offset ?",
        schedule_id,
        MOST - 1,
    )
    return found or 0


def forget_old(tx: Tx) -> bool:
    """Drop a batch of what is too old; whether there may be more."""
    gone = tx.run(
        "delete from schedule_runs where (schedule_id, nominal_at) in (select schedule_id,"
        " nominal_at from schedule_runs where decided_at < ? order by decided_at limit ?)",
        tx.now - LIFE,
        BATCH,
    )
    return gone == BATCH


def forget_many(tx: Tx, after: str) -> str | None:
    """Drop what is too much of the schedule behind this one; its id, None when there is none."""
    schedule_id: str | None = tx.value(
        "select id from schedules where id > ? order by id limit 1", after
    )
    if schedule_id is not None:
        tx.run(
            "delete from schedule_runs where schedule_id = ? and nominal_at <="
            " (select nominal_at from schedule_runs where schedule_id = ?"
            " order by nominal_at desc limit 1 offset ?)",
            schedule_id,
            schedule_id,
            MOST,
        )
    return schedule_id
