"""After a clock change: keep the time that is left until each monitor is due."""

from belvedere.base.clock import ClockStep
from belvedere.db import Tx


def move(tx: Tx, step: ClockStep) -> None:
    tx.execute("update monitors set due_at = due_at + ? where due_at is not null", step.delta)
    # Host and nested monitors take their next sample one looptime after `checked_at`.
    tx.execute("update monitors set checked_at = ? where checked_at > ?", step.now, step.now)
