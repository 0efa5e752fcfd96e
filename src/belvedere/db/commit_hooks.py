"""Callbacks and signals after a commit, on the event loop of the server."""

import logging
from collections.abc import Callable, Sequence

from belvedere.db.interface import AfterCommit
from belvedere.db.signals import Signal

log = logging.getLogger("belvedere.db")


def run_after_commit(
    calls: Sequence[AfterCommit],
    signals: set[Signal],
    on_signals: Callable[[set[Signal]], None] | None,
) -> None:
    """Run the callbacks, then emit the signals. The commit is durable: an error in one of them must
    not fail the operations, nor delay the other callbacks and the next transaction."""
    for call in calls:
        try:
            call()
        except Exception:
            log.exception("callback after commit failed")
    if signals and on_signals is not None:
        try:
            on_signals(signals)
        except Exception:
            log.exception("emitting signals after commit failed")
