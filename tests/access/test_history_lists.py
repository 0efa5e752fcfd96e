"""A step of a list reads its rows along the index of the list's order, whatever it filters by."""

import pytest

from belvedere.access import audit
from belvedere.access.audit import AuditFilter
from belvedere.db import Database, Tx
from belvedere.notifications import inbox
from belvedere.notifications.delivery import messages
from belvedere.rest import listing as filters
from belvedere.rest.listing import Listing
from belvedere.webhooks.deliveries import store as deliveries
from people import Actors
from statements import RecordingTx, plan

OTHER = "0" * 24
ROWS = 3


def _audit(tx: Tx, actors: Actors, listing: Listing) -> object:
    return audit.read_page(tx, actors.ada, listing, None, ROWS)


def _messages(tx: Tx, actors: Actors, listing: Listing) -> object:
    return messages.read_page(tx, actors.acme.id, listing, None, ROWS)


def _inbox(tx: Tx, actors: Actors, listing: Listing) -> object:
    return inbox.read_page(tx, actors.ada, listing, None, ROWS)


def _deliveries(tx: Tx, actors: Actors, listing: Listing) -> object:
    return deliveries.read_page(tx, actors.acme.id, OTHER, listing, None, ROWS)


def _query(name: str, value: str, of: filters.Listable) -> Listing:
    return filters.read({name: [value], "count": ["true"]}, of)


LISTS = {
    "audit": (
        _audit,
        audit.to_listing(AuditFilter(user="ada", action="a"), 9),
        "audit_of_customer",
    ),
    "audit of an object": (
        _audit,
        audit.to_listing(AuditFilter(object_id=OTHER, kind="agent"), 9),
        "audit_of_object",
    ),
    "messages of a channel": (
        _messages,
        _query("where[channel_id]", OTHER, messages.MESSAGES),
        "messages_of_customer",
    ),
    "messages that wait": (
        _messages,
        _query("where[state]", "waiting", messages.MESSAGES),
        "messages_of_customer",
    ),
    "oldest messages": (
        _messages,
        _query("sort[id]", "1", messages.MESSAGES),
        "messages_of_customer",
    ),
    "inbox": (_inbox, _query("where[read]", "false", inbox.NOTIFICATIONS), "notifications_of_user"),
    "inbox by time": (
        _inbox,
        _query("where[creation_date][$gte]", "2026-01-01", inbox.NOTIFICATIONS),
        "notifications_of_user",
    ),
    "deliveries": (
        _deliveries,
        _query("where[verdict]", "accepted", deliveries.DELIVERIES),
        "deliveries_of_webhook",
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_rows_are_read_along_the_index_of_their_order(
    db: Database, actors: Actors, name: str
) -> None:
    read, listing, index = LISTS[name]

    def plans(tx: Tx) -> list[str]:
        if tx.dialect.name == "postgres":
            # The table is small here, and sorting a few rows is as cheap as their index.
            for way in ("bitmapscan", "sort"):
                tx.execute(f"set local enable_{way} = off")
        recording = RecordingTx(tx)
        read(recording, actors, listing)
        # An empty table has no large texts, so the rows themselves are not read.
        assert len(recording.statements) >= 2
        return ["\n".join(plan(tx, statement)) for statement in recording.statements]

    for steps in db.write_blocking(plans):
        assert index in steps, steps
        assert "TEMP B-TREE" not in steps and "Sort" not in steps, steps
