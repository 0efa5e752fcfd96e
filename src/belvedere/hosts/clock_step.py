"""The clock was set: agents were last heard as long ago as before."""

from belvedere.base.clock import MINUTE, ClockStep, Millis
from belvedere.db import Tx

# Whether a host is silent is decided within this time. What is older is a date for people.
RECENT: Millis = 1 * MINUTE


def move(tx: Tx, step: ClockStep) -> None:
    recent = step.before - RECENT
    tx.execute(
        "update hosts set seen_at = case when seen_at > ? and seen_at <= ? then seen_at + ?"
        # A host was never heard in the future: its silence would not be noticed until then.
        " else ? end where seen_at > ?",
        recent,
        step.before,
        step.delta,
        step.now,
        min(recent, step.now),
    )
