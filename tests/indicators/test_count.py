"""Concurrent changes of a counter."""

import asyncio

import pytest

from belvedere.base.errors import Invalid, NotFound
from belvedere.db import Database
from belvedere.indicators import queries
from belvedere.indicators.counting import CounterRequest, count_batch
from belvedere.indicators.model import Action
from event_rows import for_object
from people import Actors

from .conftest import Make

CALLERS, STEPS = 16, 1_000


async def test_concurrent_increments_are_all_counted(
    db: Database, actors: Actors, make: Make
) -> None:
    """1,000 increments from 16 callers: every one counts, and each caller sees its own step."""
    counter = make(value=0)
    waiting = iter(range(STEPS))
    numbers: list[float] = []

    async def call() -> None:
        for _ in waiting:
            indicator = await db.write_batched(
                count_batch, CounterRequest(actors.ada, "id", counter.id, Action.INCREASE)
            )
            assert isinstance(indicator, queries.IndicatorView)
            numbers.append(float(indicator.row.summary))

    await asyncio.gather(*(call() for _ in range(CALLERS)))
    assert sorted(numbers) == list(range(1, STEPS + 1))
    text = await db.read(queries.show, actors.ada, counter.id)
    assert (text.row.value, text.row.version) == (STEPS, STEPS + 1)


async def test_operations_of_several_servers_are_exact_too(
    db: Database, actors: Actors, make: Make
) -> None:
    """Each in its own transaction, as they come from different processes."""
    counter = make(value=0)
    expected = [CounterRequest(actors.ada, "id", counter.id, Action.INCREASE)]
    answers = await asyncio.gather(*(db.write(count_batch, expected) for _ in range(100)))
    assert sorted(answer[0].row.summary for answer in answers) == list(range(1, 101))  # type: ignore[union-attr]


def test_a_refused_request_does_not_affect_others(db: Database, actors: Actors, make: Make) -> None:
    counter, text = make("a"), make("b", "text")
    answers = db.write_blocking(
        count_batch,
        [
            CounterRequest(actors.ada, "title", "b", Action.INCREASE),
            CounterRequest(actors.ada, "title", "a", Action.INCREASE),
            CounterRequest(actors.eve, "id", counter.id, Action.INCREASE),
            CounterRequest(actors.ada, "id", text.id, Action.RESTART),
            CounterRequest(actors.ada, "id", counter.id, Action.INCREASE),
        ],
    )
    first, second, third, fourth, fifth = answers
    assert isinstance(first, Invalid) and isinstance(fourth, Invalid)
    assert isinstance(third, NotFound)
    assert isinstance(second, queries.IndicatorView) and isinstance(fifth, queries.IndicatorView)
    assert (second.row.value, fifth.row.value) == (2, 3)


def test_every_step_writes_an_event(db: Database, actors: Actors, make: Make) -> None:
    counter = make()
    for action in (Action.INCREASE, Action.DECREASE, Action.RESTART):
        db.write_blocking(count_batch, [CounterRequest(actors.ada, "id", counter.id, action)])
    kinds = [event.kind for event in db.write_blocking(for_object, counter.id)]
    assert kinds == ["indicator.created", *["indicator.changed"] * 3]


@pytest.mark.parametrize("action", list(Action))
def test_counting_renews_the_time_to_live(
    db: Database, actors: Actors, make: Make, action: Action
) -> None:
    counter = make(ttl=1_000)
    (indicator,) = db.write_blocking(
        count_batch, [CounterRequest(actors.ada, "id", counter.id, action)]
    )
    assert isinstance(indicator, queries.IndicatorView)
    assert indicator.row.stale_at == indicator.row.pushed_at + 1_000
