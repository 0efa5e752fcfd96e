"""Each step runs once: with two servers, repeated events, and after any crash."""

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
from workflows.workflow_steps import WorkflowSteps, react

DIAMOND = "a-b a-c a-d b-e c-e d-e e-f"


class KilledBeforeCommit(Exception):
    """What a SIGKILL before the commit leaves of a transaction: nothing."""


def check_consistent(steps: WorkflowSteps) -> None:
    assert steps.db.write_blocking(consistency.check, "", 10_000) == []


def names(steps: WorkflowSteps, job_id: str) -> list[str]:
    return sorted(step.name for step in steps.steps() if step.workflow_job_id == job_id)


def test_repeated_events_start_nothing_twice(steps: WorkflowSteps) -> None:
    """The consumer again and again, for every event: nothing is started twice."""
    job = steps.run(steps.flow(DIAMOND, joins="e"))
    for name in "abcdef":
        steps.ends(name, react=False)
        for _ in range(3):
            steps.db.write_blocking(react)
            steps.db.write_blocking(advance.advance, job.id)
        # As if the cursor had never moved.
        steps.db.write_blocking(lambda tx: tx.execute("delete from cursors"))
        steps.react()
    assert names(steps, job.id) == list("abcdef")
    assert steps.status(job.id) == "finished/normal"
    assert steps.kinds(job.id) == ["created", "started", "finished"]
    check_consistent(steps)


def test_a_kill_before_each_commit_loses_and_duplicates_nothing(steps: WorkflowSteps) -> None:
    def dies(tx: object) -> None:
        react(tx)
        raise KilledBeforeCommit

    job = steps.run(steps.flow(DIAMOND, joins="e"))
    for name in "abcdef":
        steps.ends(name, react=False)
        before = len(steps.steps())
        with pytest.raises(KilledBeforeCommit):
            steps.db.write_blocking(dies)
        assert len(steps.steps()) == before
        steps.react()
    assert names(steps, job.id) == list("abcdef")
    assert steps.status(job.id) == "finished/normal"
    check_consistent(steps)


def test_ends_while_no_server_ran_are_all_processed(steps: WorkflowSteps) -> None:
    job = steps.run(steps.flow(DIAMOND, joins="e"))
    steps.ends("a")
    for name in "bcd":
        steps.ends(name, react=False)
    steps.react()
    assert steps.names() == ["e"]
    steps.ends("e")
    steps.ends("f")
    assert steps.status(job.id) == "finished/normal"


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_servers_that_advance_at_once_start_each_step_once(steps: WorkflowSteps) -> None:
    """SQLite has one writer; on PostgreSQL ends, the consumer and direct calls run concurrently."""
    chance = random.Random(7)
    flow = steps.flow(DIAMOND, joins="e")
    jobs = [steps.run(flow) for _ in range(4)]
    for _ in range(40):
        claimed = steps.claim()
        ends = [
            partial(
                steps.db.write_blocking,
                finish,
                [ReceivedReport(steps.host_id, item.job.fence, Report("exit"))],
            )
            for item in claimed
        ]
        calls: list[Callable[[], Any]] = [*ends, *[partial(steps.db.write_blocking, react)] * 3]
        calls += [partial(steps.db.write_blocking, advance.advance, job.id) for job in jobs]
        chance.shuffle(calls)
        for answer in at_once(calls):
            assert not isinstance(answer, Exception), answer
        if all(steps.job(job.id).is_over for job in jobs):
            break
    for job in jobs:
        assert steps.status(job.id) == "finished/normal"
        assert names(steps, job.id) == list("abcdef")
    check_consistent(steps)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_cancel_and_an_end_leave_no_open_step(steps: WorkflowSteps) -> None:
    flow = steps.flow("a-b a-c")
    for _ in range(15):
        job = steps.run(flow)
        (claimed,) = steps.claim()
        end = ReceivedReport(steps.host_id, claimed.job.fence, Report("exit"))
        at_once(
            [
                partial(steps.db.write_blocking, finish, [end]),
                partial(steps.db.write_blocking, react),
                partial(steps.db.write_blocking, control.cancel, steps.actors.ada, flow.id, job.id),
            ]
        )
        steps.react()
        assert steps.status(job.id) == "terminated/canceled"
        assert not [step for step in steps.steps() if not step.is_over]
    check_consistent(steps)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_one_of_many_concurrent_workflows_gets_the_turn(steps: WorkflowSteps) -> None:
    flow = steps.flow("a", multitasking=False)
    steps.connect()
    started = at_once([partial(steps.run, flow)] * 8)
    assert not [item for item in started if isinstance(item, Exception)]
    lifecycles = sorted(steps.job(item.id).lifecycle for item in started)
    assert lifecycles == ["onhold"] * 7 + ["ready"]
    for _ in range(8):
        assert len(steps.claim()) == 1
        (running,) = [step for step in steps.steps() if step.lifecycle == "assigned"]
        steps.end(running.fence)
        steps.react()
    assert {steps.job(item.id).lifecycle for item in started} == {"finished"}
    check_consistent(steps)
