"""Many rows in one statement: the same result as one statement per row."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from belvedere.db import Database, Tx
from belvedere.db.postgres import row_batches
from belvedere.db.postgres.database import Postgres

# Wider than a batch that is sent as a list of values: a key, six texts and six numbers.
NAMES = [f"t{number}" for number in range(6)] + [f"n{number}" for number in range(6)]
MARKS = ", ".join("?" for _ in ["id", *NAMES])
INSERT = f"insert into wide (id, {', '.join(NAMES)}) values ({MARKS})"
UPDATE = (
    f"update wide set {', '.join(f'{name} = ?' for name in NAMES[:-1])}, n5 = coalesce(?, n5)"
    " where id = ? and n0 = ?"
)
texts = st.none() | st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=5)
odd = st.sampled_from(
    ["NULL", "null", "{", "}", ",", '"', "\\", '\\"', "", " ", "'", "?", "$1", "é"]
)
numbers = st.none() | st.integers(-(2**63), 2**63 - 1)
values = st.tuples(*[texts | odd] * 6, *[numbers] * 6)


@pytest.fixture
def wide_table(db: Database) -> Database:
    columns = [f"{name} {'text' if name[0] == 't' else 'bigint'}" for name in NAMES]
    db.write_blocking(
        lambda tx: tx.execute(f"create table wide (id text primary key, {', '.join(columns)})")
    )
    return db


def select_all(tx: Tx) -> list[tuple[Any, ...]]:
    return tx.rows("select * from wide order by id")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.lists(values, min_size=3, max_size=8), second=st.lists(values, max_size=8))
def test_values_arrive_unchanged(
    wide_table: Database, first: list[tuple[Any, ...]], second: list[tuple[Any, ...]]
) -> None:
    before = [(str(number), *row) for number, row in enumerate(first)]
    rows = [
        (*row, f"{number}", before[number][7]) for number, row in enumerate(second[: len(first)])
    ]

    def work(tx: Tx) -> list[tuple[Any, ...]]:
        tx.execute("delete from wide")
        tx.execute_many(INSERT, before)
        assert select_all(tx) == before
        tx.update_many(UPDATE, rows)
        return select_all(tx)

    after = list(before)
    for number, (*row, _, was) in enumerate(rows):
        # An empty value equals nothing.
        if was is not None:
            last = before[number][12] if row[-1] is None else row[-1]
            after[number] = (str(number), *row[:-1], last)
    assert wide_table.write_blocking(work) == after


def test_a_row_that_changed_meanwhile_is_left_alone(wide_table: Database) -> None:
    def work(tx: Tx) -> list[tuple[Any, ...]]:
        tx.execute_many("insert into wide (id, n0) values (?, ?)", [(text, 1) for text in "abcdef"])
        versions = [("a", 1), ("b", 9), ("c", 1), ("d", 1), ("e", 1), ("missing", 1)]
        tx.update_many(
            "update wide set t0 = ? where id = ? and n0 = ?",
            [("x", key, version) for key, version in versions],
        )
        return tx.rows("select id, t0 from wide order by id")

    assert "".join(key for key, text in wide_table.write_blocking(work) if text == "x") == "acde"


def test_other_values_go_one_by_one(db: Database) -> None:
    def work(tx: Tx) -> list[tuple[Any, ...]]:
        blob = "bytea" if tx.dialect.name == "postgres" else "blob"
        tx.execute(f"create table loose (id bigint, data {blob})")
        tx.execute_many("insert into loose (id) values (?)", [(number,) for number in range(9)])
        tx.update_many(
            "update loose set data = ? where id = ?", [(b"\0a", number) for number in range(8)]
        )
        return [(key, data and bytes(data)) for key, data in tx.rows("select * from loose")]

    assert sorted(db.write_blocking(work)) == [
        *((number, b"\0a") for number in range(8)),
        (8, None),
    ]


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize("is_analyzed", [False, True])
def test_the_rows_are_looked_up_in_the_index_of_an_empty_table(
    db: Database, is_analyzed: bool
) -> None:
    """The plan is kept while the table grows."""
    assert isinstance(db, Postgres)
    if is_analyzed:
        with db.connect(autocommit=True) as connection:
            connection.execute("analyze jobs")
    rows = [("x", str(number), number) for number in range(9)]

    def plan(tx: Tx) -> str:
        pair = row_batches.json_statement(
            "update jobs set reason = ? where id = ? and version = ?", rows
        )
        assert pair is not None
        sql, params = pair
        return "\n".join(line for (line,) in tx.rows(f"explain {sql}", *params))

    actual_plan = db.write_blocking(plan)
    assert (
        "Index Cond" in actual_plan and "Seq Scan" not in actual_plan and "id = ANY" in actual_plan
    )
