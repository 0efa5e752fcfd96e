"""The clock was set: a monitor is expected to report after as much time as before."""

from belvedere.base.clock import Step
from belvedere.db import Tx


def move(tx: Tx, step: Step) -> None:
    tx.execute("update monitors set due_at = due_at + ? where due_at is not null", step.delta)
    # The next sample of hosts and nested monitors is taken so long after the last one.
    tx.execute("update monitors set checked_at = ? where checked_at > ?", step.now, step.now)
