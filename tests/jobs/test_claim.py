"""Assigning ready jobs to the agent of their host."""

from belvedere.db import Tx
from belvedere.hosts import service as host_service
from belvedere.hosts.service import HostChange
from belvedere.jobs.attempts import reserve_fences
from belvedere.jobs.history import retention
from belvedere.jobs.lifecycle import claim
from jobs.job_steps import JobSteps


def test_a_ready_job_is_claimed(steps: JobSteps) -> None:
    job = steps.create(steps.task(timeout=7_000))
    steps.connect()
    steps.clock.move(3)
    [claimed] = steps.claim()
    stored_job = steps.job(job.id)
    names = stored_job.__struct_fields__
    assert all(getattr(stored_job, name) == getattr(claimed.job, name) for name in names)
    assert (stored_job.lifecycle, stored_job.state, stored_job.version, stored_job.attempts) == (
        "assigned",
        "in_progress",
        2,
        1,
    )
    assert stored_job.assigned_at == steps.clock.now
    assert stored_job.deadline_at == steps.clock.now + 7_000 + 5_000
    [attempt] = steps.attempts(job.id)
    assert (attempt.fence, attempt.number, attempt.state) == (stored_job.fence, 1, "live")
    assert (attempt.session, attempt.journal_id) == (steps.session, "journal-1")
    assert steps.kinds(job.id) == ["created", "assigned"]
    assert (claimed.arguments, claimed.spec.timeout, claimed.customer_name) == ("[]", 7_000, "acme")


def test_fences_only_increase(steps: JobSteps) -> None:
    task_id = steps.task()
    steps.connect()
    fences = [steps.assign(task_id).fence for _ in range(3)]
    assert fences == sorted(set(fences))
    assert all(fence >> 40 == 1 for fence in fences)


def test_no_fence_is_used_twice_after_attempts_are_deleted(steps: JobSteps) -> None:
    jobs = [steps.assign() for _ in range(3)]
    for job in reversed(jobs):
        steps.end(job.fence)
        steps.db.write_blocking(retention.delete_jobs, [job.id])
    later = steps.assign()
    assert later.fence > jobs[-1].fence
    steps.end(later.fence)
    steps.db.write_blocking(retention.delete_jobs, [later.id])
    assert steps.assign().fence > later.fence


def test_raising_the_epoch_raises_all_fences(steps: JobSteps) -> None:
    """As docs/howto/back-up.md says."""
    before = steps.assign().fence
    steps.db.write_blocking(lambda tx: tx.rows(RAISED[tx.dialect.name]))
    raised = steps.assign().fence
    assert raised == ((before >> 40) + 1 << 40) + 1
    assert steps.assign().fence == raised + 1


RAISED = {
    "sqlite": "update counters set value = ((value >> 40) + 1) << 40 where name = 'fence'",
    "postgres": "select setval('fence', ((last_value >> 40) + 1) << 40) from fence",
}


def test_reserved_fences_are_not_reserved_again(steps: JobSteps) -> None:
    def reserve(tx: Tx) -> list[int]:
        return [*reserve_fences(tx, 2), *reserve_fences(tx, 1)]

    first = steps.assign().fence
    assert steps.db.write_blocking(reserve) == [first + 1, first + 2, first + 3]


def test_the_oldest_jobs_come_first(steps: JobSteps) -> None:
    task_id = steps.task()
    ids = [steps.create(task_id).id for _ in range(5)]
    steps.connect(slots=3)
    assert [claimed.job.id for claimed in steps.claim()] == ids[:3]


def test_a_claim_never_exceeds_the_slots(steps: JobSteps) -> None:
    task_id = steps.task()
    for _ in range(5):
        steps.create(task_id)
    steps.connect(slots=2)
    first, _ = steps.claim()
    assert steps.claim() == []
    steps.end(first.job.fence)
    assert len(steps.claim()) == 1


def test_a_host_without_slots_gets_nothing(steps: JobSteps) -> None:
    steps.create()
    steps.connect(slots=0)
    assert steps.claim() == []


# Who may claim.


def test_an_older_session_gets_nothing(steps: JobSteps) -> None:
    steps.create()
    steps.connect()
    old = steps.session
    steps.connect()
    assert steps.db.write_blocking(claim.claim, steps.host_id, old) == []
    assert steps.db.write_blocking(claim.claim, steps.host_id, steps.session + 1) == []
    assert len(steps.claim()) == 1


def test_a_host_that_never_connected_gets_nothing(steps: JobSteps) -> None:
    steps.create()
    assert steps.db.write_blocking(claim.claim, steps.host_id, 1) == []
    assert steps.db.write_blocking(claim.claim, "0" * 24, 0) == []


def test_a_host_gets_its_own_jobs_only(steps: JobSteps) -> None:
    job = steps.create()
    other = steps.host("web-2")
    steps.connect(host_id=other)
    assert steps.db.write_blocking(claim.claim, other, 1) == []
    assert steps.status(job.id) == "ready/in_progress"


def test_a_disabled_draining_or_deleted_host_gets_nothing(steps: JobSteps) -> None:
    steps.create()
    steps.connect()
    ada = steps.actors.ada
    for change, back in (
        (HostChange(enable=False), HostChange(enable=True)),
        (HostChange(draining=True), HostChange(draining=False)),
    ):
        steps.db.write_blocking(host_service.change, ada, steps.host_id, change)
        assert steps.claim() == []
        steps.db.write_blocking(host_service.change, ada, steps.host_id, back)
    steps.db.write_blocking(host_service.delete, ada, steps.host_id)
    assert steps.claim() == []


def test_a_disabled_organization_runs_nothing(steps: JobSteps) -> None:
    steps.create()
    steps.connect()
    steps.db.write_blocking(
        lambda tx: tx.execute("update customers set enabled = 0 where id = ?", steps.actors.acme.id)
    )
    assert steps.claim() == []


# Which jobs may be claimed.


def test_jobs_on_hold_syncing_or_ended_are_not_claimed(steps: JobSteps) -> None:
    task_id = steps.task()
    steps.create(task_id, lifecycle="onhold")
    steps.create(task_id, lifecycle="syncing")
    steps.connect()
    assert steps.claim() == []


def test_a_retry_waits_for_its_time(steps: JobSteps) -> None:
    task_id = steps.task(retry={"times": 1, "delay": 10_000})
    job = steps.assign(task_id)
    steps.end(job.fence, code=1)
    assert steps.claim() == []
    steps.clock.move(9.999)
    assert steps.claim() == []
    steps.clock.move(0.001)
    assert [claimed.job.id for claimed in steps.claim()] == [job.id]


def test_concurrency_counts_running_jobs(steps: JobSteps) -> None:
    task_id = steps.task(concurrency=2)
    for _ in range(4):
        steps.create(task_id)
    steps.connect()
    first, _ = steps.claim()
    assert steps.claim() == []
    steps.end(first.job.fence)
    assert len(steps.claim()) == 1


def test_a_task_at_its_limit_holds_up_no_other(steps: JobSteps) -> None:
    narrow, wide = steps.task(name="narrow", concurrency=1), steps.task(name="wide")
    for _ in range(claim.LOOKAHEAD + 20):
        steps.create(narrow)
    last = steps.create(wide)
    steps.connect(slots=2)
    [first, second] = steps.claim()
    assert (first.job.task_id, second.job.id) == (narrow, last.id)
    assert steps.claim() == []


def test_limits_of_tasks_do_not_mix(steps: JobSteps) -> None:
    tasks = [steps.task(name=name, concurrency=1) for name in ("a", "b")]
    for task_id in tasks * 2:
        steps.create(task_id)
    steps.connect()
    assert sorted(str(claimed.job.task_id) for claimed in steps.claim()) == sorted(tasks)


def test_hosts_with_ready_jobs_are_returned(steps: JobSteps) -> None:
    def waiting(tx: Tx) -> list[str]:
        return claim.hosts_with_ready_jobs(tx)

    assert steps.db.write_blocking(waiting) == []
    job = steps.create()
    assert steps.db.write_blocking(waiting) == [steps.host_id]
    steps.connect()
    steps.claim()
    assert steps.db.write_blocking(waiting) == []
    assert steps.job(job.id).lifecycle == "assigned"
