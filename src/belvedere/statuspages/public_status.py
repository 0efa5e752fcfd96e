"""The public content of a status page: only its own names and numbers."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from belvedere.base.clock import DAY, HOUR, SECOND, Clock, Millis, iso
from belvedere.db import Tx, columns
from belvedere.indicators.model import IndicatorRow
from belvedere.monitors.evaluation.rollups import UP
from belvedere.monitors.model import MonitorRow
from belvedere.overview.rows.check_strip import is_periodic
from belvedere.overview.rows.queries import json_list
from belvedere.statuspages import incidents, logo, posts, service
from belvedere.statuspages.incidents import Incident
from belvedere.statuspages.model import Part, StatusPageRow
from belvedere.statuspages.posts import PostedIncident

DAYS = 90
# Monitors of one part; further ones with the same tag are ignored.
MAX_MONITORS = 1_000
# Public pages are cached, so that many anonymous requests cost one query.
MAX_AGE: Millis = 5 * SECOND
MAX_CACHED_PAGES = 500


class Day(msgspec.Struct):
    """`up`: percent of good checks on that day (UTC), null without any."""

    day: str
    up: float | None


class PartStatus(msgspec.Struct):
    """`state`: normal, failure, unknown or paused. Uptimes in percent; `days`: 90, oldest first."""

    name: str
    group: str
    state: str
    since: str | None
    uptime_day: float | None
    uptime_week: float | None
    uptime_month: float | None
    uptime_quarter: float | None
    days: list[Day]


class Status(msgspec.Struct):
    """`state`: the worst state of the parts; `failure` while a posted outage is not resolved."""

    title: str
    description: str
    state: str
    updated: str
    parts: list[PartStatus]
    incidents: list[Incident]
    # Incidents that people posted, newest first.
    posts: list[PostedIncident]
    # SHA-256 of the logo; empty: it has none.
    logo: str
    # Whether visitors can subscribe by e-mail.
    subscribe: bool = False


def status(tx: Tx, slug: str) -> Status:
    row = service.public_row(tx, slug)
    part_monitors = _monitors(tx, row)
    parts = _parts(tx, row.customer_id, part_monitors)
    names = {monitor.id: part.name for part, monitors in part_monitors for monitor in monitors}
    posted = posts.public_posts(tx, row.id)
    has_outage = any(post.ended is None and post.impact == "outage" for post in posted)
    return Status(
        row.title,
        row.description,
        "failure" if has_outage else worst([part.state for part in parts]),
        iso(tx.now),
        parts,
        incidents.for_monitors(tx, names),
        posted,
        logo.digest(tx, row.id),
    )


PartMonitors = list[tuple[Part, list[MonitorRow]]]


def _monitors(tx: Tx, row: StatusPageRow) -> PartMonitors:
    """The monitors of each part; those of a tag are looked up on every call."""
    parts = row.part_list
    has_tags = any(part.tag for part in parts)
    narrowed = "" if has_tags else f" and id in {tx.dialect.in_texts}"
    params = [] if has_tags else [json_list([part.monitor_id for part in parts])]
    rows = tx.all(
        MonitorRow,
        f"select {columns(MonitorRow)} from monitors where customer_id = ?"
        f" and deleted_at is null{narrowed} order by id",
        *(row.customer_id, *params),
    )
    by_key = _by_key(rows, has_tags=has_tags)
    return [(part, by_key.get(_key(part), [])[:MAX_MONITORS]) for part in parts]


def _key(part: Part) -> tuple[str, str]:
    return ("tag", part.tag) if part.tag else ("id", part.monitor_id)


def _by_key(
    rows: Sequence[MonitorRow], *, has_tags: bool
) -> dict[tuple[str, str], list[MonitorRow]]:
    """Monitors by id and by tag. The tags of each are decoded once, not once for each part."""
    by_key: dict[tuple[str, str], list[MonitorRow]] = {("id", row.id): [row] for row in rows}
    for row in rows if has_tags else ():
        for tag in msgspec.json.decode(row.tags, type=list[str]):
            by_key.setdefault(("tag", tag), []).append(row)
    return by_key


def _parts(tx: Tx, customer_id: str, part_monitors: PartMonitors) -> list[PartStatus]:
    """Parts with the same monitors are computed once."""
    cache: dict[tuple[str, str], PartStatus] = {}
    parts: list[PartStatus] = []
    for part, rows in part_monitors:
        if part.indicator_id:
            parts.append(_indicator(tx, customer_id, part))
            continue
        if _key(part) not in cache:
            cache[_key(part)] = _part(tx, part, rows)
        copy = msgspec.structs.replace(cache[_key(part)], name=part.name, group=part.group)
        parts.append(copy)
    return parts


def worst(states: Sequence[str]) -> str:
    distinct = set(states) - {"paused"}
    return next((word for word in ("failure", "unknown", "normal") if word in distinct), "unknown")


def _part(tx: Tx, part: Part, rows: Sequence[MonitorRow]) -> PartStatus:
    states = [_public(row.state) for row in rows]
    state = "paused" if set(states) == {"paused"} else worst(states)
    since = min((row.state_at for row in rows if _public(row.state) == state), default=None)
    ids = [row.id for row in rows if is_periodic(row)]
    days = _sums(tx, ids, DAY, DAYS * DAY)
    today = tx.now // DAY
    bars = [days.get((today - n) * DAY, (0, 0.0)) for n in range(DAYS)]
    return PartStatus(
        part.name,
        part.group,
        state,
        None if since is None else iso(since),
        _percent(list(_sums(tx, ids, HOUR, DAY).values())),
        _percent(bars[:7]),
        _percent(bars[:30]),
        _percent(bars),
        [Day(iso((today - n) * DAY)[:10], _percent([bars[n]])) for n in reversed(range(DAYS))],
    )


def _public(state: str) -> str:
    """The public does not learn whether a check has not run yet or stopped reporting."""
    return "unknown" if state == "updates_stopped" else state


def _sums(
    tx: Tx, ids: Sequence[str], step: Millis, span: Millis
) -> dict[Millis, tuple[int, float]]:
    """(checks, good checks) by start of the step."""
    rows = tx.rows(
        "select at, sum(count), sum(total) from monitor_rollups"
        f" where monitor_id in {tx.dialect.in_texts} and metric = ? and step = ? and at >"
        f" ? group by at",
        *(json_list(ids), UP, step, tx.now - span),
    )
    return {at: (int(checks), float(good)) for at, checks, good in rows}


def _percent(sums: Sequence[tuple[int, float]]) -> float | None:
    checks = sum(count for count, _ in sums)
    return round(100 * sum(good for _, good in sums) / checks, 3) if checks else None


def _indicator(tx: Tx, customer_id: str, part: Part) -> PartStatus:
    row = tx.one(
        IndicatorRow,
        f"select {columns(IndicatorRow)} from indicators where id = ? and customer_id = ?"
        " and deleted_at is null",
        *(part.indicator_id, customer_id),
    )
    is_current = row is not None and not row.is_stale(tx.now)
    state = row.state if row is not None and is_current else "unknown"
    public_state = "failure" if state == "failure" else "normal" if state == "normal" else "unknown"
    return PartStatus(part.name, part.group, public_state, None, None, None, None, None, [])


class PageCache:
    """Keeps each page for `MAX_AGE`. A full cache is emptied: pages in use are computed again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pages: dict[str, tuple[Millis, Status]] = {}
        self._pending: dict[str, asyncio.Future[Status]] = {}

    async def get(self, slug: str, compute: Callable[[], Awaitable[Status]]) -> Status:
        """Requests that arrive while a page is being computed share the result."""
        entry = self._pages.get(slug)
        if entry is not None and 0 <= self._clock() - entry[0] < MAX_AGE:
            return entry[1]
        pending = self._pending.get(slug)
        if pending is None:
            pending = self._pending[slug] = asyncio.ensure_future(compute())
            pending.add_done_callback(lambda done: self._store(slug, done))
        # Shielded: a request that is cancelled must not cancel the others.
        return await asyncio.shield(pending)

    def _store(self, slug: str, done: "asyncio.Future[Status]") -> None:
        del self._pending[slug]
        if done.cancelled() or done.exception() is not None:
            return
        if len(self._pages) >= MAX_CACHED_PAGES:
            self._pages.clear()
        self._pages[slug] = (self._clock(), done.result())
