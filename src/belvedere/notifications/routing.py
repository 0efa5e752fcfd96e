"""Routing: notices go into the outbox of every rule that matches, and into inboxes.

It happens in the transaction that moves the cursor of the event log, so that each event is
notified once, whichever server does it."""

from collections.abc import Sequence

from belvedere.base.clock import Millis
from belvedere.db import Tx
from belvedere.notifications import inbox, quiet_hours, store
from belvedere.notifications.delivery import outbox
from belvedere.notifications.model import AddressedNotice, Notice, NoticeSeverity, Rule


def route(tx: Tx, notices: Sequence[AddressedNotice], rules: Sequence[Rule]) -> None:
    """Deliver to inboxes, and collect messages for the enabled channels of matching rules."""
    inbox.deliver(tx, notices)
    matches = [
        (rule, addressed.notice)
        for addressed in notices
        for rule in rules
        if rule.customer_id == addressed.customer_id and rule.matches(addressed)
    ]
    if not matches:
        return
    active = store.active_channels(tx, {id_ for rule, _ in matches for id_ in rule.channels})
    for rule, notice in matches:
        after, due = _send_window(rule, notice, tx.now)
        for channel_id in rule.channels:
            if channel_id in active:
                outbox.collect(tx, rule, channel_id, notice, after, due)


def _send_window(rule: Rule, notice: Notice, now: Millis) -> tuple[Millis, Millis]:
    """The earliest and latest due time of a message that this notice may join."""
    is_exempt = rule.quiet is not None and (
        rule.quiet.but_critical and notice.severity is NoticeSeverity.CRITICAL
    )
    end = None if rule.quiet is None or is_exempt else quiet_hours.quiet_until(rule.quiet, now)
    # A notice that waits for the end of quiet hours joins only messages that wait as long.
    return (now, now + rule.window_ms) if end is None else (end - 1, end)
