"""Fail points around a commit for crash tests; they do nothing in production."""

from functools import partial

from belvedere.base import failpoints
from belvedere.db.interface import Tx


def around_commit(tx: Tx, operation: str) -> None:
    """`<operation>.before_commit` is here. `<operation>.after_commit` is the first callback after
    the commit, if this is called before the operation adds its own."""
    if failpoints.ARMED:
        failpoints.reach(f"{operation}.before_commit")
        tx.after_commit(partial(failpoints.reach, f"{operation}.after_commit"))
