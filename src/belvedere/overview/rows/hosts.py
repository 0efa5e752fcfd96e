"""Hosts as rows of a page: state, load, and how many of their monitors fail."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere.access import Actor, Level, require, visible_filter
from belvedere.base.clock import Millis, iso_or_none
from belvedere.db import Tx
from belvedere.db.interface import Dialect
from belvedere.hosts import journal_warnings, store
from belvedere.hosts.journal_warnings import HostWarning
from belvedere.hosts.model import HostRow
from belvedere.jobs.recovery import hold
from belvedere.overview.rows import queries
from belvedere.overview.rows.queries import Series, json_list, latest_rows
from belvedere.rest.listing import Field, FieldKind, Listable, Listing

RANKS = {"unreachable": 0, "offline": 1, "draining": 2, "online": 3}
_LATEST_SAMPLE = Series("monitor_samples", "monitor_id", "at", "x.at, x.measured")
_DISK = "disk "


class HostLine(msgspec.Struct):
    """A host as a row of the list page. `cpu`, `mem` and `disk` (of the fullest one) are percents
    from the latest sample; null without a monitor of kind dstat."""

    id: str
    hostname: str
    state: str
    enable: bool
    draining: bool
    ip: str
    os_name: str
    os_version: str
    agent_version: str
    slots: int
    tags: list[str]
    last_seen: str | None
    cpu: float | None
    mem: float | None
    disk: float | None
    figures_at: str | None
    # Only monitors that the caller may see.
    monitors: int
    failing: int
    running: int
    version: int
    warnings: list[HostWarning] = []


class _Figures(msgspec.Struct):
    at: Millis | None = None
    cpu: float | None = None
    mem: float | None = None
    disk: float | None = None


def listable(dialect: Dialect) -> Listable:
    rank = queries.rank(f"({store.STATE})", RANKS)
    return queries.listable(store.listable(dialect), {"rank": Field(rank, FieldKind.INT)})


def list_page(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[HostLine], int | None]:
    require(actor, Level.VIEWER)
    total = store.count(tx, actor.customer_id, listing) if listing.count else None
    rows = store.select_page(tx, actor.customer_id, listing)
    monitor_counts = _monitor_counts(tx, actor, [row.id for row in rows])
    figures = _figures(tx, actor, [row.id for row in rows])
    running = _running(tx, [row.id for row in rows])
    warnings = journal_warnings.for_hosts(
        tx, actor.customer_id, [row.id for row in rows], hold.count_by_host(tx, actor.customer_id)
    )
    none = _Figures()
    return [
        _line(
            row,
            figures.get(row.id, none),
            monitor_counts.get(row.id, (0, 0)),
            running.get(row.id, 0),
            warnings.get(row.id, []),
        )
        for row in rows
    ], total


def _line(
    row: HostRow,
    figures: _Figures,
    monitor_counts: tuple[int, int],
    running: int,
    warnings: list[HostWarning],
) -> HostLine:
    return HostLine(
        id=row.id,
        hostname=row.hostname,
        state=row.state.value,
        enable=bool(row.enabled),
        draining=bool(row.draining),
        ip=row.ip,
        os_name=row.os_name,
        os_version=row.os_version,
        agent_version=row.agent_version,
        slots=row.slots,
        tags=row.labels,
        last_seen=iso_or_none(row.seen_at),
        cpu=figures.cpu,
        mem=figures.mem,
        disk=figures.disk,
        figures_at=iso_or_none(figures.at),
        monitors=monitor_counts[0],
        failing=monitor_counts[1],
        running=running,
        version=row.version,
        warnings=warnings,
    )


def _monitor_counts(tx: Tx, actor: Actor, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """(all, failing) monitors of each host."""
    visibility, params = visible_filter(actor, "monitor", "m.id", open_when_empty=True)
    rows = tx.rows(
        "select m.host_id, count(*), sum(case when m.state in ('failure', 'updates_stopped')"
        f" then 1 else 0 end) from monitors m where m.host_id in {tx.dialect.in_texts}"
        f" and m.deleted_at is null and {visibility} group by m.host_id",
        *(json_list(ids), *params),
    )
    return {host_id: (int(all_), int(failing)) for host_id, all_, failing in rows}


def _figures(tx: Tx, actor: Actor, ids: Sequence[str]) -> dict[str, _Figures]:
    """From the latest sample of any monitor of kind dstat on the host."""
    visibility, params = visible_filter(actor, "monitor", "m.id", open_when_empty=True)
    rows = tx.rows(
        f"select m.id, m.host_id from monitors m where m.host_id in {tx.dialect.in_texts}"
        f" and m.type = 'dstat' and m.deleted_at is null and {visibility}",
        *(json_list(ids), *params),
    )
    host_ids = {monitor_id: host_id for monitor_id, host_id in rows}
    figures: dict[str, _Figures] = {}
    for monitor_id, samples in latest_rows(tx, _LATEST_SAMPLE, list(host_ids), 1).items():
        for at, measured in samples:
            latest = figures.setdefault(host_ids[monitor_id], _Figures())
            if latest.at is None or at > latest.at:
                figures[host_ids[monitor_id]] = _figures_from_sample(
                    at, msgspec.json.decode(measured)
                )
    return figures


def _figures_from_sample(at: Millis, measured: dict[str, Any]) -> _Figures:
    disks = [value for name, value in measured.items() if name.startswith(_DISK)]
    disk = max(disks) if disks else measured.get("disk")
    return _Figures(
        at,
        queries.rounded(measured.get("cpu")),
        queries.rounded(measured.get("mem")),
        queries.rounded(disk),
    )


def _running(tx: Tx, ids: Sequence[str]) -> dict[str, int]:
    rows = tx.rows(
        f"select host_id, count(*) from jobs where host_id in {tx.dialect.in_texts}"
        " and lifecycle = 'assigned' group by host_id",
        json_list(ids),
    )
    return {host_id: int(count) for host_id, count in rows}
