"""Jobs of a database that was restored from a backup."""

import msgspec
import pytest

from belvedere.access.actor import Level
from belvedere.base.errors import Conflict, Forbidden
from belvedere.db import Tx, installation
from belvedere.hosts import restored
from belvedere.jobs import store
from belvedere.jobs.attempts import live_attempts
from belvedere.jobs.history import retention
from belvedere.jobs.lifecycle import actions
from belvedere.jobs.lifecycle.timeouts import end_waiting
from belvedere.jobs.recovery import hold, restore, resync
from belvedere.protocol import Hello, JournaledAttempt
from jobs.job_steps import JOURNAL, JobSteps


def restore_database(steps: JobSteps) -> None:
    """The operator's command, and the start that follows it."""
    steps.db.write_blocking(restore.was_restored)
    steps.db.write_blocking(installation.raise_epoch)
    assert steps.db.write_blocking(restore.hold_after_restore) is not None


def reunite(steps: JobSteps, *entries: JournaledAttempt) -> resync.ResyncResult:
    fence = steps.db.write_blocking(restored.last_hello, steps.host_id).restored_fence
    return steps.db.write_blocking(
        resync.resync_host, steps.host_id, JOURNAL, list(entries), 0, fence
    )


def test_held_jobs_are_not_claimed(steps: JobSteps) -> None:
    steps.connect({})
    task_id = steps.task()
    before = steps.create(task_id)
    restore_database(steps)
    after = steps.create(task_id)
    # No session from before the restore gets a job: its journal was not compared.
    assert steps.claim() == []
    steps.connect({})
    assert [item.job.id for item in steps.claim()] == [after.id]
    job = steps.job(before.id)
    assert (job.lifecycle, job.reason, job.ran) == ("onhold", "restored", "maybe")
    assert steps.kinds(before.id) == ["created", "held"]


def test_a_start_without_a_restore_holds_nothing(steps: JobSteps) -> None:
    job = steps.create()
    for _ in range(2):
        assert steps.db.write_blocking(restore.hold_after_restore) is None
    assert steps.status(job.id) == "ready/in_progress"


def test_a_restore_is_settled_once(steps: JobSteps) -> None:
    restore_database(steps)
    steps.create()
    assert steps.db.write_blocking(restore.hold_after_restore) is None


def test_an_attempt_of_before_is_lost_when_the_journal_lacks_it(steps: JobSteps) -> None:
    job = steps.assign()
    restore_database(steps)
    reunite(steps)
    stored_job = steps.job(job.id)
    assert (stored_job.state, stored_job.ran) == ("lost", "maybe")


def test_an_earlier_attempt_continues_if_the_journal_has_it(steps: JobSteps) -> None:
    job = steps.assign()
    restore_database(steps)
    assert reunite(steps, JournaledAttempt(job.fence, "live", job.id)).live == [job.fence]
    steps.end(job.fence)
    assert steps.status(job.id) == "finished/normal"


def test_a_fence_that_only_the_agent_knows_is_bound_to_its_job(steps: JobSteps) -> None:
    job = steps.create()
    fence = steps.db.write_blocking(installation.newest_fence) + 1
    restore_database(steps)
    resync_result = reunite(steps, JournaledAttempt(fence, "live", job.id))
    assert (resync_result.live, resync_result.stop) == ([fence], [])
    assert steps.status(job.id) == "assigned/in_progress"
    steps.end(fence)
    assert steps.status(job.id) == "finished/normal"
    assert steps.kinds(job.id)[:4] == ["created", "held", "released", "assigned"]


def test_a_later_attempt_of_the_agent_replaces_the_one_of_the_backup(steps: JobSteps) -> None:
    job = steps.assign()
    restore_database(steps)
    assert reunite(steps, JournaledAttempt(job.fence + 1, "live", job.id)).live == [job.fence + 1]
    assert [attempt.state for attempt in steps.attempts(job.id)] == ["lost", "live"]
    steps.end(job.fence + 1)
    assert steps.status(job.id) == "finished/normal"


def test_a_script_of_an_unknown_job_is_not_stopped(steps: JobSteps) -> None:
    fence = steps.db.write_blocking(installation.newest_fence) + 1
    restore_database(steps)
    assert reunite(steps, JournaledAttempt(fence, "live", "f" * 24)).stop == []


def test_only_an_admin_releases(steps: JobSteps) -> None:
    steps.connect({})
    job = steps.create()
    restore_database(steps)
    user = msgspec.structs.replace(steps.actors.ada, level=Level.USER)
    with pytest.raises(Forbidden):
        steps.db.write_blocking(hold.release, user, job.id)
    steps.db.write_blocking(hold.release, steps.actors.ada, job.id)
    steps.connect({})
    assert [item.job.id for item in steps.claim()] == [job.id]
    with pytest.raises(Conflict):
        steps.db.write_blocking(hold.release, steps.actors.ada, job.id)


def test_a_held_job_is_resolved_or_cancelled_but_takes_no_input(steps: JobSteps) -> None:
    ran, stale = steps.create(), steps.create()
    restore_database(steps)
    with pytest.raises(Conflict):
        steps.db.write_blocking(actions.give_input, steps.actors.ada, ran.id, [])
    steps.db.write_blocking(
        actions.resolve, steps.actors.ada, ran.id, "success", "seen on the host"
    )
    steps.db.write_blocking(actions.cancel, steps.actors.ada, stale.id)
    assert (steps.status(ran.id), steps.job(ran.id).ran) == ("finished/success", "maybe")
    assert (steps.status(stale.id), steps.job(stale.id).ran) == ("canceled/canceled", "maybe")


# Without the operator's command.


def hello(highest: int, *entries: JournaledAttempt, **more: object) -> Hello:
    body: dict[str, object] = {"greeting": 100, "keeper_id": "keeper-1", **more}
    return Hello("web-1", "0.1.0", "m", JOURNAL, "b", 16, list(entries), highest=highest, **body)  # type: ignore[arg-type]


def check(steps: JobSteps, actual_hello: Hello, host_id: str = "") -> int:
    host_id = host_id or steps.host_id

    def work(tx: Tx) -> int:
        before = restored.last_hello(tx, host_id)
        attempts = live_attempts(tx, host_id)
        fence = restore.check_hello(tx, host_id, actual_hello, before, attempts)
        if fence:
            restore.hold_for_host(tx, host_id, fence)
        return fence

    return steps.db.write_blocking(work)


def test_a_fence_that_was_never_issued_reveals_a_restore(steps: JobSteps) -> None:
    job = steps.create()
    newest = steps.db.write_blocking(installation.newest_fence)
    assert check(steps, hello(newest + 5)) == newest + 5
    assert steps.status(job.id) == "onhold/in_progress"
    raised = steps.db.write_blocking(installation.newest_fence)
    assert installation.epoch_of(raised) == installation.epoch_of(newest) + 1
    # The next start does not count as another restore.
    assert steps.db.write_blocking(restore.hold_after_restore) is None


def test_a_fence_that_another_host_got_shows_a_restore(steps: JobSteps) -> None:
    """The host had accepted nothing before the backup, and its fence was assigned again before it
    reconnected."""
    other = steps.host("web-2")
    fence = steps.assign().fence
    assert check(steps, hello(fence), other) == fence


def test_a_host_whose_fences_are_known_has_accepted_no_other_fence(steps: JobSteps) -> None:
    """The attempt that used the fence again was deleted from the history."""
    other, job = steps.host("web-2"), steps.assign()
    steps.end(job.fence)
    steps.db.write_blocking(retention.delete_jobs, [job.id])
    steps.db.write_blocking(_set_keeper, other)
    assert check(steps, hello(job.fence), other) == job.fence


def _set_keeper(tx: Tx, host_id: str) -> None:
    tx.execute("update hosts set keeper_id = 'keeper-1' where id = ?", host_id)


def test_a_fence_whose_end_is_known_shows_nothing(steps: JobSteps) -> None:
    job = steps.assign()
    steps.end(job.fence)
    assert check(steps, hello(job.fence)) == 0


def test_an_agent_cannot_use_up_the_epochs(steps: JobSteps) -> None:
    newest = steps.db.write_blocking(installation.newest_fence)
    with pytest.raises(Conflict, match="mark-restored"):
        check(steps, hello(newest + (1 << 60)))
    check(steps, hello(newest + 1))
    raised = steps.db.write_blocking(installation.newest_fence)
    with pytest.raises(Conflict, match="10 minutes"):
        check(steps, hello(raised + 1))
    steps.clock.move(restore.MIN_RAISE_INTERVAL)
    assert check(steps, hello(raised + 1)) == raised + 1


def test_a_skipped_fence_shows_a_restore_after_another_host_has_raised_the_epoch(
    steps: JobSteps,
) -> None:
    """The row of the second host was written by an earlier version, which did not count."""
    other, newest = steps.host("web-2"), steps.db.write_blocking(installation.newest_fence)
    job = steps.create(steps.task(host_id=other))
    check(steps, hello(newest + 2))
    assert check(steps, hello(newest + 1), other) == newest + 1
    assert steps.status(job.id) == "onhold/in_progress"


def test_skipped_fences_of_every_epoch_are_remembered(steps: JobSteps) -> None:
    def work(tx: Tx) -> list[bool]:
        fences = [installation.newest_fence(tx)]
        fences += [installation.raise_epoch(tx, fence + (3 << 40)) for fence in fences * 2]
        return [installation.was_assigned(tx, fence + more) for fence in fences for more in (0, 1)]

    assert steps.db.write_blocking(work) == [True, False] * 3


def test_a_bounded_number_of_skipped_ranges_is_stored(steps: JobSteps) -> None:
    def work(tx: Tx) -> tuple[int, bool]:
        for _ in range(installation.MAX_SKIPPED_RANGES + 5):
            fence = installation.raise_epoch(tx)
        return len(msgspec.json.decode(installation.read(tx, "skipped_fences") or "")), (
            installation.was_assigned(tx, fence - 1)
        )

    assert steps.db.write_blocking(work) == (installation.MAX_SKIPPED_RANGES, False)


def test_a_deleted_attempt_is_no_sign_of_a_restore(steps: JobSteps) -> None:
    first, job = steps.assign(), steps.assign()
    for item in (first, job):
        steps.end(item.fence)
    steps.db.write_blocking(retention.delete_jobs, [job.id])
    assert check(steps, hello(job.fence)) == 0


# A failover to another PostgreSQL, which lacks the last commits.


def fail_over(steps: JobSteps, actual_hello: Hello) -> int:
    def work(tx: Tx) -> None:
        restored.mark_failover(tx, installation.raise_epoch(tx))

    steps.db.write_blocking(work)
    return check(steps, actual_hello)


def test_jobs_are_held_when_a_failover_lost_a_claim_of_their_host(steps: JobSteps) -> None:
    steps.connect({})
    job = steps.create()
    lost_fence = steps.db.write_blocking(installation.newest_fence) + 1
    assert fail_over(steps, hello(lost_fence)) == lost_fence
    assert steps.status(job.id) == "onhold/in_progress"


def test_nothing_is_held_when_a_failover_lost_nothing(steps: JobSteps) -> None:
    steps.connect({})
    existing_job = steps.assign()
    job = steps.create()
    assert (
        fail_over(
            steps,
            hello(
                existing_job.fence, JournaledAttempt(existing_job.fence, "live", existing_job.id)
            ),
        )
        == 0
    )
    assert steps.status(job.id) == "ready/in_progress"


def test_a_session_from_before_a_failover_gets_no_job(steps: JobSteps) -> None:
    steps.connect({})
    steps.create()
    steps.db.write_blocking(
        restored.mark_failover, steps.db.write_blocking(installation.raise_epoch)
    )
    assert steps.claim() == []


def test_a_timeline_that_changes_is_not_taken_for_a_restored_backup(steps: JobSteps) -> None:
    for timeline in ("00000001", "00000002"):
        steps.db.write_blocking(restore.record_timeline, timeline)
    assert steps.db.write_blocking(restored.last_hello, steps.host_id).is_failover
    assert steps.db.write_blocking(restore.hold_after_restore) is None


def test_a_fence_that_the_journal_has_dropped_shows_a_restore(steps: JobSteps) -> None:
    """A journal drops an attempt after its end was committed; here it is still open."""
    job, other = steps.assign(), steps.create()
    assert check(steps, hello(job.fence)) == job.fence
    assert steps.status(other.id) == "onhold/in_progress"


def test_an_acknowledged_fence_below_a_running_one_shows_a_restore(steps: JobSteps) -> None:
    """Otherwise the job would run again: its start was never reported to this database."""
    job, running, other = steps.assign(), steps.assign(), steps.create()
    entry = JournaledAttempt(running.fence, "live", running.id)
    assert check(steps, hello(running.fence, entry)) == 0
    newest = hello(running.fence, entry, acknowledged=[job.fence])
    assert check(steps, newest) == running.fence
    assert steps.status(other.id) == "onhold/in_progress"


def test_a_fence_that_the_journal_still_holds_shows_nothing(steps: JobSteps) -> None:
    job = steps.assign()
    assert check(steps, hello(job.fence, JournaledAttempt(job.fence, "live", job.id))) == 0


def test_a_script_whose_fence_another_host_got_is_not_stopped(steps: JobSteps) -> None:
    job, other = steps.assign(), steps.host("web-2")
    restore_database(steps)
    fence = steps.db.write_blocking(restored.last_hello, other).restored_fence
    entries = [JournaledAttempt(job.fence, "live", "f" * 24)]
    resync_result = steps.db.write_blocking(
        resync.resync_host, other, "journal-2", entries, 0, fence
    )
    assert resync_result.stop == []


def test_a_job_that_expired_before_its_agent_reconnected_may_have_run(steps: JobSteps) -> None:
    job = steps.create()
    fence = steps.db.write_blocking(installation.newest_fence) + 1
    steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    restore_database(steps)
    reunite(steps, JournaledAttempt(fence, "ended", job.id))
    assert (steps.status(job.id), steps.job(job.id).ran) == ("canceled/canceled", "maybe")


@pytest.mark.parametrize("decision", ["cancel", "resolve"])
def test_a_script_is_stopped_if_a_person_ended_its_job_before_the_agent_connected(
    steps: JobSteps, decision: str
) -> None:
    job = steps.create()
    fence = steps.db.write_blocking(installation.newest_fence) + 1
    restore_database(steps)
    if decision == "cancel":
        steps.db.write_blocking(actions.cancel, steps.actors.ada, job.id)
    else:
        steps.db.write_blocking(actions.resolve, steps.actors.ada, job.id, "success", "")
    for _ in range(2):
        assert reunite(steps, JournaledAttempt(fence, "live", job.id)).stop == [fence]
    assert steps.job(job.id).ran == "maybe"


def test_a_script_is_not_stopped_if_its_job_expired_before_the_agent_connected(
    steps: JobSteps,
) -> None:
    job = steps.create()
    fence = steps.db.write_blocking(installation.newest_fence) + 1
    restore_database(steps)
    steps.db.write_blocking(_expire, job.id)
    assert reunite(steps, JournaledAttempt(fence, "live", job.id)).stop == []


def _expire(tx: Tx, job_id: str) -> None:
    [job] = store.lock_many(tx, [job_id]).values()
    end_waiting(job, "expired", tx.now)
    store.save(tx, [job])
