"""Ready jobs that an agent takes up before they are written: one write instead of two."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from belvedere.db import Tx
from belvedere.jobs.attempts import Attempt
from belvedere.jobs.model import JobRow

# A ready job with its arguments.
Ready = tuple[JobRow, str]


class Taken(msgspec.Struct):
    """What became of them."""

    # Assigned, and to be written as that.
    jobs: list[JobRow] = []
    attempts: list[Attempt] = []
    # Hosts for which the end of the transaction has nothing left to claim.
    settled: set[str] = set()

    def add(self, more: "Taken") -> None:
        self.jobs += more.jobs
        self.attempts += more.attempts
        self.settled |= more.settled


class Take(Protocol):
    """Whoever knows the agents that could run ready jobs at once."""

    def __call__(self, tx: Tx, ready: Sequence[Ready]) -> Taken: ...


def nobody(tx: Tx, ready: Sequence[Ready]) -> Taken:
    return Taken()
