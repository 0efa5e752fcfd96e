"""Callbacks and signals after a commit, on the event loop of the server; and fail points around a
commit for crash tests, which do nothing in production."""

import logging
from collections.abc import Callable, Sequence
from functools import partial

from belvedere.base import failpoints
from belvedere.db.interface import AfterCommit, Tx
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


def around_commit(tx: Tx, operation: str) -> None:
    """`<operation>.before_commit` is here. `<operation>.after_commit` is the first callback after
    the commit, if this is called before the operation adds its own."""
    if failpoints.ARMED:
        failpoints.reach(f"{operation}.before_commit")
        tx.after_commit(partial(failpoints.reach, f"{operation}.after_commit"))
