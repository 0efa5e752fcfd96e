"""After a clock change: keep the time that is left until each indicator becomes stale."""

from belvedere.base.clock import ClockStep
from belvedere.db import Tx


def move(tx: Tx, step: ClockStep) -> None:
    tx.execute(
        "update indicators set stale_at = stale_at + ? where stale_at is not null", step.delta
    )
