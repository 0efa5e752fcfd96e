"""Handing ready jobs to the agent of their host."""

from belvedere.db import Tx
from belvedere.hosts import service as host_service
from belvedere.hosts.service import HostChange
from belvedere.jobs.attempts import reserve_fences
from belvedere.jobs.history import retention
from belvedere.jobs.lifecycle import claim
from jobs.job_steps import Workshop


def test_it_works(shop: Workshop) -> None:
    job = shop.create(shop.task(timeout=7_000))
    shop.connect()
    shop.clock.move(3)
    [claimed] = shop.claim()
    found = shop.job(job.id)
    names = found.__struct_fields__
    assert all(getattr(found, name) == getattr(claimed.job, name) for name in names)
    assert (found.lifecycle, found.state, found.version, found.attempts) == (
        "assigned",
        "in_progress",
        2,
        1,
    )
    assert found.assigned_at == shop.clock.now
    assert found.deadline_at == shop.clock.now + 7_000 + 5_000
    [attempt] = shop.attempts(job.id)
    assert (attempt.fence, attempt.number, attempt.state) == (found.fence, 1, "live")
    assert (attempt.session, attempt.journal_id) == (shop.session, "journal-1")
    assert shop.kinds(job.id) == ["created", "assigned"]
    assert (claimed.arguments, claimed.spec.timeout, claimed.customer_name) == ("[]", 7_000, "acme")


def test_fences_grow_for_ever(shop: Workshop) -> None:
    task_id = shop.task()
    shop.connect()
    fences = [shop.assigned(task_id).fence for _ in range(3)]
    assert fences == sorted(set(fences))
    assert all(fence >> 40 == 1 for fence in fences)


def test_no_fence_comes_twice_when_attempts_are_forgotten(shop: Workshop) -> None:
    jobs = [shop.assigned() for _ in range(3)]
    for job in reversed(jobs):
        shop.end(job.fence)
        shop.db.write_blocking(retention.delete_jobs, [job.id])
    later = shop.assigned()
    assert later.fence > jobs[-1].fence
    shop.end(later.fence)
    shop.db.write_blocking(retention.delete_jobs, [later.id])
    assert shop.assigned().fence > later.fence


def test_who_raises_the_epoch_gets_fences_beyond_it(shop: Workshop) -> None:
    """As docs/howto/back-up.md says."""
    before = shop.assigned().fence
    shop.db.write_blocking(lambda tx: tx.rows(RAISED[tx.dialect.name]))
    raised = shop.assigned().fence
    assert raised == ((before >> 40) + 1 << 40) + 1
    assert shop.assigned().fence == raised + 1


RAISED = {
    "sqlite": "update counters set value = ((value >> 40) + 1) << 40 where name = 'fence'",
    "postgres": "select setval('fence', ((last_value >> 40) + 1) << 40) from fence",
}


def test_what_is_reserved_and_not_written_is_not_reserved_again(shop: Workshop) -> None:
    def reserve(tx: Tx) -> list[int]:
        return [*reserve_fences(tx, 2), *reserve_fences(tx, 1)]

    first = shop.assigned().fence
    assert shop.db.write_blocking(reserve) == [first + 1, first + 2, first + 3]


def test_the_oldest_come_first(shop: Workshop) -> None:
    task_id = shop.task()
    ids = [shop.create(task_id).id for _ in range(5)]
    shop.connect(slots=3)
    assert [claimed.job.id for claimed in shop.claim()] == ids[:3]


def test_it_never_fills_more_than_the_slots(shop: Workshop) -> None:
    task_id = shop.task()
    for _ in range(5):
        shop.create(task_id)
    shop.connect(slots=2)
    first, _ = shop.claim()
    assert shop.claim() == []
    shop.end(first.job.fence)
    assert len(shop.claim()) == 1


def test_a_host_without_slots_gets_nothing(shop: Workshop) -> None:
    shop.create()
    shop.connect(slots=0)
    assert shop.claim() == []


# Who may claim.


def test_an_older_session_gets_nothing(shop: Workshop) -> None:
    shop.create()
    shop.connect()
    old = shop.session
    shop.connect()
    assert shop.db.write_blocking(claim.claim, shop.host_id, old) == []
    assert shop.db.write_blocking(claim.claim, shop.host_id, shop.session + 1) == []
    assert len(shop.claim()) == 1


def test_a_host_that_never_connected_gets_nothing(shop: Workshop) -> None:
    shop.create()
    assert shop.db.write_blocking(claim.claim, shop.host_id, 1) == []
    assert shop.db.write_blocking(claim.claim, "0" * 24, 0) == []


def test_a_host_gets_its_own_jobs_only(shop: Workshop) -> None:
    job = shop.create()
    other = shop.host("web-2")
    shop.connect(host_id=other)
    assert shop.db.write_blocking(claim.claim, other, 1) == []
    assert shop.stands(job.id) == "ready/in_progress"


def test_a_disabled_draining_or_deleted_host_gets_nothing(shop: Workshop) -> None:
    shop.create()
    shop.connect()
    ada = shop.actors.ada
    for change, back in (
        (HostChange(enable=False), HostChange(enable=True)),
        (HostChange(draining=True), HostChange(draining=False)),
    ):
        shop.db.write_blocking(host_service.change, ada, shop.host_id, change)
        assert shop.claim() == []
        shop.db.write_blocking(host_service.change, ada, shop.host_id, back)
    shop.db.write_blocking(host_service.delete, ada, shop.host_id)
    assert shop.claim() == []


def test_a_disabled_organization_runs_nothing(shop: Workshop) -> None:
    shop.create()
    shop.connect()
    shop.db.write_blocking(
        lambda tx: tx.execute("update customers set enabled = 0 where id = ?", shop.actors.acme.id)
    )
    assert shop.claim() == []


# What may be claimed.


def test_what_is_on_hold_syncing_or_over_stays(shop: Workshop) -> None:
    task_id = shop.task()
    shop.create(task_id, lifecycle="onhold")
    shop.create(task_id, lifecycle="syncing")
    shop.connect()
    assert shop.claim() == []


def test_a_retry_waits_for_its_time(shop: Workshop) -> None:
    task_id = shop.task(retry={"times": 1, "delay": 10_000})
    job = shop.assigned(task_id)
    shop.end(job.fence, code=1)
    assert shop.claim() == []
    shop.clock.move(9.999)
    assert shop.claim() == []
    shop.clock.move(0.001)
    assert [claimed.job.id for claimed in shop.claim()] == [job.id]


def test_concurrency_counts_what_runs(shop: Workshop) -> None:
    task_id = shop.task(concurrency=2)
    for _ in range(4):
        shop.create(task_id)
    shop.connect()
    first, _ = shop.claim()
    assert shop.claim() == []
    shop.end(first.job.fence)
    assert len(shop.claim()) == 1


def test_a_task_at_its_limit_holds_up_no_other(shop: Workshop) -> None:
    narrow, wide = shop.task(name="narrow", concurrency=1), shop.task(name="wide")
    for _ in range(claim.LOOKAHEAD + 20):
        shop.create(narrow)
    last = shop.create(wide)
    shop.connect(slots=2)
    [first, second] = shop.claim()
    assert (first.job.task_id, second.job.id) == (narrow, last.id)
    assert shop.claim() == []


def test_limits_of_tasks_do_not_mix(shop: Workshop) -> None:
    tasks = [shop.task(name=name, concurrency=1) for name in ("a", "b")]
    for task_id in tasks * 2:
        shop.create(task_id)
    shop.connect()
    assert sorted(str(claimed.job.task_id) for claimed in shop.claim()) == sorted(tasks)


def test_it_returns_which_hosts_have_jobs(shop: Workshop) -> None:
    def waiting(tx: Tx) -> list[str]:
        return claim.hosts_with_ready_jobs(tx)

    assert shop.db.write_blocking(waiting) == []
    job = shop.create()
    assert shop.db.write_blocking(waiting) == [shop.host_id]
    shop.connect()
    shop.claim()
    assert shop.db.write_blocking(waiting) == []
    assert shop.job(job.id).lifecycle == "assigned"
