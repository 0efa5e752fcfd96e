"""Several statements in one round trip: results in order, and each sees the changes before it."""

import pytest

from belvedere.db import Database, Tx
from belvedere.db.postgres.database import Postgres
from belvedere.db.postgres.transaction import PostgresTx


def test_a_pipeline_returns_all_results(db: Database) -> None:
    def run_pipeline(tx: Tx) -> list[list[tuple[object, ...]]]:
        return list(tx.pipeline(("select 1", ()), ("select ? || 'b'", ("a",)), ("select 3", ())))

    assert db.write_blocking(run_pipeline) == [[(1,)], [("ab",)], [(3,)]]


def test_writes_that_wait_go_first(db: Database) -> None:
    def run_pipeline(tx: Tx) -> list[list[tuple[object, ...]]]:
        tx.execute_many("insert into cursors (name, xid, id) values (?, ?, ?)", [("x", 0, 7)])
        count = ("select id from cursors where name = ?", ("x",))
        return list(tx.pipeline(count, count))

    assert db.write_blocking(run_pipeline) == [[(7,)], [(7,)]]


def test_an_error_in_one_operation_rolls_back_all(db: Database) -> None:
    def run_pipeline(tx: Tx) -> None:
        tx.execute_many("insert into cursors (name, xid, id) values (?, ?, ?)", [("x", 0, 7)])
        list(tx.pipeline(("select 1", ()), ("select missing from nowhere", ())))

    with pytest.raises(Exception, match="no such|does not exist"):
        db.write_blocking(run_pipeline)
    assert db.write_blocking(lambda tx: tx.rows("select name from cursors where name = 'x'")) == []


def test_a_list_finds_its_members(db: Database) -> None:
    def run_pipeline(tx: Tx) -> list[tuple[object, ...]]:
        rows = [("a", 0, 1), ("b", 0, 2), ("c", 0, 3)]
        tx.execute_many("insert into cursors (name, xid, id) values (?, ?, ?)", rows)
        return tx.rows(
            f"select name from cursors where name in {tx.dialect.in_texts}"
            f" or id in {tx.dialect.in_numbers} order by name",
            '["a", "z"]',
            "[3, 9]",
        )

    assert db.write_blocking(run_pipeline) == [("a",), ("c",)]


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_list_is_looked_up_in_the_index_of_an_empty_table(db: Database) -> None:
    """The plan is kept while the table grows."""

    def plan(tx: Tx) -> str:
        sql = f"explain select name from jobs where id in {tx.dialect.in_texts} order by id"
        return "\n".join(line for (line,) in tx.rows(sql, '["a"]'))

    actual_plan = db.write_blocking(plan)
    assert "on jobs_pkey" in actual_plan and "Seq Scan" not in actual_plan


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_the_connection_used_last_is_used_next(db: Database) -> None:
    assert isinstance(db, Postgres)
    used = []

    def note(tx: Tx) -> None:
        assert isinstance(tx, PostgresTx)
        used.append(tx.connection)

    for _ in range(3):
        db.write_blocking(note)
    assert used[0] is used[1] is used[2]
