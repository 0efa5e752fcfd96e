"""The rows of schedules."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere.access import Actor, visible_filter
from belvedere.access.crypto import sealed_values
from belvedere.base.clock import Millis
from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.rest import response_budget
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.listing_sql import clauses
from belvedere.schedules.model import ScheduleRow
from belvedere.tasks.store import ScheduleLine

SCHEDULES = Listable(
    fields={
        "id": Field("id"),
        "name": Field("name", is_name=True),
        "target": Field("target"),
        "task_id": Field("case target when 'task' then target_id end"),
        "workflow_id": Field("case target when 'workflow' then target_id end"),
        "timezone": Field("timezone"),
        "enable": Field("enabled", FieldKind.BOOL),
        "nextRunAt": Field("next_at", FieldKind.TIME),
        "lastRunAt": Field("last_at", FieldKind.TIME),
        "version": Field("version", FieldKind.INT),
        "creation_date": Field("created_at", FieldKind.TIME),
        "last_update": Field("updated_at", FieldKind.TIME),
    }
)
# Both have ACLs; their ids are distinct.
TARGETS = ("task", "workflow")
_ROW = columns(ScheduleRow)
_NONE = ("null", "[]")


def not_found() -> NotFound:
    return NotFound("There is no such schedule.", code="schedule_not_found")


def seal_context(schedule_id: str) -> str:
    return f"schedule/{schedule_id}"


def sealed_arguments(tx: Tx, schedule_id: str, text: str) -> str:
    """Arguments as they are stored: any of them may be masked."""
    return text if text in _NONE else sealed_values.seal_text(tx, seal_context(schedule_id), text)


def _sealed(tx: Tx, row: ScheduleRow) -> ScheduleRow:
    return msgspec.structs.replace(row, arguments=sealed_arguments(tx, row.id, row.arguments))


def _unsealed(tx: Tx, rows: list[ScheduleRow]) -> list[ScheduleRow]:
    for row in rows:
        row.arguments = sealed_values.open_text(tx, seal_context(row.id), row.arguments, "null")
    return rows


def find(tx: Tx, customer_id: str, schedule_id: str, *, lock: bool = False) -> ScheduleRow:
    """The schedule; `lock` locks its row until the end of the transaction."""
    row = tx.one(
        ScheduleRow,
        f"select {_ROW} from schedules where id = ? and customer_id = ?"
        f"{tx.dialect.lock_rows if lock else ''}",
        schedule_id,
        customer_id,
    )
    if row is None:
        raise not_found()
    return _unsealed(tx, [row])[0]


def for_target(tx: Tx, customer_id: str, target_id: str) -> list[ScheduleRow]:
    rows = tx.all(
        ScheduleRow,
        f"select {_ROW} from schedules where target_id = ? and customer_id = ? order by id",
        target_id,
        customer_id,
    )
    return _unsealed(tx, rows)


def fit_page(tx: Tx, actor: Actor, listing: Listing) -> Listing:
    """The listing, shortened to the size limit of a response."""
    is_visible, params = _visible(actor)
    sql = clauses(listing)
    rows = tx.rows(
        "select octet_length(arguments) from schedules"
        f" where customer_id = ? and {is_visible}{sql.where}{sql.page}",
        *(actor.customer_id, *params, *sql.params, *sql.page_params),
    )
    return response_budget.fit_listing(listing, (size for (size,) in rows))


def select_page(tx: Tx, actor: Actor, listing: Listing) -> list[ScheduleRow]:
    """Schedules of targets that the actor may see."""
    is_visible, params = _visible(actor)
    sql = clauses(listing)
    rows = tx.all(
        ScheduleRow,
        f"select {_ROW} from schedules where customer_id = ? and {is_visible}{sql.where}{sql.page}",
        actor.customer_id,
        *params,
        *sql.params,
        *sql.page_params,
    )
    return _unsealed(tx, rows)


def count(tx: Tx, actor: Actor, listing: Listing) -> int:
    is_visible, params = _visible(actor)
    sql = clauses(listing)
    return int(
        tx.value(
            f"select count(*) from schedules where customer_id = ? and {is_visible}{sql.where}",
            actor.customer_id,
            *params,
            *sql.params,
        )
    )


def _visible(actor: Actor) -> tuple[str, list[Any]]:
    filters = [visible_filter(actor, kind, "target_id") for kind in TARGETS]
    return (
        f"({' or '.join(sql for sql, _ in filters)})",
        [param for _, params in filters for param in params],
    )


def insert(tx: Tx, row: ScheduleRow) -> None:
    marks = ", ".join("?" for _ in ScheduleRow.__struct_fields__)
    values = msgspec.structs.astuple(_sealed(tx, row))
    tx.execute(f"insert into schedules ({_ROW}) values ({marks})", *values)


def save(tx: Tx, row: ScheduleRow) -> None:
    """Write back a row that this transaction has locked."""
    names = [name for name in ScheduleRow.__struct_fields__ if name not in ("id", "customer_id")]
    sealed = _sealed(tx, row)
    tx.execute(
        f"update schedules set {', '.join(f'{name} = ?' for name in names)}"
        " where id = ? and customer_id = ?",
        *(getattr(sealed, name) for name in names),
        row.id,
        row.customer_id,
    )


def delete(tx: Tx, row: ScheduleRow) -> None:
    tx.execute("delete from schedule_runs where schedule_id = ?", row.id)
    tx.execute("delete from schedules where id = ? and customer_id = ?", row.id, row.customer_id)


# For the loop, over all organizations. Instants of a pause are decided when it ends.
_DUE = "next_at <= ? and (paused_at is null or paused_until <= ? or next_at < paused_at)"


def next_due_at(tx: Tx) -> Millis | None:
    """The next instant of any schedule that is not paused."""
    next_at: Millis | None = tx.value(
        "select min(next_at) from schedules where next_at is not null"
        " and (paused_at is null or paused_until <= ? or next_at < paused_at)",
        tx.now,
    )
    return next_at


def due_ids(tx: Tx, limit: int) -> list[str]:
    rows = tx.rows(
        f"select id from schedules where {_DUE} order by next_at limit ?", tx.now, tx.now, limit
    )
    return [schedule_id for (schedule_id,) in rows]


def lock_due(tx: Tx, schedule_id: str) -> ScheduleRow | None:
    """The schedule, locked, if it is still due and no other server has locked it."""
    row = tx.one(
        ScheduleRow,
        f"select {_ROW} from schedules where id = ? and {_DUE}{tx.dialect.skip_locked}",
        schedule_id,
        tx.now,
        tx.now,
    )
    return None if row is None else _unsealed(tx, [row])[0]


def lines_for_tasks(
    tx: Tx, customer_id: str, task_ids: Sequence[str]
) -> dict[str, list[ScheduleLine]]:
    """The schedules of each task, oldest first, as the record of a task shows them."""
    rows = tx.all(
        ScheduleLine,
        f"select {columns(ScheduleLine)} from schedules where customer_id = ? and target = 'task'"
        f" and target_id in {tx.dialect.in_texts} order by id",
        customer_id,
        msgspec.json.encode(task_ids).decode(),
    )
    lines: dict[str, list[ScheduleLine]] = {task_id: [] for task_id in task_ids}
    for row in rows:
        lines[row.target_id].append(row)
    return lines
