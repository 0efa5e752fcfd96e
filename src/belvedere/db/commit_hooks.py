"""What follows a commit, on the server's loop."""

import logging
from collections.abc import Callable, Sequence

from belvedere.db.interface import AfterCommit
from belvedere.db.signals import Signal

log = logging.getLogger("belvedere.db")


def follow(
    calls: Sequence[AfterCommit],
    signals: set[Signal],
    on_signals: Callable[[set[Signal]], None] | None,
) -> None:
    """Whoever is to hear of it hears of it. The commit stands: a fault of theirs is no fault of
    the verbs, and must not keep the others, and the next transaction, waiting."""
    for call in calls:
        try:
            call()
        except Exception:
            log.exception("what follows a commit failed")
    if signals and on_signals is not None:
        try:
            on_signals(signals)
        except Exception:
            log.exception("ringing after a commit failed")
