"""The samples of hosts that stay up, once a minute for each. Nothing but its times changes for such
a host, so all of them are written by the same few statements, however many there are."""

from typing import Final

import msgspec

from belvedere.base.clock import Millis
from belvedere.db import Tx
from belvedere.monitors import model
from belvedere.monitors.evaluation import rollups, samples
from belvedere.monitors.evaluation.observations import Observation

# Hosts in one transaction.
BATCH_SIZE = 500
UP_STATE: Final = "normal"
UP_EVENT = "host:up"
# One more sample of such a monitor changes no state: the rule of `samples.record_observations` as
# SQL. Without maintenance, which may exclude the sample.
IS_STEADY = (
    f"(state = '{UP_STATE}' and flips = '[]' and fails_count = 0 and is_failing = 0"
    " and is_flapping = 0 and maintenance = '[]')"
)
# A host that died while the server or its database did not work is marked as unreachable only some
# time afterwards. Until then, its row says that its agent is connected, but when it was last seen.
SEEN_WITHIN: Millis = 30_000
IS_UP = (
    "exists (select 1 from hosts h where h.id = monitors.host_id and h.deleted_at is null"
    " and h.connected_at is not null and h.gone_at is null and h.seen_at >= ?)"
)
_DUE = (
    "deleted_at is null and type = 'host' and enabled = 1 and checked_at <= ? and id > ?"
    f" and {IS_STEADY} and {IS_UP}"
)


def is_due(tx: Tx) -> bool:
    """Whether a host needs a sample."""
    row = tx.row(f"select 1 from monitors where {_DUE} limit 1", *_due_params(tx, ""))
    return row is not None


def _due_params(tx: Tx, after: str) -> tuple[Millis, str, Millis]:
    return tx.now - model.LOOPTIME, after, tx.now - SEEN_WITHIN


def record(tx: Tx, after: str) -> str | None:
    """Write the samples of the next hosts, in the order of their monitors' ids. Returns the last id
    if there may be more."""
    rows = tx.rows(
        f"select id from monitors where {_DUE} order by id limit ?{tx.dialect.lock_rows}",
        *(*_due_params(tx, after), BATCH_SIZE),
    )
    ids = [monitor_id for (monitor_id,) in rows]
    if ids:
        _write(tx, msgspec.json.encode(ids).decode())
    return ids[-1] if len(ids) == BATCH_SIZE else None


def _write(tx: Tx, ids: str) -> None:
    of_these = f"from monitors where id in {tx.dialect.in_texts}"
    tx.execute(
        "insert into monitor_samples (monitor_id, at, state, message, measured)"
        f" select id, cast(? as bigint), '{UP_STATE}', '', '{{}}' {of_these}"
        " on conflict (monitor_id, at) do nothing",
        *(tx.now, ids),
    )
    for step in rollups.STEPS:
        _count(tx, of_these, ids, step)
    event = samples.last_event(Observation(tx.now, UP_STATE, UP_EVENT))
    tx.execute(
        f"update monitors set checked_at = ?, last_event = ? where id in {tx.dialect.in_texts}",
        *(tx.now, event, ids),
    )


def _count(tx: Tx, of_these: str, ids: str, step: Millis) -> None:
    tx.execute(
        "insert into monitor_rollups (monitor_id, metric, step, at, count, total, low, high)"
        f" select id, '{rollups.UP}', cast(? as bigint), cast(? as bigint), 1, 1.0, 1.0, 1.0"
        f" {of_these} on conflict (monitor_id, metric, step, at) do update"
        " set count = monitor_rollups.count + 1, total = monitor_rollups.total + 1.0,"
        " low = case when monitor_rollups.low > 1.0 then 1.0 else monitor_rollups.low end,"
        " high = case when monitor_rollups.high < 1.0 then 1.0 else monitor_rollups.high end",
        *(step, tx.now // step * step, ids),
    )
