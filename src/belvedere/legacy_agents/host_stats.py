"""Statistics of hosts that TheEye agents report, and lists of processes that all agents report:
the latest of each type."""

from typing import Any

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.base.clock import Millis, iso
from belvedere.base.errors import Invalid
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.files import quota
from belvedere.hosts import store as hosts
from belvedere.monitors import store as monitors
from belvedere.monitors.evaluation import samples
from belvedere.monitors.evaluation.observations import Observation
from belvedere.monitors.model import MonitorType
from belvedere.protocol import Sample

MAX_STATS = 512 * 1024
TYPES = ("dstat", "psaux")


class StatsRecord(msgspec.Struct):
    """The latest statistics of one type."""

    host_id: str
    customer_name: str
    type: str
    # Any JSON, as the agent sent it.
    stats: Any
    last_update: str
    last_update_timestamp: int


def store_stats(tx: Tx, host_id: str, type_: str, stats: object) -> None:
    assert type_ in TYPES
    text = json_text.clean(msgspec.json.encode(stats).decode())
    if len(text) > MAX_STATS:
        text = msgspec.json.encode({"cut": len(text)}).decode()
    tx.execute(
        "insert into host_stats (host_id, type, stats, at) values (?, ?, ?, ?)"
        " on conflict (host_id, type) do update set stats = excluded.stats, at = excluded.at",
        host_id,
        type_,
        text,
        tx.now,
    )


def store_process_list(tx: Tx, host_id: str, processes: object) -> None:
    store_stats(tx, host_id, "psaux", processes)


def receive_process_list(tx: Tx, host_id: str, processes: object) -> None:
    """A TheEye agent reports no state for its list: the list itself is a successful check."""
    store_process_list(tx, host_id, processes)
    rows = [
        row
        for row in monitors.for_host(tx, host_id, lock=True)
        if row.type == MonitorType.PSAUX and row.enabled
    ]
    if not rows:
        return
    count = len(processes) if isinstance(processes, list) else 0
    observations = [(row, _process_count(row.id, count, tx.now)) for row in rows]
    has_room = quota.has_room(tx, rows[0].customer_id)
    samples.record_observations(tx, observations, keeps_history=has_room)


def _process_count(monitor_id: str, count: int, now: Millis) -> Observation:
    sample = Sample(
        *(monitor_id, 0, 0, "normal", "success", f"{count} processes", {"count": count}),
        measured={"count": float(count)},
    )
    return samples.observation_from_sample(sample, now)


def list_stats(tx: Tx, actor: Actor, host_id: str, type_: str | None) -> list[StatsRecord]:
    """The latest statistics. Command lines may contain secrets, so processes are for admins."""
    require(actor, Level.VIEWER)
    if type_ is not None and type_ not in TYPES:
        raise Invalid(
            f"Unknown type {type_!r}; use one of {', '.join(TYPES)}.", code="invalid_query"
        )
    hosts.find(tx, actor.customer_id, host_id)
    rows = tx.rows(
        "select type, stats, at from host_stats where host_id = ? order by type", host_id
    )
    return [
        StatsRecord(host_id, actor.customer_name, name, msgspec.json.decode(stats), iso(at), at)
        for name, stats, at in rows
        if type_ in (None, name) and (name != "psaux" or actor.runs_all)
    ]
