"""Faults planted into the product: each must be detected, or the simulator proves nothing."""

from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest

from belvedere.agent.connection.session import ServerSession
from belvedere.agent.journal.journal import Journal
from belvedere.jobs import events, store
from belvedere.jobs.attempts import end_attempt
from belvedere.jobs.lifecycle import actions, create, finish, timeouts
from belvedere.jobs.model import JobState, Lifecycle
from belvedere.jobs.recovery import hold, restore, resync
from belvedere.server import clock as server_clock
from sim import patches
from sim import scenario as story
from sim.swarm import FaultRates

Patch = tuple[Any, str, Any]
# The rarest faults show in one story of seventy.
MOST_SEEDS = 600


def any_journal_is_evidence() -> Patch:
    return resync, "_is_proof", lambda *_: True


def a_missing_fence_was_never_accepted() -> Patch:
    """As it was: neither a rollback nor the agent's own word counts against the journal."""
    return resync, "_is_proof", lambda attempt, job, journal, _: attempt.journal_id == journal


def any_fence_ends_a_job() -> Patch:
    return finish, "_is_current", lambda job, attempt: not job.is_over


def lost_jobs_run_again() -> Patch:
    def again(job: Any, reason: str, now: int) -> None:
        store.apply_transition(job, Lifecycle.READY, JobState.IN_PROGRESS, now)

    return finish, "mark_lost", again


def keys_are_forgotten() -> Patch:
    return create, "_find_replay", lambda tx, request, by_key: None


def ends_are_told_once() -> Patch:
    resume = ServerSession._resume

    def forgetful(self: Any, entry: dict[str, Any], offset: int) -> None:
        if entry["report"] is None:
            resume(self, entry, offset)

    return ServerSession, "_resume", forgetful


def nothing_is_journalled() -> Patch:
    return Journal, "append", lambda self, record, *, sync: None


def cancel_is_taken_for_certain() -> Patch:
    def certain(tx: Any, actor: Any, job: Any) -> Any:
        store.apply_transition(job, Lifecycle.TERMINATED, JobState.CANCELED, tx.now)
        job.ended_at, job.trigger_name = tx.now, "canceled"
        store.save(tx, [job])
        end_attempt(tx, job, "ended")
        events.publish(tx, "canceled", [job])
        return job

    return actions, "_request_cancel", certain


def a_full_disk_fails_the_job() -> Patch:
    return finish, "is_returned", lambda report: False


def changes_leave_no_event() -> Patch:
    return events, "publish", lambda tx, event, jobs: None


def a_restore_holds_nothing() -> Patch:
    return hold, "hold", lambda tx, host_id=None: 0


def a_restored_database_is_not_noticed() -> Patch:
    return restore, "check_hello", lambda tx, host_id, hello, before: 0


def any_journal_releases_held_jobs() -> Patch:
    def release(tx: Any, host_id: str, hello: Any, before: Any) -> int:
        return hold.release_proved(tx, host_id) if before.is_due else 0

    return restore, "compare", release


def a_lost_end_is_not_noticed() -> Patch:
    return restore, "_has_lost_end", lambda tx, host_id, fence, hello: False


def deadlines_follow_the_wall_clock() -> Patch:
    """As it was: what waits for a duration waits for a time of day."""
    moves = tuple(move for move in server_clock.MOVES if move is not timeouts.move_clock)
    return server_clock, "MOVES", moves


FAULTS = (
    a_full_disk_fails_the_job,
    any_journal_is_evidence,
    a_missing_fence_was_never_accepted,
    any_fence_ends_a_job,
    lost_jobs_run_again,
    keys_are_forgotten,
    ends_are_told_once,
    nothing_is_journalled,
    cancel_is_taken_for_certain,
    changes_leave_no_event,
)


# They show only after a restore, which few stories draw.
RESTORE_FAULTS = (
    a_restore_holds_nothing,
    a_restored_database_is_not_noticed,
    any_journal_releases_held_jobs,
    a_lost_end_is_not_noticed,
)
RESTORES = FaultRates(
    restores=2, agent_pauses=3, lag=0.6, dies_after_commit=0.03, server_pauses=2, keeper_kills=2
)
# It shows only when the clock jumps while jobs wait, and a server runs that notices it.
JUMPS = FaultRates(clock_jumps=6, partitions=4, agent_kills=4, keeper_kills=2, lag=0.3)
CASES: list[tuple[Callable[[], Patch], FaultRates | None]] = [
    *((fault, None) for fault in FAULTS),
    *((fault, RESTORES) for fault in RESTORE_FAULTS),
    (deadlines_follow_the_wall_clock, JUMPS),
]


@pytest.mark.limit(180)
@pytest.mark.parametrize(("fault", "swarm"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_a_planted_fault_is_caught(fault: Callable[[], Patch], swarm: FaultRates | None) -> None:
    where, name, planted = fault()
    with patches.install(), mock.patch.object(where, name, planted):
        caught = next((seed for seed in range(MOST_SEEDS) if _breaks(seed, swarm)), None)
    assert caught is not None, f"{fault.__name__} went unnoticed in {MOST_SEEDS} stories"


@pytest.mark.limit(120)
def test_no_deadline_follows_a_clock_that_jumps() -> None:
    """The same stories without the fault."""
    with patches.install():
        for seed in range(10):
            assert story.run_seed(seed, JUMPS).violations == []


def _breaks(seed: int, swarm: FaultRates | None) -> bool:
    try:
        return bool(story.run_seed(seed, swarm).violations)
    except Exception:
        # A story that cannot even be told to its end has noticed the fault, too.
        return True
