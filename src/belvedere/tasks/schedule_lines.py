"""When tasks run by themselves. Schedules lie above; their table is read here by its name."""

from collections.abc import Sequence

import msgspec

from belvedere.base.clock import Millis
from belvedere.db import Tx, columns


class ScheduleLine(msgspec.Struct):
    """What a task's record tells of a schedule."""

    id: str
    name: str
    run_date: Millis | None
    repeat_every: str | None
    timezone: str
    next_at: Millis | None
    target_id: str


def of_tasks(tx: Tx, customer_id: str, task_ids: Sequence[str]) -> dict[str, list[ScheduleLine]]:
    """The schedules of each, oldest first."""
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
