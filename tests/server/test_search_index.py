"""The pace at which the search index is filled."""

from typing import Any

from belvedere.base.counters import Histogram
from belvedere.server.background.search_index import Pace


class CountingDatabase:
    """Only the counters of a database."""

    def __init__(self) -> None:
        self.transaction_times = Histogram()

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
