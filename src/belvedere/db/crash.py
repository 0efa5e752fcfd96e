"""Points around a commit at which a crash test lets the server die; in service they do nothing."""

from functools import partial

from belvedere.base import failpoints
from belvedere.db.interface import Tx


def around_commit(tx: Tx, verb: str) -> None:
    """`<verb>.before_commit` lies here; `<verb>.after_commit` before anybody hears of the commit,
    as long as this is called before the verb's own `after_commit`."""
    if failpoints.ARMED:
        failpoints.reach(f"{verb}.before_commit")
        tx.after_commit(partial(failpoints.reach, f"{verb}.after_commit"))
