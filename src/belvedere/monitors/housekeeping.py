"""Host monitors: created when a host first connects, deleted with the host."""

from belvedere import events
from belvedere.db import Tx
from belvedere.monitors import service, store
from belvedere.monitors.evaluation import samples
from belvedere.monitors.evaluation.samples import Observation
from belvedere.monitors.model import MonitorRow, MonitorSeverity, MonitorType


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
    row = service.new_row(customer_id, MonitorType.HOST, host_id, tx.now)
    row.name, row.severity = hostname, MonitorSeverity.HIGH.value
    store.insert(tx, row)
    data = {"name": row.name, "type": row.type, "host_id": host_id}
    events.append(tx, customer_id, "monitor.created", row.id, data)
    return row


def on_host_deleted(tx: Tx, host_id: str) -> None:
    """Delete all monitors of a deleted host."""
    for row in store.for_host(tx, host_id, lock=True):
        service.remove(tx, row)
