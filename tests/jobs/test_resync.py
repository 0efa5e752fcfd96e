"""What a returning agent's journal proves about the jobs of its host."""

import run_timeouts
from belvedere.base.clock import DAY
from belvedere.jobs.lifecycle import actions, claim, timeouts
from belvedere.jobs.recovery import resync
from belvedere.protocol import JournaledAttempt
from jobs.job_steps import JOURNAL, Workshop


def test_it_works(shop: Workshop) -> None:
    task_id = shop.task()
    held, never = shop.assigned(task_id), shop.assigned(task_id)
    told = shop.connect({held.fence: "live"})
    assert (told.live, told.stop, told.cancel) == ([held.fence], [], [])
    assert shop.stands(held.id) == "assigned/in_progress"
    assert shop.stands(never.id) == "ready/in_progress"


# Never accepted.


def test_an_order_that_was_never_accepted_goes_back(shop: Workshop) -> None:
    job = shop.assigned()
    shop.connect({})
    found = shop.job(job.id)
    assert (found.lifecycle, found.ran, found.attempts) == ("ready", "no", 0)
    assert (found.assigned_at, found.deadline_at) == (None, None)
    assert [attempt.state for attempt in shop.attempts(job.id)] == ["returned"]
    assert shop.kinds(job.id) == ["created", "assigned", "returned"]
    [again] = shop.claim()
    assert (again.job.id, again.job.attempts) == (job.id, 1)
    assert again.job.fence > job.fence


# Rolled back: the journal knows less than it did.


def test_a_started_job_is_never_assigned_again(shop: Workshop) -> None:
    """Whatever the journal lacks: the agent itself has reported that the script runs."""
    job = shop.assigned()
    shop.started(job.fence)
    shop.connect({})
    found = shop.job(job.id)
    assert (found.state, found.ran, found.reason) == ("lost", "maybe", "journal_lost")
    assert shop.claim() == []


def test_a_late_report_replaces_the_unknown_outcome(shop: Workshop) -> None:
    job = shop.assigned()
    shop.started(job.fence)
    shop.connect({})
    shop.end(job.fence)
    assert shop.stands(job.id) == "finished/normal"


def test_a_journal_in_doubt_proves_nothing_of_what_was_claimed_before(shop: Workshop) -> None:
    task_id = shop.task()
    before = shop.assigned(task_id)
    until = shop.clock()
    shop.clock.move(1)
    after = shop.assigned(task_id)
    shop.db.write_blocking(resync.resync_host, shop.host_id, JOURNAL, [], until)
    assert [shop.job(job.id).state for job in (before, after)] == ["lost", "in_progress"]
    assert shop.job(after.id).lifecycle == "ready"


def test_a_journal_in_doubt_does_not_prove_that_a_lost_job_never_ran(shop: Workshop) -> None:
    job = shop.assigned()
    _lose_all(shop)
    shop.db.write_blocking(resync.resync_host, shop.host_id, JOURNAL, [], shop.clock())
    assert shop.job(job.id).ran == "maybe"


def test_after_a_failover_what_the_agent_may_have_reported_is_unknown(shop: Workshop) -> None:
    """The agent forgets an attempt once its report was taken; the database has lost the report."""
    task_id = shop.task()
    reported, never = shop.assigned(task_id), shop.assigned(task_id)
    shop.db.write_blocking(resync.resync_host, shop.host_id, JOURNAL, [], 0, reported.fence)
    assert [shop.job(job.id).state for job in (reported, never)] == ["lost", "in_progress"]
    assert shop.job(never.id).lifecycle == "ready"


def _lose_all(shop: Workshop) -> None:
    shop.clock.move(DAY)
    assert run_timeouts.lose_overdue(shop.db) > 0


def test_a_lost_one_that_was_never_accepted_did_not_run(shop: Workshop) -> None:
    """It is over and stays so; but whoever looks knows that it can be run again."""
    task_id = shop.task()
    job, held, started = (shop.assigned(task_id) for _ in range(3))
    shop.started(started.fence)
    _lose_all(shop)
    assert [shop.job(item.id).ran for item in (job, held, started)] == ["maybe"] * 3
    before = shop.job(job.id).version
    shop.connect({held.fence: "live"})
    found = shop.job(job.id)
    assert (found.state, found.ran, found.reason) == ("lost", "no", "agent_unreachable")
    assert found.version == before + 1 and shop.kinds(job.id)[-1] == "reachable"
    assert [shop.job(item.id).ran for item in (held, started)] == ["maybe"] * 2
    shop.connect({held.fence: "live"})
    assert shop.job(job.id).version == before + 1


def test_a_journal_whose_entry_was_acknowledged_proves_nothing(shop: Workshop) -> None:
    """Its keeper died under it; told and taken, it left the journal."""
    early, late = shop.assigned(), shop.assigned()
    shop.end(early.fence, ending="unknown", reason="keeper_lost")
    _lose_all(shop)
    shop.connect({late.fence: "ended"})
    shop.end(late.fence, ending="unknown", reason="keeper_lost")
    shop.connect({})
    assert [shop.job(item.id).ran for item in (early, late)] == ["maybe", "maybe"]


def test_another_journal_proves_nothing_of_a_lost_one(shop: Workshop) -> None:
    job = shop.assigned()
    _lose_all(shop)
    shop.connect({}, journal="another")
    assert (shop.job(job.id).ran, shop.job(job.id).reason) == ("maybe", "agent_unreachable")


def test_an_earlier_attempt_may_have_run(shop: Workshop) -> None:
    job = shop.assigned(shop.task(retry={"times": 1}))
    shop.end(job.fence, code=1)
    shop.claim()
    _lose_all(shop)
    shop.connect({})
    assert shop.job(job.id).ran == "yes"


def test_it_uses_up_no_retry(shop: Workshop) -> None:
    job = shop.assigned(shop.task(retry={"times": 1}))
    for _ in range(5):
        shop.connect({})
        shop.claim()
    shop.end(shop.job(job.id).fence, code=1)
    assert shop.stands(job.id) == "ready/in_progress"


def test_it_hides_no_attempt_that_ran_before(shop: Workshop) -> None:
    job = shop.assigned(shop.task(retry={"times": 1}))
    shop.end(job.fence, code=1)
    shop.claim()
    shop.connect({})
    assert (shop.stands(job.id), shop.job(job.id).ran) == ("ready/in_progress", "yes")
    shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id)
    assert shop.job(job.id).ran == "yes"


def test_an_unaccepted_job_to_be_cancelled_is_cancelled(shop: Workshop) -> None:
    job = shop.assigned()
    shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id)
    shop.connect({})
    found = shop.job(job.id)
    assert (found.lifecycle, found.state, found.ran) == ("canceled", "canceled", "no")
    assert found.ended_at == shop.clock.now
    assert shop.kinds(job.id)[-1] == "canceled"


# Still held.


def test_a_live_one_is_reachable_again(shop: Workshop) -> None:
    job = shop.assigned()
    shop.clock.move(31)
    run_timeouts.mark_silent(shop.db)
    shop.db.write_blocking(timeouts.mark_unreachable)
    assert shop.job(job.id).unreachable_at is not None
    shop.connect({job.fence: "live"})
    assert shop.job(job.id).unreachable_at is None
    assert shop.kinds(job.id)[-2:] == ["unreachable", "reachable"]


def test_a_running_job_to_be_cancelled_is_listed(shop: Workshop) -> None:
    job = shop.assigned()
    shop.db.write_blocking(actions.cancel, shop.actors.ada, job.id)
    assert shop.connect({job.fence: "live"}).cancel == [job.fence]
    assert shop.stands(job.id) == "assigned/in_progress"


def test_one_that_ended_waits_for_its_report(shop: Workshop) -> None:
    job = shop.assigned()
    told = shop.connect({job.fence: "ended"})
    assert (told.live, told.stop) == ([job.fence], [])
    shop.end(job.fence, code=0)
    assert shop.stands(job.id) == "finished/normal"


# Another journal proves nothing.


def test_a_lost_journal_leaves_the_job_lost(shop: Workshop) -> None:
    job = shop.assigned()
    shop.connect({}, journal="another")
    found = shop.job(job.id)
    assert (found.lifecycle, found.state, found.reason) == ("terminated", "lost", "journal_lost")
    assert found.ran == "maybe"


def test_a_damaged_journal_still_proves_its_entries(shop: Workshop) -> None:
    job = shop.assigned()
    assert shop.connect({job.fence: "live"}, journal="another").live == [job.fence]
    assert shop.stands(job.id) == "assigned/in_progress"


def test_with_on_lost_a_lost_journal_means_another_attempt(shop: Workshop) -> None:
    job = shop.assigned(shop.task(retry={"times": 1, "on_lost": True}))
    shop.connect({}, journal="another")
    assert (shop.stands(job.id), shop.job(job.id).ran) == ("ready/in_progress", "maybe")


# What nobody waits for.


def test_what_the_server_never_ordered_is_stopped(shop: Workshop) -> None:
    assert shop.connect({777: "live"}).stop == [777]


def test_a_superseded_attempt_is_stopped(shop: Workshop) -> None:
    job = shop.assigned(shop.task(retry={"times": 1, "on_lost": True}))
    shop.end(job.fence, "unknown")
    [again] = shop.claim()
    told = shop.connect({job.fence: "live", again.job.fence: "live"})
    assert (told.stop, told.live) == ([job.fence], [again.job.fence])


def test_a_lost_one_may_still_come_true(shop: Workshop) -> None:
    job = shop.lost()
    told = shop.connect({job.fence: "live"})
    assert (told.stop, told.live) == ([], [])
    shop.end(job.fence)
    assert shop.stands(job.id) == "finished/normal"


def test_an_end_on_its_way_is_not_stopped(shop: Workshop) -> None:
    """Its report is settled like any other, and then forgotten."""
    assert shop.connect({777: "ended"}).stop == []


def test_the_attempts_of_other_hosts_are_left_alone(shop: Workshop) -> None:
    job = shop.assigned()
    other = shop.host("web-2")
    told = shop.connect({job.fence: "live"}, host_id=other)
    assert shop.stands(job.id) == "assigned/in_progress"
    assert told.live == []


def test_it_skips_what_was_settled_while_it_waited(shop: Workshop) -> None:
    """On PostgreSQL an end may commit between the look at the attempts and the lock."""
    job = shop.assigned()

    def late(tx):  # type: ignore[no-untyped-def]
        # The attempt still reads as live, its job is over already.
        tx.execute("update jobs set lifecycle = 'finished', state = 'normal' where id = ?", job.id)
        return resync.resync_host(tx, shop.host_id, "journal-1", [JournaledAttempt(1, "live")])

    told = shop.db.write_blocking(late)
    assert (told.live, told.stop) == ([], [1])
    assert shop.stands(job.id) == "finished/normal"


# The process runs.


def test_a_start_moves_the_deadline(shop: Workshop) -> None:
    job = shop.assigned(shop.task(timeout=20_000))
    shop.clock.move(10)
    shop.started(job.fence, ago_ms=1_500)
    found = shop.job(job.id)
    assert found.started_at == shop.clock.now - 1_500
    assert found.deadline_at == found.started_at + 20_000 + 5_000
    assert shop.attempts(job.id)[0].started_at == found.started_at
    assert shop.kinds(job.id) == ["created", "assigned", "started"]


def test_a_start_counts_once(shop: Workshop) -> None:
    job = shop.assigned()
    shop.started(job.fence)
    before = shop.job(job.id)
    shop.clock.move(5)
    shop.started(job.fence)
    assert shop.job(job.id) == before


def test_a_start_of_anything_else_is_ignored(shop: Workshop) -> None:
    job = shop.assigned()
    shop.started(777)
    other = shop.host("web-2")
    shop.db.write_blocking(resync.record_started, [(other, job.fence, 0)])
    assert shop.job(job.id).started_at is None
    shop.end(job.fence)
    before = shop.job(job.id)
    shop.started(job.fence)
    assert shop.job(job.id) == before


def test_the_next_attempt_starts_from_the_beginning(shop: Workshop) -> None:
    job = shop.assigned(shop.task(retry={"times": 1}))
    shop.started(job.fence)
    shop.end(job.fence, code=1)
    [again] = shop.claim()
    assert again.job.started_at is None
    shop.started(job.fence)
    assert shop.job(job.id).started_at is None
    assert shop.db.write_blocking(claim.cancel_requests) == []
