"""Purge rows of deleted monitors in small batches."""

from belvedere.access import delete_acl
from belvedere.base.clock import DAY, Millis
from belvedere.db import Tx
from belvedere.monitors import store, watch_changes
from belvedere.monitors.evaluation import rollups

# Until then the ACL decides who may see the event of the deletion.
DELETED_RETENTION: Millis = 30 * DAY
BATCH_SIZE = 10


def purge(tx: Tx) -> bool:
    """Purge one batch; True if there may be more."""
    monitors = store.deleted_before(tx, tx.now - DELETED_RETENTION, BATCH_SIZE)
    for monitor_id, customer_id in monitors:
        delete_acl(tx, customer_id, "monitor", monitor_id)
        watch_changes.delete_monitor(tx, monitor_id)
        rollups.delete_monitor(tx, monitor_id)
    return len(monitors) == BATCH_SIZE
