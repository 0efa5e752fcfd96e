"""Several statements in one exchange: each answers in its turn, and sees what came before it."""

import pytest

from belvedere.db import Database, Tx
from belvedere.db.postgres.database import Postgres
from belvedere.db.postgres.transaction import PostgresTx


def test_it_works(db: Database) -> None:
    def ask(tx: Tx) -> list[list[tuple[object, ...]]]:
        return list(tx.together(("select 1", ()), ("select ? || 'b'", ("a",)), ("select 3", ())))

    assert db.write_now(ask) == [[(1,)], [("ab",)], [(3,)]]


def test_writes_that_wait_go_first(db: Database) -> None:
    def ask(tx: Tx) -> list[list[tuple[object, ...]]]:
        tx.many("insert into cursors (name, xid, id) values (?, ?, ?)", [("x", 0, 7)])
        count = ("select id from cursors where name = ?", ("x",))
        return list(tx.together(count, count))

    assert db.write_now(ask) == [[(7,)], [(7,)]]


def test_a_fault_in_one_undoes_all(db: Database) -> None:
    def ask(tx: Tx) -> None:
        tx.many("insert into cursors (name, xid, id) values (?, ?, ?)", [("x", 0, 7)])
        list(tx.together(("select 1", ()), ("select missing from nowhere", ())))

    with pytest.raises(Exception, match="no such|does not exist"):
        db.write_now(ask)
    assert db.write_now(lambda tx: tx.rows("select name from cursors where name = 'x'")) == []


def test_a_list_finds_its_members(db: Database) -> None:
    def ask(tx: Tx) -> list[tuple[object, ...]]:
        rows = [("a", 0, 1), ("b", 0, 2), ("c", 0, 3)]
        tx.many("insert into cursors (name, xid, id) values (?, ?, ?)", rows)
        return tx.rows(
            f"select name from cursors where name in {tx.sql.texts}"
            f" or id in {tx.sql.numbers} order by name",
            '["a", "z"]',
            "[3, 9]",
        )

    assert db.write_now(ask) == [("a",), ("c",)]


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_list_is_looked_up_in_the_index_of_an_empty_table(db: Database) -> None:
    """The plan is kept while the table grows."""

    def plan(tx: Tx) -> str:
        sql = f"explain select name from jobs where id in {tx.sql.texts} order by id"
        return "\n".join(line for (line,) in tx.rows(sql, '["a"]'))

    found = db.write_now(plan)
    assert "on jobs_pkey" in found and "Seq Scan" not in found


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_the_connection_used_last_is_used_next(db: Database) -> None:
    assert isinstance(db, Postgres)
    used = []

    def note(tx: Tx) -> None:
        assert isinstance(tx, PostgresTx)
        used.append(tx.wire)

    for _ in range(3):
        db.write_now(note)
    assert used[0] is used[1] is used[2]
