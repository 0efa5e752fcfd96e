"""The pace at which the search index is filled."""

from typing import Any

import pytest

from belvedere.base.counters import Histogram
from belvedere.server.background.search_index import Pace


class CountingDatabase:
    """Only the counters of a database."""

    def __init__(self) -> None:
        self.transaction_times = Histogram()
        self.servers = 1

    def count(self, transactions: int) -> None:
        for _ in range(transactions):
            self.transaction_times.observe(0.001)


def test_filling_the_index_pauses_longer_while_others_write() -> None:
    db: Any = CountingDatabase()
    pace = Pace(db)
    at = pace._at
    db.count(1)
    assert pace.pause_s(0.01, at + 1) == 0.01
    db.count(1 + 500)
    assert pace.pause_s(0.01, at + 2) == 0.3
    db.count(1 + 500)
    assert pace.pause_s(1.0, at + 3) == 2.0
    db.count(1)
    assert pace.pause_s(0.01, at + 4) == 0.01
    db.count(1 + 500)
    pace.more_transactions = 500
    assert pace.pause_s(0.01, at + 5) == 0.01


def test_several_servers_together_fill_the_index_at_the_pace_of_one() -> None:
    db: Any = CountingDatabase()
    db.servers = 3
    pace = Pace(db)
    db.count(1 + 500)
    assert pace.pause_s(0.01, pace._at + 1) == pytest.approx(0.9)
    db.count(1 + 500)
    assert pace.pause_s(1.0, pace._at + 1) == 6.0
