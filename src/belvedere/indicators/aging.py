"""What time does to indicators: silent ones grow stale, values grow thin, deleted ones go."""

from belvedere.access import forget_acl
from belvedere.base.clock import DAY
from belvedere.db import Tx
from belvedere.indicators import change_log, history, store

BATCH = 200


def grow_stale(tx: Tx) -> bool:
    """Tell of those whose source has been silent for their ttl; whether there were any."""
    rows = store.going_stale(tx, BATCH)
    change_log.tell(tx, "indicator.stale", rows)
    change_log.fire(tx, rows, "stale")
    return bool(rows)


def forget(tx: Tx) -> bool:
    """Thin values, and drop what was deleted a day ago; whether there is more."""
    more = history.thin(tx)
    gone = store.deleted_before(tx, tx.now - DAY, BATCH)
    for indicator_id, customer_id in gone:
        forget_acl(tx, customer_id, "indicator", indicator_id)
        store.purge(tx, customer_id, indicator_id)
    return more or len(gone) == BATCH
