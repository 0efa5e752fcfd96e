"""Telling: what happened goes to those whose rules want it, and into inboxes. One transaction with
the cursor of the event log, so that each event is told once, whichever server does it."""

from collections.abc import Sequence

from belvedere.base.clock import Millis
from belvedere.db import Tx
from belvedere.notifications import inbox, quiet_hours, store
from belvedere.notifications.delivery import outbox
from belvedere.notifications.model import Notice, Rule, Severity, Told


def tell(tx: Tx, told: Sequence[Told], rules: Sequence[Rule]) -> None:
    inbox.put(tx, told)
    wanted = [
        (rule, one.notice)
        for one in told
        for rule in rules
        if rule.customer_id == one.customer_id and rule.wants(one)
    ]
    if not wanted:
        return
    live = store.live_channels(tx, {id_ for rule, _ in wanted for id_ in rule.channels})
    for rule, notice in wanted:
        after, due = _when(rule, notice, tx.now)
        for channel_id in rule.channels:
            if channel_id in live:
                outbox.gather(tx, rule, channel_id, notice, after, due)


def _when(rule: Rule, notice: Notice, now: Millis) -> tuple[Millis, Millis]:
    """Between which moments a message may go out that this notice joins."""
    is_let_through = rule.quiet is not None and (
        rule.quiet.but_critical and notice.severity is Severity.CRITICAL
    )
    over = None if rule.quiet is None or is_let_through else quiet_hours.until(rule.quiet, now)
    # What is held back joins only what is held back as long.
    return (now, now + rule.window_ms) if over is None else (over - 1, over)
