"""Concurrent calls: each all or nothing, none twice, none lost."""

import asyncio
from collections.abc import Callable

import pytest

from belvedere.base.errors import Conflict, Invalid
from belvedere.db import Database
from belvedere.webhooks.deliveries.receive import CallResult, trigger
from event_rows import for_object

from .conftest import Dial, Make

MakeTask = Callable[..., str]


def rows(db: Database, sql: str) -> list[tuple[object, ...]]:
    return db.write_blocking(lambda tx: tx.rows(sql))


async def test_concurrent_calls_are_all_counted(
    db: Database, task: MakeTask, make: Make, make_call: Dial
) -> None:
    """A hundred calls: jobs, deliveries, events and the count all agree."""
    hook = make(task("a"), task("b"))
    answers = await asyncio.gather(
        *(db.write_batched(trigger, make_call(hook, f'["{n}"]'.encode())) for n in range(100))
    )
    ids = [job.id for answer in answers if isinstance(answer, CallResult) for job in answer.jobs]
    assert len(set(ids)) == 200
    text = await db.read(lambda tx: tx.rows("select id, arguments from jobs order by id"))
    assert sorted(ids) == [row[0] for row in text]
    assert sorted(row[1] for row in text) == sorted([f'["{n}"]' for n in range(100)] * 2)
    assert await db.read(lambda tx: tx.rows("select trigger_count from webhooks")) == [(100,)]
    assert await db.read(lambda tx: tx.rows("select count(*) from deliveries")) == [(100,)]
    output = await db.read(for_object, hook.id)
    assert [event.kind for event in output].count("webhook.triggered") == 100


async def test_one_delivery_that_comes_sixteen_times_starts_once(
    db: Database, task: MakeTask, make: Make, make_call: Dial
) -> None:
    hook = make(task())
    answers = await asyncio.gather(
        *(db.write_batched(trigger, make_call(hook, key="k")) for _ in range(16))
    )
    assert all(isinstance(answer, CallResult) for answer in answers)
    assert {tuple(job.id for job in answer.jobs) for answer in answers} == {
        (answers[0].jobs[0].id,)
    }
    assert [answer.replayed for answer in answers].count(False) == 1
    assert len(await db.read(lambda tx: tx.rows("select id from jobs"))) == 1


async def test_concurrent_deliveries_to_several_servers_start_once(
    db: Database, task: MakeTask, make: Make, make_call: Dial
) -> None:
    """Each in its own transaction; the later one finds what the first has created."""
    hook = make(task())
    calls = [[make_call(hook, key=f"k{n % 4}")] for n in range(32)]
    call_results = await asyncio.gather(*(db.write(trigger, call) for call in calls))
    answers = [answer for (answer,) in call_results]
    assert all(isinstance(answer, CallResult) for answer in answers), answers
    assert len(await db.read(lambda tx: tx.rows("select id from jobs"))) == 4
    assert await db.read(lambda tx: tx.rows("select trigger_count from webhooks")) == [(4,)]


def test_a_refused_call_does_not_affect_others(
    db: Database, task: MakeTask, make: Make, make_call: Dial
) -> None:
    good, bad, off = make(task("a")), make(task("b"), task("c", enable=False)), make()
    answers = db.write_blocking(
        trigger,
        [
            make_call(bad),
            make_call(good),
            make_call(good, b"[]"),
            make_call(off),
            make_call(good, b"["),
            make_call(good),
        ],
    )
    kinds = [type(answer) for answer in answers]
    assert kinds == [Conflict, CallResult, Invalid, CallResult, Invalid, CallResult]
    assert len(rows(db, "select id from jobs")) == 2
    verdicts = [row[0] for row in rows(db, "select verdict from deliveries order by id")]
    assert verdicts == [
        "task_disabled",
        "accepted",
        "missing_arguments",
        "accepted",
        "malformed_json",
        "accepted",
    ]
    assert rows(db, f"select trigger_count from webhooks where id = '{bad.id}'") == [(0,)]


def test_an_error_leaves_no_data(db: Database, task: MakeTask, make: Make, make_call: Dial) -> None:
    """Jobs, delivery and count are one transaction."""
    hook = make(task())

    def trigger_and_fail(tx: object, calls: list[object]) -> None:
        trigger(tx, calls)  # type: ignore[arg-type]
        raise RuntimeError("the power went")

    with pytest.raises(RuntimeError):
        db.write_blocking(trigger_and_fail, [make_call(hook, key="k")])
    for table in ("jobs", "deliveries", "idempotency"):
        assert rows(db, f"select count(*) from {table}") == [(0,)]
    assert rows(db, "select trigger_count from webhooks") == [(0,)]
