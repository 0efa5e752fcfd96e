"""Counts for the badges of the navigation: cheap enough to read after every burst of events."""

from typing import Any

import msgspec

from belvedere.access import Actor, Level, require, visible_filter
from belvedere.db import Tx
from belvedere.hosts import store as hosts
from belvedere.jobs import permissions
from belvedere.jobs.model import IS_OPEN
from belvedere.overview import pending_decisions

# Jobs are counted up to this number; `capped` says that there are more.
MAX_JOBS = 10_000


class MonitorCounts(msgspec.Struct):
    normal: int = 0
    failure: int = 0
    updates_stopped: int = 0
    unknown: int = 0
    paused: int = 0


class JobCounts(msgspec.Struct):
    """Running: assigned or started. Queued: ready or syncing."""

    running: int = 0
    queued: int = 0
    onhold: int = 0


class HostCounts(msgspec.Struct):
    online: int = 0
    offline: int = 0
    unreachable: int = 0
    disabled: int = 0
    draining: int = 0


class IndicatorCounts(msgspec.Struct):
    failing: int = 0
    total: int = 0


class Counts(msgspec.Struct):
    """Counts of what the caller may see. `needs`: approvals and inputs that wait for the caller,
    at most 200. `capped`: there are more open jobs than were counted."""

    monitors: MonitorCounts
    jobs: JobCounts
    needs: int
    hosts: HostCounts
    indicators: IndicatorCounts
    unread: int
    capped: bool


def counts(tx: Tx, actor: Actor) -> Counts:
    require(actor, Level.VIEWER)
    lifecycles = _jobs(tx, actor)
    return Counts(
        MonitorCounts(**_monitors(tx, actor)),
        JobCounts(
            running=lifecycles.get("assigned", 0) + lifecycles.get("started", 0),
            queued=lifecycles.get("ready", 0) + lifecycles.get("syncing", 0),
            onhold=lifecycles.get("onhold", 0),
        ),
        len(pending_decisions.answerable_jobs(tx, actor)) if lifecycles.get("onhold") else 0,
        HostCounts(**_hosts(tx, actor)),
        _indicators(tx, actor),
        _unread(tx, actor),
        sum(lifecycles.values()) > MAX_JOBS,
    )


def _counts_by_state(rows: list[tuple[Any, ...]]) -> dict[str, int]:
    return {state: int(count) for state, count in rows}


def _monitors(tx: Tx, actor: Actor) -> dict[str, int]:
    visibility, params = visible_filter(actor, "monitor", "m.id", open_when_empty=True)
    return _counts_by_state(
        tx.rows(
            "select m.state, count(*) from monitors m where m.customer_id = ?"
            f" and m.deleted_at is null and {visibility} group by m.state",
            *(actor.customer_id, *params),
        )
    )


def _jobs(tx: Tx, actor: Actor) -> dict[str, int]:
    """Uses the index of open jobs however long the history is: `customer_id || ''` keeps the
    planner from choosing an index on the customer."""
    visibility, params = permissions.visible_filter(actor, tx.dialect)
    return _counts_by_state(
        tx.rows(
            "select o.lifecycle, count(*) from (select j.lifecycle from jobs j"
            f" where j.{IS_OPEN} and j.expires_at > 0 and j.customer_id || '' = ? and {visibility}"
            " limit ?) o group by o.lifecycle",
            *(actor.customer_id, *params, MAX_JOBS + 1),
        )
    )


def _hosts(tx: Tx, actor: Actor) -> dict[str, int]:
    return _counts_by_state(
        tx.rows(
            "select s.state, count(*) from"
            f" (select {hosts.STATE} as state from hosts where customer_id = ?"
            " and deleted_at is null) s group by s.state",
            actor.customer_id,
        )
    )


def _indicators(tx: Tx, actor: Actor) -> IndicatorCounts:
    visibility, params = visible_filter(actor, "indicator", "i.id")
    row = tx.row(
        "select coalesce(sum(case when i.state = 'failure' then 1 else 0 end), 0), count(*)"
        f" from indicators i where i.customer_id = ? and i.deleted_at is null and {visibility}",
        *(actor.customer_id, *params),
    )
    assert row is not None
    return IndicatorCounts(int(row[0]), int(row[1]))


def _unread(tx: Tx, actor: Actor) -> int:
    return int(
        tx.value(
            "select count(*) from notifications where user_id = ? and customer_id = ?"
            " and read_at is null",
            *(actor.user_id, actor.customer_id),
        )
    )
