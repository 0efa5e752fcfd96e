"""Counts for the badges of the navigation: cheap enough to read after every burst of events."""

from typing import Any

import msgspec

from belvedere.access import Actor, Level, require, visible_filter
from belvedere.base.clock import iso_or_none
from belvedere.db import Tx
from belvedere.hosts import store as hosts
from belvedere.jobs import permissions
from belvedere.jobs.model import IS_OPEN
from belvedere.monitors.evaluation.watchdog import RECONNECT_GRACE
from belvedere.overview import pending_decisions

# The names of more hosts would not fit into one line of the console.
MAX_DOWN_HOSTS = 5
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


class DownHost(msgspec.Struct):
    id: str
    hostname: str
    last_seen: str | None


class HostCounts(msgspec.Struct):
    """`down`: hosts without a connected agent that have active monitors or tasks; those that were
    seen last come first in `down_hosts`, which has at most five of them."""

    online: int = 0
    offline: int = 0
    unreachable: int = 0
    disabled: int = 0
    draining: int = 0
    down: int = 0
    down_hosts: list[DownHost] = []


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
        _hosts(tx, actor),
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


def _hosts(tx: Tx, actor: Actor) -> HostCounts:
    by_state = _counts_by_state(
        tx.rows(
            "select s.state, count(*) from"
            f" (select {hosts.STATE} as state from hosts where customer_id = ?"
            " and deleted_at is null) s group by s.state",
            actor.customer_id,
        )
    )
    is_any_away = by_state.get("offline") or by_state.get("unreachable")
    down = _down_hosts(tx, actor) if is_any_away else []
    return HostCounts(
        online=by_state.get("online", 0),
        offline=by_state.get("offline", 0),
        unreachable=by_state.get("unreachable", 0),
        disabled=by_state.get("disabled", 0),
        draining=by_state.get("draining", 0),
        down=len(down),
        down_hosts=down[:MAX_DOWN_HOSTS],
    )


def _down_hosts(tx: Tx, actor: Actor) -> list[DownHost]:
    """A disconnected agent has as much time to reconnect as host monitors give it."""
    rows = tx.rows(
        "select h.id, h.hostname, h.seen_at from hosts h where h.customer_id = ?"
        " and h.deleted_at is null and h.enabled = 1 and (h.gone_at is not null"
        " or (h.connected_at is null and coalesce(h.seen_at, h.created_at) < ?))"
        " and (exists (select 1 from monitors m where m.host_id = h.id and m.deleted_at is null"
        " and m.enabled = 1)"
        " or exists (select 1 from tasks t where t.host_id = h.id and t.deleted_at is null))"
        " order by coalesce(h.seen_at, 0) desc, h.id",
        actor.customer_id,
        tx.now - RECONNECT_GRACE,
    )
    return [DownHost(host_id, name, iso_or_none(seen_at)) for host_id, name, seen_at in rows]


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
