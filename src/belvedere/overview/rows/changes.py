"""Short rows for a page that is being watched: only the fields that change with a check.

Fields with their default value are left out of the response.
"""

from collections.abc import Sequence

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.base.clock import Millis, iso, iso_or_none, parse_iso
from belvedere.db import Tx
from belvedere.hosts.journal_warnings import HostWarning
from belvedere.monitors import store
from belvedere.monitors.store import MonitorView
from belvedere.overview.rows import check_strip, hosts, monitor_series, monitors
from belvedere.overview.rows.hosts import HostLine
from belvedere.rest.listing import Listing


class MonitorLineChange(msgspec.Struct, omit_defaults=True):
    """The fields of a `MonitorLine` that change with a check. `value` is left out if the last check
    measured nothing."""

    id: str
    version: int
    state: str
    state_since: str
    last_check: str | None = None
    beats: str = ""
    value: float | None = None
    message: str = ""
    flapping: bool = False
    is_host_down: bool = False


class MonitorPosition(msgspec.Struct):
    """A monitor in the order of a page."""

    id: str


class HostLineChange(msgspec.Struct, omit_defaults=True):
    """The fields of a `HostLine` that change without an event of the host."""

    id: str
    last_seen: str | None = None
    cpu: float | None = None
    mem: float | None = None
    disk: float | None = None
    figures_at: str | None = None
    monitors: int = 0
    failing: int = 0
    running: int = 0
    warnings: list[HostWarning] = []


def list_monitors(
    tx: Tx, actor: Actor, listing: Listing, since: Millis | None
) -> tuple[list[MonitorLineChange], int | None]:
    """The monitors of a page; with `since`, those that were checked or changed after it."""
    views, total = _monitor_views(tx, actor, listing)
    return _monitor_changes(tx, [view for view in views if _is_newer(view, since)]), total


def list_order(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[MonitorPosition], int | None]:
    """The ids of the monitors of a page, in its order."""
    views, total = _monitor_views(tx, actor, listing)
    return [MonitorPosition(view.id) for view in views], total


def _monitor_views(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[MonitorView], int | None]:
    require(actor, Level.VIEWER)
    total = store.count(tx, actor, listing) if listing.count else None
    return store.select_page(tx, actor, listing), total


def list_hosts(
    tx: Tx, actor: Actor, listing: Listing, since: Millis | None
) -> tuple[list[HostLineChange], int | None]:
    """The hosts of a page; with `since`, without those that have no newer figures, no running job,
    no failing monitor and no warning."""
    lines, total = hosts.list_page(tx, actor, listing)
    return [_host_change(line) for line in lines if _is_changed_after(line, since)], total


def _is_newer(view: MonitorView, since: Millis | None) -> bool:
    newest = max(view.checked_at or 0, view.state_at, view.updated_at)
    return since is None or newest > since


def _is_changed_after(line: HostLine, since: Millis | None) -> bool:
    if since is None or line.running or line.failing or line.warnings:
        return True
    return line.figures_at is not None and parse_iso(line.figures_at) > since


def _monitor_changes(tx: Tx, views: Sequence[MonitorView]) -> list[MonitorLineChange]:
    samples = check_strip.latest_samples(tx, views)
    checks = {id_: check_strip.checks_from_samples(rows) for id_, rows in samples.items()}
    checks |= check_strip.checks_from_rollups(tx, views)
    down = monitors.down_hosts(tx, views)
    return [
        MonitorLineChange(
            id=view.id,
            version=view.version,
            state=view.state,
            state_since=iso(view.state_at),
            last_check=iso_or_none(view.checked_at),
            beats=check_strip.strip(view, checks[view.id], tx.now),
            value=monitor_series.metric(view, samples[view.id])[1],
            message=monitors.message(view),
            flapping=bool(view.is_flapping),
            is_host_down=view.host_id in down,
        )
        for view in views
    ]


def _host_change(line: HostLine) -> HostLineChange:
    return HostLineChange(
        **{name: getattr(line, name) for name in HostLineChange.__struct_fields__}
    )
