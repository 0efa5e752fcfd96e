"""Each step is taken once: by two servers at once, twice by one, and over any crash between."""

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from belvedere.jobs.history import consistency
from belvedere.jobs.lifecycle.finish import ReceivedReport, finish
from belvedere.protocol import Report
from belvedere.workflows import control
from belvedere.workflows.execution import advance
from jobs.test_races import at_once
from workflows.workflow_steps import Yard, react

DIAMOND = "a-b a-c a-d b-e c-e d-e e-f"


class Killed(Exception):
    """What a SIGKILL before the commit leaves of a transaction: nothing."""


def sound(yard: Yard) -> None:
    assert yard.db.write_blocking(consistency.check, "", 10_000) == []


def names(yard: Yard, job_id: str) -> list[str]:
    return sorted(step.name for step in yard.steps() if step.workflow_job_id == job_id)


def test_it_works(yard: Yard) -> None:
    """The reaction again and again, to every event: nothing is started twice."""
    job = yard.run(yard.flow(DIAMOND, joins="e"))
    for name in "abcdef":
        yard.ends(name, react=False)
        for _ in range(3):
            yard.db.write_blocking(react)
            yard.db.write_blocking(advance.advance, job.id)
        # As if the cursor had never moved.
        yard.db.write_blocking(lambda tx: tx.execute("delete from cursors"))
        yard.react()
    assert names(yard, job.id) == list("abcdef")
    assert yard.stands(job.id) == "finished/normal"
    assert yard.kinds(job.id) == ["created", "started", "finished"]
    sound(yard)


def test_a_kill_before_each_commit_loses_and_doubles_nothing(yard: Yard) -> None:
    def dies(tx: object) -> None:
        react(tx)
        raise Killed

    job = yard.run(yard.flow(DIAMOND, joins="e"))
    for name in "abcdef":
        yard.ends(name, react=False)
        before = len(yard.steps())
        with pytest.raises(Killed):
            yard.db.write_blocking(dies)
        assert len(yard.steps()) == before
        yard.react()
    assert names(yard, job.id) == list("abcdef")
    assert yard.stands(job.id) == "finished/normal"
    sound(yard)


def test_ends_while_no_server_ran_are_all_processed(yard: Yard) -> None:
    job = yard.run(yard.flow(DIAMOND, joins="e"))
    yard.ends("a")
    for name in "bcd":
        yard.ends(name, react=False)
    yard.react()
    assert yard.names() == ["e"]
    yard.ends("e")
    yard.ends("f")
    assert yard.stands(job.id) == "finished/normal"


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_servers_that_advance_at_once_start_each_step_once(yard: Yard) -> None:
    """SQLite has one writer; on PostgreSQL ends, reactions and direct calls meet."""
    chance = random.Random(7)
    flow = yard.flow(DIAMOND, joins="e")
    jobs = [yard.run(flow) for _ in range(4)]
    for _ in range(40):
        claimed = yard.claim()
        ends = [
            partial(
                yard.db.write_blocking,
                finish,
                [ReceivedReport(yard.host_id, item.job.fence, Report("exit"))],
            )
            for item in claimed
        ]
        calls: list[Callable[[], Any]] = [*ends, *[partial(yard.db.write_blocking, react)] * 3]
        calls += [partial(yard.db.write_blocking, advance.advance, job.id) for job in jobs]
        chance.shuffle(calls)
        for answer in at_once(calls):
            assert not isinstance(answer, Exception), answer
        if all(yard.job(job.id).is_over for job in jobs):
            break
    for job in jobs:
        assert yard.stands(job.id) == "finished/normal"
        assert names(yard, job.id) == list("abcdef")
    sound(yard)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_cancel_and_an_end_leave_no_open_step(yard: Yard) -> None:
    flow = yard.flow("a-b a-c")
    for _ in range(15):
        job = yard.run(flow)
        (claimed,) = yard.claim()
        end = ReceivedReport(yard.host_id, claimed.job.fence, Report("exit"))
        at_once(
            [
                partial(yard.db.write_blocking, finish, [end]),
                partial(yard.db.write_blocking, react),
                partial(yard.db.write_blocking, control.cancel, yard.actors.ada, flow.id, job.id),
            ]
        )
        yard.react()
        assert yard.stands(job.id) == "terminated/canceled"
        assert not [step for step in yard.steps() if not step.is_over]
    sound(yard)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_of_many_that_start_at_once_one_has_the_turn(yard: Yard) -> None:
    flow = yard.flow("a", multitasking=False)
    yard.connect()
    started = at_once([partial(yard.run, flow)] * 8)
    assert not [item for item in started if isinstance(item, Exception)]
    lifecycles = sorted(yard.job(item.id).lifecycle for item in started)
    assert lifecycles == ["onhold"] * 7 + ["ready"]
    for _ in range(8):
        assert len(yard.claim()) == 1
        (running,) = [step for step in yard.steps() if step.lifecycle == "assigned"]
        yard.end(running.fence)
        yard.react()
    assert {yard.job(item.id).lifecycle for item in started} == {"finished"}
    sound(yard)
