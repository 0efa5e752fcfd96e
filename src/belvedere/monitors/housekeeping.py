"""Monitors that come and go with their host."""

from belvedere import events
from belvedere.db import Tx
from belvedere.monitors import service, store
from belvedere.monitors.evaluation import samples
from belvedere.monitors.evaluation.samples import Look
from belvedere.monitors.model import MonitorRow, Severity, Type


def host_came(tx: Tx, customer_id: str, host_id: str) -> None:
    """Every host that connects has its own monitor, and is seen."""
    host = tx.row(
        "select hostname, connected_at, gone_at from hosts"
        " where id = ? and customer_id = ? and deleted_at is null",
        host_id,
        customer_id,
    )
    if host is None:
        return
    found = [row for row in store.of_host(tx, host_id, hold=True) if row.type == Type.HOST]
    if not found:
        found = [_make(tx, customer_id, host_id, host[0])]
    # It may have gone again since it came.
    if host[1] is not None and host[2] is None:
        look = Look(tx.now, "normal", "host:up")
        samples.look_at(tx, [(row, look) for row in found if row.enabled])


def _make(tx: Tx, customer_id: str, host_id: str, hostname: str) -> MonitorRow:
    row = service.new_row(customer_id, Type.HOST, host_id, tx.now)
    row.name, row.severity = hostname, Severity.HIGH.value
    store.insert(tx, row)
    told = {"name": row.name, "type": row.type, "host_id": host_id}
    events.append(tx, customer_id, "monitor.created", row.id, told)
    return row


def host_went(tx: Tx, host_id: str) -> None:
    """The host was deleted, and everything that was watched there goes with it."""
    for row in store.of_host(tx, host_id, hold=True):
        service.remove(tx, row)
