"""A status page as everybody sees it: only the names that were given to it, and numbers."""

from collections.abc import Sequence

import msgspec

from belvedere.base.clock import DAY, HOUR, Millis, iso
from belvedere.base.errors import NotFound
from belvedere.db import Tx, columns
from belvedere.indicators.model import IndicatorRow
from belvedere.monitors.evaluation.rollups import UP
from belvedere.monitors.model import MonitorRow
from belvedere.overview.rows.beats import is_steady
from belvedere.overview.rows.rights import json_list
from belvedere.statuspages import incidents
from belvedere.statuspages.incidents import Incident
from belvedere.statuspages.model import Part, StatusPageRow, is_slug

DAYS = 90
# Of more monitors than these a part shows the state, and a page is made of no more.
MOST_MONITORS = 1_000


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
    """`state`: that of the part that is worst."""

    title: str
    description: str
    state: str
    updated: str
    parts: list[PartStatus]
    incidents: list[Incident]


def status(tx: Tx, slug: str) -> Status:
    row = _enabled(tx, slug) if is_slug(slug) else None
    if row is None:
        raise NotFound("There is no such status page.", code="statuspage_not_found")
    watched = _monitors(tx, row)
    parts = _parts(tx, row.customer_id, watched)
    names = {one.id: part.name for part, ones in watched for one in ones}
    return Status(
        row.title,
        row.description,
        worst([part.state for part in parts]),
        iso(tx.now),
        parts,
        incidents.of(tx, names),
    )


def _enabled(tx: Tx, slug: str) -> StatusPageRow | None:
    return tx.one(
        StatusPageRow,
        f"select {columns(StatusPageRow, 's.')} from statuspages s"
        " join customers c on c.id = s.customer_id"
        " where s.slug = ? and s.enabled = 1 and c.enabled = 1",
        slug,
    )


Watched = list[tuple[Part, list[MonitorRow]]]


def _monitors(tx: Tx, row: StatusPageRow) -> Watched:
    """What each part watches; those of a tag are found anew each time."""
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
    return [(part, by_key.get(_key(part), [])[:MOST_MONITORS]) for part in parts]


def _key(part: Part) -> tuple[str, str]:
    return ("tag", part.tag) if part.tag else ("id", part.monitor_id)


def _by_key(
    rows: Sequence[MonitorRow], *, has_tags: bool
) -> dict[tuple[str, str], list[MonitorRow]]:
    """Monitors by id and by tag. The tags of each are read once, however many parts there are."""
    by_key: dict[tuple[str, str], list[MonitorRow]] = {("id", row.id): [row] for row in rows}
    for row in rows if has_tags else ():
        for tag in msgspec.json.decode(row.tags, type=list[str]):
            by_key.setdefault(("tag", tag), []).append(row)
    return by_key


def _parts(tx: Tx, customer_id: str, watched: Watched) -> list[PartStatus]:
    """Parts of the same monitors are computed once."""
    known: dict[tuple[str, str], PartStatus] = {}
    parts: list[PartStatus] = []
    for part, rows in watched:
        if part.indicator_id:
            parts.append(_indicator(tx, customer_id, part))
            continue
        if _key(part) not in known:
            known[_key(part)] = _part(tx, part, rows)
        same = msgspec.structs.replace(known[_key(part)], name=part.name, group=part.group)
        parts.append(same)
    return parts


def worst(states: Sequence[str]) -> str:
    found = set(states) - {"paused"}
    return next((word for word in ("failure", "unknown", "normal") if word in found), "unknown")


def _part(tx: Tx, part: Part, rows: Sequence[MonitorRow]) -> PartStatus:
    states = [_public(row.state) for row in rows]
    state = "paused" if set(states) == {"paused"} else worst(states)
    since = min((row.state_at for row in rows if _public(row.state) == state), default=None)
    ids = [row.id for row in rows if is_steady(row)]
    days = _sums(tx, ids, DAY, DAYS * DAY)
    today = tx.now // DAY
    bars = [days.get((today - n) * DAY, (0, 0.0)) for n in range(DAYS)]
    return PartStatus(
        part.name,
        part.group,
        state,
        None if since is None else iso(since),
        _share(list(_sums(tx, ids, HOUR, DAY).values())),
        _share(bars[:7]),
        _share(bars[:30]),
        _share(bars),
        [Day(iso((today - n) * DAY)[:10], _share([bars[n]])) for n in reversed(range(DAYS))],
    )


def _public(state: str) -> str:
    """Whether nobody looked yet or a check fell silent is nobody's business outside."""
    return "unknown" if state == "updates_stopped" else state


def _sums(
    tx: Tx, ids: Sequence[str], step: Millis, span: Millis
) -> dict[Millis, tuple[int, float]]:
    """(checks, good ones) by step."""
    rows = tx.rows(
        "select at, sum(count), sum(total) from monitor_rollups"
        f" where monitor_id in {tx.dialect.in_texts} and metric = ? and step = ? and at >"
        f" ? group by at",
        *(json_list(ids), UP, step, tx.now - span),
    )
    return {at: (int(checks), float(good)) for at, checks, good in rows}


def _share(sums: Sequence[tuple[int, float]]) -> float | None:
    checks = sum(count for count, _ in sums)
    return round(100 * sum(good for _, good in sums) / checks, 3) if checks else None


def _indicator(tx: Tx, customer_id: str, part: Part) -> PartStatus:
    row = tx.one(
        IndicatorRow,
        f"select {columns(IndicatorRow)} from indicators where id = ? and customer_id = ?"
        " and deleted_at is null",
        *(part.indicator_id, customer_id),
    )
    is_known = row is not None and not row.is_stale(tx.now)
    state = row.state if row is not None and is_known else "unknown"
    shown = "failure" if state == "failure" else "normal" if state == "normal" else "unknown"
    return PartStatus(part.name, part.group, shown, None, None, None, None, None, [])
