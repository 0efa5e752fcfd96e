"""What deleted monitors leave behind goes in small batches."""

from belvedere.access import forget_acl
from belvedere.base.clock import DAY, Millis
from belvedere.db import Tx
from belvedere.monitors import store, watch_changes
from belvedere.monitors.evaluation import rollups

# Until then its ACL says who may see the events of its deletion.
AFTER: Millis = 30 * DAY
BATCH = 10


def purge(tx: Tx) -> bool:
    """Drop some; whether there may be more."""
    gone = store.deleted_before(tx, tx.now - AFTER, BATCH)
    for monitor_id, customer_id in gone:
        forget_acl(tx, customer_id, "monitor", monitor_id)
        watch_changes.forget_monitor(tx, monitor_id)
        rollups.forget_monitor(tx, monitor_id)
    return len(gone) == BATCH
