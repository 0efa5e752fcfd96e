"""Jobs of a database that was restored from a backup."""

import msgspec
import pytest

from belvedere.access.actor import Level
from belvedere.base.errors import Conflict, Forbidden
from belvedere.db import Tx, installation
from belvedere.hosts import restored
from belvedere.jobs.history import retention
from belvedere.jobs.lifecycle import actions
from belvedere.jobs.recovery import hold, restore, resync
from belvedere.protocol import Hello, JournaledAttempt
from jobs.job_steps import JOURNAL, Workshop


def restore_database(shop: Workshop) -> None:
    """The step of the operator, and the start that follows it."""
    shop.db.write_blocking(restore.was_restored)
    shop.db.write_blocking(installation.raise_epoch)
    assert shop.db.write_blocking(restore.hold_after_restore) is not None


def reunite(shop: Workshop, *entries: JournaledAttempt) -> resync.ResyncResult:
    fence = shop.db.write_blocking(restored.last_hello, shop.host_id).restored_fence
    return shop.db.write_blocking(
        resync.resync_host, shop.host_id, JOURNAL, list(entries), 0, fence
    )


def test_held_jobs_are_not_claimed(shop: Workshop) -> None:
    shop.connect({})
    task_id = shop.task()
    before = shop.create(task_id)
    restore_database(shop)
    after = shop.create(task_id)
    assert [item.job.id for item in shop.claim()] == [after.id]
    job = shop.job(before.id)
    assert (job.lifecycle, job.reason, job.ran) == ("onhold", "restored", "maybe")
    assert shop.kinds(before.id) == ["created", "held"]


def test_a_start_without_a_restore_holds_nothing(shop: Workshop) -> None:
    job = shop.create()
    for _ in range(2):
        assert shop.db.write_blocking(restore.hold_after_restore) is None
    assert shop.stands(job.id) == "ready/in_progress"


def test_a_restore_is_settled_once(shop: Workshop) -> None:
    restore_database(shop)
    shop.create()
    assert shop.db.write_blocking(restore.hold_after_restore) is None


def test_an_attempt_of_before_is_lost_when_the_journal_lacks_it(shop: Workshop) -> None:
    job = shop.assigned()
    restore_database(shop)
    reunite(shop)
    found = shop.job(job.id)
    assert (found.state, found.ran) == ("lost", "maybe")


def test_an_attempt_of_before_goes_on_when_the_journal_has_it(shop: Workshop) -> None:
    job = shop.assigned()
    restore_database(shop)
    assert reunite(shop, JournaledAttempt(job.fence, "live", job.id)).live == [job.fence]
    shop.end(job.fence)
    assert shop.stands(job.id) == "finished/normal"


def test_a_fence_that_only_the_agent_knows_is_bound_to_its_job(shop: Workshop) -> None:
    job = shop.create()
    fence = shop.db.write_blocking(installation.newest_fence) + 1
    restore_database(shop)
    told = reunite(shop, JournaledAttempt(fence, "live", job.id))
    assert (told.live, told.stop) == ([fence], [])
    assert shop.stands(job.id) == "assigned/in_progress"
    shop.end(fence)
    assert shop.stands(job.id) == "finished/normal"
    assert shop.kinds(job.id)[:4] == ["created", "held", "released", "assigned"]


def test_a_later_attempt_of_the_agent_replaces_the_one_of_the_backup(shop: Workshop) -> None:
    job = shop.assigned()
    restore_database(shop)
    assert reunite(shop, JournaledAttempt(job.fence + 1, "live", job.id)).live == [job.fence + 1]
    assert [attempt.state for attempt in shop.attempts(job.id)] == ["lost", "live"]
    shop.end(job.fence + 1)
    assert shop.stands(job.id) == "finished/normal"


def test_a_script_of_an_unknown_job_is_not_stopped(shop: Workshop) -> None:
    fence = shop.db.write_blocking(installation.newest_fence) + 1
    restore_database(shop)
    assert reunite(shop, JournaledAttempt(fence, "live", "f" * 24)).stop == []


def test_only_an_admin_releases(shop: Workshop) -> None:
    shop.connect({})
    job = shop.create()
    restore_database(shop)
    user = msgspec.structs.replace(shop.actors.ada, level=Level.USER)
    with pytest.raises(Forbidden):
        shop.db.write_blocking(hold.release, user, job.id)
    shop.db.write_blocking(hold.release, shop.actors.ada, job.id)
    assert [item.job.id for item in shop.claim()] == [job.id]
    with pytest.raises(Conflict):
        shop.db.write_blocking(hold.release, shop.actors.ada, job.id)


def test_a_held_job_is_resolved_or_cancelled_but_takes_no_input(shop: Workshop) -> None:
    ran, stale = shop.create(), shop.create()
    restore_database(shop)
    with pytest.raises(Conflict):
        shop.db.write_blocking(actions.give_input, shop.actors.ada, ran.id, [])
    shop.db.write_blocking(actions.resolve, shop.actors.ada, ran.id, "success", "seen on the host")
    shop.db.write_blocking(actions.cancel, shop.actors.ada, stale.id)
    assert (shop.stands(ran.id), shop.job(ran.id).ran) == ("finished/success", "maybe")
    assert (shop.stands(stale.id), shop.job(stale.id).ran) == ("canceled/canceled", "maybe")


# Without the step of the operator.


def hello(highest: int, *entries: JournaledAttempt, **more: object) -> Hello:
    said: dict[str, object] = {"greeting": 100, "keeper_id": "keeper-1", **more}
    return Hello("web-1", "0.1.0", "m", JOURNAL, "b", 16, list(entries), highest=highest, **said)  # type: ignore[arg-type]


def check(shop: Workshop, said: Hello, host_id: str = "") -> int:
    host_id = host_id or shop.host_id

    def work(tx: Tx) -> int:
        before = restored.last_hello(tx, host_id)
        fence = restore.check_hello(tx, host_id, said, before)
        if fence:
            restore.hold_for_host(tx, host_id, fence)
        return fence

    return shop.db.write_blocking(work)


def test_a_fence_that_was_never_issued_reveals_a_restore(shop: Workshop) -> None:
    job = shop.create()
    newest = shop.db.write_blocking(installation.newest_fence)
    assert check(shop, hello(newest + 5)) == newest + 5
    assert shop.stands(job.id) == "onhold/in_progress"
    raised = shop.db.write_blocking(installation.newest_fence)
    assert installation.epoch_of(raised) == installation.epoch_of(newest) + 1
    # The next start does not take it for another restore.
    assert shop.db.write_blocking(restore.hold_after_restore) is None


def test_a_fence_that_another_host_got_shows_a_restore(shop: Workshop) -> None:
    """The host had accepted nothing before the backup, and its fence was assigned again before it
    reconnected."""
    other = shop.host("web-2")
    fence = shop.assigned().fence
    assert check(shop, hello(fence), other) == fence


def test_a_host_whose_fences_are_counted_has_accepted_no_unknown_one(shop: Workshop) -> None:
    """The attempt that used the fence again was deleted from the history."""
    other, job = shop.host("web-2"), shop.assigned()
    shop.end(job.fence)
    shop.db.write_blocking(retention.delete_jobs, [job.id])
    shop.db.write_blocking(_set_keeper, other)
    assert check(shop, hello(job.fence), other) == job.fence


def _set_keeper(tx: Tx, host_id: str) -> None:
    tx.execute("update hosts set keeper_id = 'keeper-1' where id = ?", host_id)


def test_a_fence_whose_end_is_known_shows_nothing(shop: Workshop) -> None:
    job = shop.assigned()
    shop.end(job.fence)
    assert check(shop, hello(job.fence)) == 0


def test_an_agent_cannot_use_up_the_epochs(shop: Workshop) -> None:
    newest = shop.db.write_blocking(installation.newest_fence)
    with pytest.raises(Conflict, match="mark-restored"):
        check(shop, hello(newest + (1 << 60)))
    check(shop, hello(newest + 1))
    raised = shop.db.write_blocking(installation.newest_fence)
    with pytest.raises(Conflict, match="10 minutes"):
        check(shop, hello(raised + 1))
    shop.clock.move(restore.MIN_RAISE_INTERVAL)
    assert check(shop, hello(raised + 1)) == raised + 1


def test_a_deleted_attempt_is_no_sign_of_a_restore(shop: Workshop) -> None:
    first, job = shop.assigned(), shop.assigned()
    for item in (first, job):
        shop.end(item.fence)
    shop.db.write_blocking(retention.delete_jobs, [job.id])
    assert check(shop, hello(job.fence)) == 0


# A failover to another PostgreSQL, which lacks the last commits.


def fail_over(shop: Workshop, said: Hello) -> int:
    def work(tx: Tx) -> None:
        restored.mark_failover(tx, installation.raise_epoch(tx))

    shop.db.write_blocking(work)
    return check(shop, said)


def test_jobs_are_held_when_a_failover_lost_a_claim_of_their_host(shop: Workshop) -> None:
    shop.connect({})
    job = shop.create()
    lost_fence = shop.db.write_blocking(installation.newest_fence) + 1
    assert fail_over(shop, hello(lost_fence)) == lost_fence
    assert shop.stands(job.id) == "onhold/in_progress"


def test_nothing_is_held_when_a_failover_lost_nothing(shop: Workshop) -> None:
    shop.connect({})
    known = shop.assigned()
    job = shop.create()
    assert fail_over(shop, hello(known.fence, JournaledAttempt(known.fence, "live", known.id))) == 0
    assert shop.stands(job.id) == "ready/in_progress"


def test_a_session_from_before_a_failover_gets_no_job(shop: Workshop) -> None:
    shop.connect({})
    shop.create()
    shop.db.write_blocking(restored.mark_failover, shop.db.write_blocking(installation.raise_epoch))
    assert shop.claim() == []


def test_a_timeline_that_changes_is_not_taken_for_a_restored_backup(shop: Workshop) -> None:
    for timeline in ("00000001", "00000002"):
        shop.db.write_blocking(restore.record_timeline, timeline)
    assert shop.db.write_blocking(restored.last_hello, shop.host_id).is_failover
    assert shop.db.write_blocking(restore.hold_after_restore) is None


def test_a_fence_that_the_journal_has_dropped_shows_a_restore(shop: Workshop) -> None:
    """A journal drops an attempt after its end was committed; here it is still open."""
    job, other = shop.assigned(), shop.create()
    assert check(shop, hello(job.fence)) == job.fence
    assert shop.stands(other.id) == "onhold/in_progress"


def test_a_fence_that_the_journal_still_holds_shows_nothing(shop: Workshop) -> None:
    job = shop.assigned()
    assert check(shop, hello(job.fence, JournaledAttempt(job.fence, "live", job.id))) == 0


def test_a_script_whose_fence_another_host_got_is_not_stopped(shop: Workshop) -> None:
    job, other = shop.assigned(), shop.host("web-2")
    restore_database(shop)
    fence = shop.db.write_blocking(restored.last_hello, other).restored_fence
    entries = [JournaledAttempt(job.fence, "live", "f" * 24)]
    reunion = shop.db.write_blocking(resync.resync_host, other, "journal-2", entries, 0, fence)
    assert reunion.stop == []


def test_a_job_that_expired_before_its_agent_reconnected_may_have_run(shop: Workshop) -> None:
    job = shop.create()
    fence = shop.db.write_blocking(installation.newest_fence) + 1
    shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id)
    restore_database(shop)
    reunite(shop, JournaledAttempt(fence, "ended", job.id))
    assert (shop.stands(job.id), shop.job(job.id).ran) == ("canceled/canceled", "maybe")
