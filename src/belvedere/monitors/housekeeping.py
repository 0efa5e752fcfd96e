"""Host monitors, which are created and deleted with their host; the purge of deleted monitors; due
times after a clock change."""

from belvedere import events
from belvedere.access import delete_acl
from belvedere.base.clock import DAY, ClockStep, Millis
from belvedere.db import Tx
from belvedere.monitors import service, store, trial_store, watch_changes
from belvedere.monitors.config import new_rows
from belvedere.monitors.evaluation import rollups, samples
from belvedere.monitors.evaluation.observations import Observation
from belvedere.monitors.model import MonitorRow, MonitorSeverity, MonitorType

# Until then the ACL decides who may see the event of the deletion.
DELETED_RETENTION: Millis = 30 * DAY
BATCH_SIZE = 10


def on_host_connected(tx: Tx, customer_id: str, host_id: str) -> None:
    """Create the host's own monitor if it is missing, and record that the host is up."""
    host = tx.row(
        "select hostname, connected_at, gone_at from hosts"
        " where id = ? and customer_id = ? and deleted_at is null",
        host_id,
        customer_id,
    )
    if host is None:
        return
    rows = [row for row in store.for_host(tx, host_id, lock=True) if row.type == MonitorType.HOST]
    if not rows:
        rows = [_create_host_monitor(tx, customer_id, host_id, host[0])]
    # The host may have disconnected again in the meantime.
    if host[1] is not None and host[2] is None:
        observation = Observation(tx.now, "normal", "host:up")
        samples.record_observations(tx, [(row, observation) for row in rows if row.enabled])


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
