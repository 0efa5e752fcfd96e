"""Trials: checks that an agent makes once. Their rows are not monitors, so that no list, count or
notification has to leave them out; agents get them like changed monitors."""

from collections.abc import Sequence

import msgspec

from belvedere.access.crypto import sealed_values
from belvedere.base.clock import MINUTE, SECOND, Millis
from belvedere.db import Tx, columns
from belvedere.monitors import store, watch_changes
from belvedere.monitors.config import new_rows
from belvedere.monitors.model import MAX_LOOPTIME, MonitorRow, MonitorType

# How long the agent has to report: the time limit of the check, and the way there and back.
LIFE: Millis = 45 * SECOND
# How long a result can be read.
RETENTION: Millis = 10 * MINUTE


class TrialRow(msgspec.Struct):
    """A row of `monitor_trials`, in the order of the select."""

    id: str
    customer_id: str
    host_id: str
    type: str
    config: str
    created_at: Millis
    expires_at: Millis
    result: str | None = None


_ROW = columns(TrialRow)


def insert(tx: Tx, row: TrialRow) -> None:
    stored = msgspec.structs.replace(row, config=store.sealed_config(tx, row.id, row.config))
    marks = ", ".join("?" for _ in TrialRow.__struct_fields__)
    tx.execute(
        f"insert into monitor_trials ({_ROW}) values ({marks})", *msgspec.structs.astuple(stored)
    )
    watch_changes.record(tx, row.host_id, row.id)


def find(tx: Tx, customer_id: str, trial_id: str) -> TrialRow | None:
    sql = f"select {_ROW} from monitor_trials where id = ? and customer_id = ?"
    return tx.one(TrialRow, sql, trial_id, customer_id)


def count_open(tx: Tx, customer_id: str) -> int:
    sql = (
        "select count(*) from monitor_trials where customer_id = ? and expires_at > ?"
        " and result is null"
    )
    return int(tx.value(sql, customer_id, tx.now))


def open_for_host(tx: Tx, host_id: str, trial_ids: Sequence[str]) -> list[MonitorRow]:
    """Those without a result, as the rows that the checks of a host are built from."""
    return [_monitor_row(tx, row) for row in _open_rows(tx, host_id, trial_ids)]


def all_open_for_host(tx: Tx, host_id: str) -> list[MonitorRow]:
    sql = "select id from monitor_trials where host_id = ? and expires_at > ? and result is null"
    trial_ids = [trial_id for (trial_id,) in tx.rows(sql, host_id, tx.now)]
    return open_for_host(tx, host_id, trial_ids) if trial_ids else []


def _open_rows(tx: Tx, host_id: str, trial_ids: Sequence[str]) -> list[TrialRow]:
    return tx.all(
        TrialRow,
        f"select {_ROW} from monitor_trials where id in {tx.dialect.in_texts} and host_id = ?"
        " and result is null and expires_at > ?",
        msgspec.json.encode(list(trial_ids)).decode(),
        host_id,
        tx.now,
    )


def _monitor_row(tx: Tx, trial: TrialRow) -> MonitorRow:
    row = new_rows.new_row(
        trial.customer_id, MonitorType(trial.type), trial.host_id, trial.created_at
    )
    row.id = trial.id
    row.config = sealed_values.open_object(tx, store.seal_context(trial.id), trial.config)
    # One check, about at once: an agent does not wait a period for the first.
    row.looptime = MAX_LOOPTIME
    return row


def write_results(tx: Tx, host_id: str, results: dict[str, str]) -> None:
    """Store what the agent of this host reported, by trial; the agent then drops the check."""
    trial_ids = [row.id for row in _open_rows(tx, host_id, list(results))]
    for trial_id in trial_ids:
        # The first result counts.
        sql = "update monitor_trials set result = ?, config = '{}' where id = ? and result is null"
        tx.execute(sql, results[trial_id], trial_id)
    watch_changes.record(tx, host_id, *trial_ids)


def purge(tx: Tx, limit: int) -> int:
    rows = tx.rows(
        "select id from monitor_trials where expires_at < ? order by expires_at limit ?",
        tx.now - RETENTION,
        limit,
    )
    for (trial_id,) in rows:
        tx.execute("delete from monitor_trials where id = ?", trial_id)
        # The agent gets a complete list, without the check, if it still has it.
        watch_changes.delete_monitor(tx, trial_id)
    return len(rows)
