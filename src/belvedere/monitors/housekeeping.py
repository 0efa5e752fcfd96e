"""Host monitors, which are created and deleted with their host; the purge of deleted monitors; due
times after a clock change."""

from collections.abc import Iterator, Sequence

import msgspec

from belvedere import events
from belvedere.access import delete_acl
from belvedere.base.clock import DAY, ClockStep, Millis
from belvedere.db import Tx
from belvedere.monitors import service, store, trial_store, watch_changes
from belvedere.monitors.config import new_rows
from belvedere.monitors.evaluation import rollups, samples
from belvedere.monitors.evaluation.host_samples import IS_STEADY
from belvedere.monitors.evaluation.observations import Observation
from belvedere.monitors.model import MonitorRow, MonitorSeverity, MonitorType

# Until then the ACL decides who may see the event of the deletion.
DELETED_RETENTION: Millis = 30 * DAY
BATCH_SIZE = 10
# Not a parameter: the condition of the index.
_OWN = f"type = '{MonitorType.HOST.value}'"


def on_host_connected(tx: Tx, customer_id: str, host_id: str) -> None:
    on_hosts_connected(tx, [(customer_id, host_id)])


def on_hosts_connected(tx: Tx, hosts: Sequence[tuple[str, str]]) -> None:
    """(organization, host): create the host's own monitor if it is missing, and record that the
    host is up again. After a restart of the server thousands of hosts connect, and almost all
    of them were up before: these get their next sample when it is due."""
    steady = _steady_hosts(tx, [host_id for _, host_id in hosts])
    others = [host for host in _connected(tx, hosts) if host[0] not in steady]
    monitors = _host_monitors(tx, [host[0] for host in others]) if others else {}
    observations = []
    for host_id, customer_id, hostname, is_up in others:
        rows = monitors.get(host_id) or [_create_host_monitor(tx, customer_id, host_id, hostname)]
        # The host may have disconnected again in the meantime.
        observations += [
            (row, Observation(tx.now, "normal", "host:up")) for row in rows if is_up and row.enabled
        ]
    if observations:
        samples.record_observations(tx, observations)


def _connected(tx: Tx, hosts: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str, str, bool]]:
    """(host, organization, name, whether it is up) of those that exist."""
    rows = tx.rows(
        "select id, customer_id, hostname, connected_at, gone_at from hosts"
        f" where deleted_at is null and id in {tx.dialect.in_texts} order by id",
        msgspec.json.encode([host_id for _, host_id in hosts]).decode(),
    )
    pairs = set(hosts)
    for host_id, customer_id, hostname, connected_at, gone_at in rows:
        if (customer_id, host_id) in pairs:
            yield host_id, customer_id, hostname, connected_at is not None and gone_at is None


def _steady_hosts(tx: Tx, host_ids: Sequence[str]) -> set[str]:
    """Hosts whose own monitor one more sample would not change."""
    rows = tx.rows(
        f"select host_id from monitors where {_OWN} and host_id in {tx.dialect.in_texts}"
        f" and deleted_at is null and (enabled = 0 or {IS_STEADY})",
        msgspec.json.encode(host_ids).decode(),
    )
    return {host_id for (host_id,) in rows}


def _host_monitors(tx: Tx, host_ids: Sequence[str]) -> dict[str, list[MonitorRow]]:
    """The own monitors of these hosts, locked."""
    rows = store.select_locked(
        tx,
        f"{_OWN} and host_id in {tx.dialect.in_texts}",
        msgspec.json.encode(host_ids).decode(),
    )
    monitors: dict[str, list[MonitorRow]] = {}
    for row in rows:
        monitors.setdefault(row.host_id or "", []).append(row)
    return monitors


def _create_host_monitor(tx: Tx, customer_id: str, host_id: str, hostname: str) -> MonitorRow:
    row = new_rows.new_row(customer_id, MonitorType.HOST, host_id, tx.now)
    row.name, row.severity = hostname, MonitorSeverity.HIGH.value
    store.insert(tx, row)
    data = {"name": row.name, "type": row.type, "host_id": host_id}
    events.append(tx, customer_id, "monitor.created", row.id, data)
    return row


def on_host_deleted(tx: Tx, host_id: str) -> None:
    """Delete all monitors of a deleted host."""
    for row in store.for_host(tx, host_id, lock=True):
        service.remove(tx, row)


def purge(tx: Tx) -> bool:
    """Purge one batch of deleted monitors; True if there may be more."""
    monitors = store.deleted_before(tx, tx.now - DELETED_RETENTION, BATCH_SIZE)
    for monitor_id, customer_id in monitors:
        delete_acl(tx, customer_id, "monitor", monitor_id)
        watch_changes.delete_monitor(tx, monitor_id)
        rollups.delete_monitor(tx, monitor_id)
    return len(monitors) == BATCH_SIZE


def purge_trials(tx: Tx) -> bool:
    """Delete one batch of old trials; True if there may be more."""
    return trial_store.purge(tx, BATCH_SIZE) == BATCH_SIZE


def move_clock(tx: Tx, step: ClockStep) -> None:
    """After a clock change: keep the time that is left until each monitor is due."""
    tx.execute("update monitors set due_at = due_at + ? where due_at is not null", step.delta)
    # Host and nested monitors take their next sample one looptime after `checked_at`.
    tx.execute("update monitors set checked_at = ? where checked_at > ?", step.now, step.now)
