"""The parts of the search index on SQLite are merged in small steps, not by the writes of jobs."""

import random
from collections.abc import Callable

import pytest

from belvedere.db import Database, Tx
from belvedere.jobs import store
from belvedere.jobs.search import index

BATCHES, ROWS = 80, 20
# Changes of the tables of the index.
MAX_WRITE, MAX_MERGE = 100, 100


def write_rows(tx: Tx, batch: int) -> None:
    text_index = tx.dialect.text_index
    numbers = random.Random(batch)
    entries = [
        text_index.entry(f"{batch * ROWS + row:024x}", ["c1"], f"{numbers.getrandbits(512):x}")
        for row in range(ROWS)
    ]
    tx.execute(text_index.write.format(table=index.TABLE), store.json_array(entries))


def delete_rows(tx: Tx, batch: int) -> None:
    index.delete(tx, [f"{batch * ROWS + row:024x}" for row in range(ROWS)])


def changes(db: Database) -> int:
    return int(db.write_blocking(lambda tx: tx.value("select total_changes()")))


def changes_of(db: Database, operation: Callable[..., object], *args: object) -> int:
    before = changes(db)
    db.write_blocking(operation, *args)
    return changes(db) - before


def count_parts(db: Database) -> int:
    sql = "select count(distinct segid) from job_search_idx"
    return int(db.write_blocking(lambda tx: tx.value(sql)))


def merge_all(db: Database) -> list[int]:
    steps = [changes_of(db, index.merge_step)]
    while steps[-1] > 1:
        steps.append(changes_of(db, index.merge_step))
    return steps


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_neither_a_write_nor_a_step_merges_much(db: Database) -> None:
    writes, steps = [], []
    for batch in range(BATCHES):
        writes.append(changes_of(db, write_rows, batch))
        if batch >= BATCHES // 2:
            writes.append(changes_of(db, delete_rows, batch - BATCHES // 2))
        steps += merge_all(db)
        assert count_parts(db) < 16
    assert max(writes) <= MAX_WRITE and max(steps) <= MAX_MERGE, (max(writes), max(steps))
    assert sum(steps) > len(steps)
