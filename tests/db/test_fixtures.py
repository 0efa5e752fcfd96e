"""The fixtures that other tests rely on."""

from belvedere.db import Database, Tx
from manual_clock import ManualClock
from people import Actors


def _count(tx: Tx) -> int:
    return int(tx.value("select count(*) from customers"))


def _add(tx: Tx) -> int:
    return tx.execute(
        "insert into customers (id, name, name_key, created_at, updated_at)"
        " values (?, 'acme', 'acme', ?, ?)",
        "0" * 24,
        tx.now,
        tx.now,
    )


def test_a_test_starts_with_an_empty_database(db: Database) -> None:
    assert db.write_blocking(_count) == 0
    assert db.write_blocking(_add) == 1


async def test_each_test_has_a_database_of_its_own(db: Database) -> None:
    assert await db.read(_count) == 0
    assert await db.write(_add) == 1


def test_both_engines_are_used(db: Database, engine: str) -> None:
    assert db.dialect.name == engine


def test_the_clock_moves_only_by_hand(db: Database, clock: ManualClock) -> None:
    before = db.write_blocking(lambda tx: tx.now)
    clock.move(1.5)
    assert db.write_blocking(lambda tx: tx.now) == before + 1_500


def test_the_log_store_is_there(logs: Database) -> None:
    assert logs.write_blocking(lambda tx: tx.value("select count(*) from logs")) == 0


def test_every_actor_exists(actors: Actors) -> None:
    levels = [
        actor.level for actor in (actors.olga, actors.ada, actors.max, actors.uma, actors.vic)
    ]
    assert levels == ["owner", "admin", "manager", "user", "viewer"]
    assert {actors.eve.customer_id} != {actors.ada.customer_id}
    assert set(actors.tokens) == {"olga", "ada", "max", "uma", "vic", "eve"}
