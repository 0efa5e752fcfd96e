"""Moves the times that jobs wait for when the server's clock is changed."""

from belvedere.base.clock import ClockStep
from belvedere.db import Tx
from belvedere.jobs.model import IS_OPEN


def move(tx: Tx, step: ClockStep) -> None:
    """Time limits, expiry and the pause before a retry are durations, not dates."""
    tx.execute(
        f"update jobs set expires_at = expires_at + ? where {IS_OPEN} and expires_at > 0",
        step.delta,
    )
    tx.execute(
        "update jobs set deadline_at = deadline_at + ? where lifecycle = 'assigned'"
        " and deadline_at is not null",
        step.delta,
    )
    tx.execute(
        "update jobs set not_before_at = not_before_at + ? where lifecycle = 'ready'"
        " and not_before_at > ?",
        step.delta,
        step.before,
    )
