"""The clock was set: an indicator is stale after as much time as before."""

from belvedere.base.clock import ClockStep
from belvedere.db import Tx


def move(tx: Tx, step: ClockStep) -> None:
    tx.execute(
        "update indicators set stale_at = stale_at + ? where stale_at is not null", step.delta
    )
