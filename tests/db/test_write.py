"""Operations on both engines: what is stored, what is signalled, and what remains after an
error."""

import asyncio
import contextlib
import threading
from contextlib import closing

import psycopg
import pytest

from belvedere.base.errors import Conflict, Unavailable
from belvedere.db import Database, Tx
from belvedere.db.postgres.batcher import MAX_LOCK_WAITS
from belvedere.db.signals import Signal, host_ready

only_postgres = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


def note(tx: Tx, name: str, value: str | None) -> None:
    tx.execute_many("insert into meta (name, value) values (?, ?)", [(name, value)])


def note_all(tx: Tx, pairs: list[tuple[str, str | None]]) -> list[None]:
    tx.execute_many("insert into meta (name, value) values (?, ?)", pairs)
    return [None for _ in pairs]


def read_notes(tx: Tx) -> list[str]:
    rows = tx.rows("select name from meta where name like 'n%' order by name")
    return [name for (name,) in rows]


def test_a_write_is_committed(db: Database) -> None:
    def note_and_look(tx: Tx) -> list[str]:
        note(tx, "n1", "x")
        return read_notes(tx)

    assert db.write_blocking(note_and_look) == ["n1"]
    assert db.write_blocking(read_notes) == ["n1"]


def test_an_error_leaves_no_data(db: Database) -> None:
    def note_badly(tx: Tx) -> None:
        note(tx, "n1", "x")
        note(tx, "n2", None)

    with pytest.raises(Exception, match="(?i)null"):
        db.write_blocking(note_badly)
    assert db.write_blocking(read_notes) == []


def test_a_failed_operation_is_rolled_back(db: Database) -> None:
    def note_and_refuse(tx: Tx) -> None:
        note(tx, "n1", "x")
        raise Unavailable("no")

    with pytest.raises(Unavailable):
        db.write_blocking(note_and_refuse)
    assert db.write_blocking(read_notes) == []


@only_postgres
@pytest.mark.parametrize(("deadlocks", "kept"), [(3, ["n1"]), (4, [])])
def test_a_deadlocked_operation_is_retried(db: Database, deadlocks: int, kept: list[str]) -> None:
    """Not forever: after some attempts the caller repeats it."""
    rings = iter(range(deadlocks))

    def note_in_a_ring(tx: Tx) -> None:
        note(tx, "n1", "x")
        if next(rings, None) is not None:
            raise psycopg.errors.DeadlockDetected

    with contextlib.suppress(Unavailable):
        db.write_blocking(note_in_a_ring)
    assert db.write_blocking(read_notes) == kept
    assert next(rings, None) is None


async def test_an_invalid_item_does_not_affect_the_others(db: Database) -> None:
    pairs: list[tuple[str, str | None]] = [("n1", "x"), ("n0", None), ("n2", "x")]
    tasks = [db.write_batched(note_all, pair) for pair in pairs]
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert [isinstance(answer, Exception) for answer in answers] == [False, True, False]
    assert await db.read(read_notes) == ["n1", "n2"]


@only_postgres
@pytest.mark.parametrize(
    ("lock", "results", "runs"),
    [
        ("select 1 from meta where name = 'n2' for update", ["n1", "Unavailable", "n3", "n4"], 5),
        ("lock table meta", ["Unavailable"] * 4, 1 + MAX_LOCK_WAITS),
    ],
)
async def test_a_locked_row_fails_only_its_own_item(
    db: Database, lock: str, results: list[str], runs: int
) -> None:
    """If several items wait, the others are not tried: the table may be locked."""
    names = ["n1", "n2", "n3", "n4"]
    await db.write(note_all, [(name, "x") for name in names])
    calls: list[list[str]] = []

    def change_all(tx: Tx, items: list[str]) -> list[str]:
        calls.append(items)
        tx.execute("set local lock_timeout = '50ms'")
        for name in items:
            tx.row("update meta set value = 'y' where name = ? returning name", name)
        return items

    with closing(db.connect()) as other:  # type: ignore[attr-defined]
        other.execute(lock)
        items = [db.write_batched(change_all, name) for name in names]
        answers = await asyncio.gather(*items, return_exceptions=True)
    assert [
        type(answer).__name__ if isinstance(answer, Exception) else answer for answer in answers
    ] == results
    assert len(calls) == runs


async def test_items_before_an_outage_are_reported_as_done(db: Database) -> None:
    """The batch fails because of one item, then its items run one by one and the database is lost:
    a caller whose item is durable must not be asked to repeat it."""

    def note_one_by_one(tx: Tx, names: list[str]) -> list[str]:
        if len(names) > 1 or names == ["n2"]:
            raise ValueError
        if names == ["n3"]:
            raise Unavailable("the database is lost")
        note(tx, names[0], "x")
        return names

    items = [db.write_batched(note_one_by_one, name) for name in ("n1", "n2", "n3", "n4")]
    answers = await asyncio.gather(*items, return_exceptions=True)
    assert [str(answer) for answer in answers] == ["n1", "", "the database is lost", "n4"]
    assert await db.read(read_notes) == ["n1", "n4"]


async def test_a_failed_single_operation_leaves_nothing_and_runs_no_callback(db: Database) -> None:
    called: list[object] = []
    db.on_signals = called.extend

    def note_and_refuse(tx: Tx, names: list[str]) -> list[None]:
        note_all(tx, [(name, "x") for name in names])
        tx.after_commit(lambda: called.append("after"))
        tx.signals.add(host_ready("1"))
        raise Unavailable("no")

    for future in (db.write_batched(note_and_refuse, "n1"), db.write(note_and_refuse, ["n2"])):
        with pytest.raises(Unavailable):
            await future
    await db.write(note, "n3", "x")
    assert (await db.read(read_notes), called) == (["n3"], [])


async def test_a_refusal_in_a_batch_changes_nothing_for_the_others(db: Database) -> None:
    called: list[str] = []
    items: list[Signal] = []
    db.on_signals = items.extend

    def keep(tx: Tx, name: str) -> str:
        note(tx, name, "x")
        tx.after_commit(lambda: called.append(name))
        tx.signals.add(host_ready(name))
        return name

    def refuse(tx: Tx, name: str) -> str:
        keep(tx, name)
        raise Conflict("no", code="no")

    def keep_all(tx: Tx, names: list[str]) -> list[str | Exception]:
        return [Conflict("odd", code="odd") if name == "n0" else keep(tx, name) for name in names]

    alone = [db.write(keep, "n1"), db.write(refuse, "n2"), db.write(keep, "n3")]
    together = [db.write_batched(keep_all, name) for name in ("n4", "n0", "n5")]
    answers = await asyncio.gather(*alone, *together, return_exceptions=True)
    texts = ["n1", "n3", "n4", "n5"]
    assert [answer for answer in answers if isinstance(answer, str)] == texts
    assert [
        first_answer.code for first_answer in answers if isinstance(first_answer, Conflict)
    ] == ["no", "odd"]
    assert (await db.read(read_notes), sorted(called)) == (texts, texts)
    assert sorted(items) == [host_ready(name) for name in texts]


async def test_a_fault_at_the_end_of_a_batch_keeps_its_operations(db: Database) -> None:
    called: list[str] = []

    def keep(tx: Tx, name: str) -> None:
        note(tx, name, "x")
        tx.signals.add(host_ready("1"))
        tx.after_commit(lambda: called.append(name))

    def fail(tx: Tx) -> None:
        note(tx, "n9", "x")
        tx.after_commit(lambda: called.append("n9"))
        raise Unavailable("no")

    db.before_commit = fail
    await db.write(keep, "n1")
    await asyncio.gather(db.write(keep, "n2"), db.write(keep, "n3"))
    assert (await db.read(read_notes), sorted(called)) == (["n1", "n2", "n3"], ["n1", "n2", "n3"])


async def test_the_cache_forgets_rolled_back_operations(db: Database) -> None:
    def remember(tx: Tx, name: str) -> str:
        text: str = tx.version_cache.setdefault("word", name)
        if name == "bad":
            raise Conflict("no", code="no")
        return text

    with pytest.raises(Conflict):
        await db.write(remember, "bad")
    assert await db.write(remember, "good") == "good"


async def test_single_and_grouped_writes_are_all_durable(db: Database) -> None:
    for number in range(5):
        await db.write(note, f"n{number}", "x")
    writes = [db.write(note, f"n{number}", "x") for number in range(5, 40)]
    await asyncio.gather(*writes)
    assert len(await db.read(read_notes)) == 40


async def test_an_inline_read_sees_the_last_write(db: Database) -> None:
    await db.write(note, "n1", "x")
    assert await db.read_inline(read_notes) == ["n1"]


async def test_writes_of_a_reader_are_not_stored(db: Database) -> None:
    for look in (db.read_inline, db.read):
        try:
            await look(note, "n1", "x")
        except Exception as fault:
            # One engine rejects it, the other never sends it.
            assert "readonly" in repr(fault)
        assert await db.read_inline(read_notes) == []
    await db.write(note, "n2", "x")
    assert await db.read(read_notes) == ["n2"]


@only_postgres
async def test_a_lost_connection_is_reported_and_replaced(db: Database) -> None:
    def cut(tx: Tx) -> None:
        tx.execute("select pg_terminate_backend(pg_backend_pid())")

    with pytest.raises(Unavailable):
        await db.write(cut)
    await db.write(note, "n1", "x")
    assert await db.read(read_notes) == ["n1"]


@only_postgres
async def test_when_all_connections_die_no_look_fails(db: Database, database_url: str) -> None:
    together = threading.Barrier(3, timeout=30)
    await asyncio.gather(*(db.read(lambda tx: together.wait()) for _ in range(3)))
    with psycopg.connect(database_url, autocommit=True) as operator:
        operator.execute(
            "select pg_terminate_backend(pid, 10000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
    assert await db.read(read_notes) == []


@only_postgres
def test_an_error_that_an_operation_catches_rolls_it_back(db: Database) -> None:
    def swallow(tx: Tx) -> None:
        note(tx, "n1", "x")
        try:
            tx.value("select 1 / 0")
        except Exception:
            return

    with pytest.raises(Exception, match="ignored"):
        db.write_blocking(swallow)
    assert db.write_blocking(read_notes) == []


async def test_a_failing_callback_after_the_commit_delays_no_operation(db: Database) -> None:
    texts: list[str] = []

    def note_and_call(tx: Tx, pairs: list[tuple[str, str | None]]) -> list[None]:
        tx.after_commit(lambda: [][1])
        tx.after_commit(lambda: texts.append("told"))
        tx.signals.add(host_ready("n"))
        return note_all(tx, pairs)

    def ring(signals: set[Signal]) -> None:
        raise RuntimeError("the listener failed")

    db.on_signals = ring
    pairs: list[tuple[str, str | None]] = [("n1", "x"), ("n2", "x")]
    for pair in pairs:
        await asyncio.wait_for(db.write_batched(note_and_call, pair), 10)
    assert (await db.read(read_notes), texts) == (["n1", "n2"], ["told", "told"])
