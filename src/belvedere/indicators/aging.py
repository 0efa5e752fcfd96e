"""Regular work on indicators: mark stale ones, thin old values, purge deleted ones."""

from belvedere.access import delete_acl
from belvedere.base.clock import DAY
from belvedere.db import Tx
from belvedere.indicators import change_log, history, store

BATCH_SIZE = 200


def publish_stale(tx: Tx) -> bool:
    """Publish that indicators got no push for their ttl; True if there were any."""
    rows = store.mark_stale(tx, BATCH_SIZE)
    change_log.publish(tx, "indicator.stale", rows)
    change_log.fire(tx, rows, "stale")
    return bool(rows)


def purge_old(tx: Tx) -> bool:
    """Thin old values, and purge what was deleted a day ago; True if there may be more."""
    has_more = history.thin(tx)
    indicators = store.deleted_before(tx, tx.now - DAY, BATCH_SIZE)
    for indicator_id, customer_id in indicators:
        delete_acl(tx, customer_id, "indicator", indicator_id)
        store.purge(tx, customer_id, indicator_id)
    return has_more or len(indicators) == BATCH_SIZE
