"""A claim reads the oldest ready jobs of its host along their index, however many are ready; what
runs every second, or for an agent's download, does not read them all either."""

import pytest

from belvedere.bench.measure import history_data
from belvedere.bench.measure.fixture import Fixture
from belvedere.db import Tx
from belvedere.jobs import specs
from belvedere.jobs.lifecycle import claim
from belvedere.jobs.lifecycle.create import JobRequest, create
from belvedere.jobs.queries import details
from jobs.job_steps import Workshop
from statements import RecordingTx, Statement, cost, plan

SLOTS, FEW, MANY, HISTORY = 4, 20, 400, 2_000


@pytest.fixture
def busy(shop: Workshop) -> Workshop:
    """A host with a history, running jobs and a few ready jobs, also of a task with a limit."""
    task_id = shop.task(name="limited", concurrency=2)
    shop.connect(slots=SLOTS)
    job = shop.assigned(task_id)
    shop.end(job.fence)
    history = Fixture(shop.actors.ada, shop.host_id, shop.session, task_id)
    shop.db.write_blocking(history_data.fill, history, 0, HISTORY, HISTORY)
    shop.assigned(task_id)
    add_ready(shop, FEW)
    shop.create(task_id)
    return shop


def add_ready(shop: Workshop, count: int, task_id: str = "") -> None:
    task_id = task_id or shop.task(name=f"greet {count}")
    requests = [JobRequest(shop.actors.ada, task_id, []) for _ in range(count)]
    assert all(not isinstance(job, Exception) for job in shop.db.write_blocking(create, requests))
    if shop.db.dialect.name == "postgres":
        shop.db.write_blocking(lambda tx: tx.execute("analyze"))


def claim_statements(tx: Tx, shop: Workshop, task_id: str | None) -> list[Statement]:
    """The statements of a claim that read jobs."""
    recording = RecordingTx(tx)
    claim._lock_host(recording, (shop.host_id, task_id))
    recording.pipeline(claim._free_slots_query(tx, shop.host_id))
    return [statement for statement in recording.statements if "from jobs" in statement[0]]


@pytest.mark.parametrize("is_one_task", [False, True])
def test_ready_jobs_are_read_along_their_index(busy: Workshop, is_one_task: bool) -> None:
    task_id = busy.task(name="other") if is_one_task else None
    plans = busy.db.write_blocking(
        lambda tx: [plan(tx, statement) for statement in claim_statements(tx, busy, task_id)]
    )
    assert len(plans) == 5
    for lines in plans:
        steps = "\n".join(lines)
        assert "jobs_ready" in steps, steps
        assert "Seq Scan on jobs" not in steps and "SCAN jobs" not in steps, steps
        # Only the heads of the queues are sorted.
        assert steps.count("FOR ORDER BY") + steps.count("Sort Key: jobs.") <= 1, steps


def test_assigned_jobs_are_counted_along_their_index(busy: Workshop) -> None:
    [_, unlimited, _, limited, _] = busy.db.write_blocking(claim_statements, busy, None)
    for statement, count in ((unlimited, 1), (limited, 2)):
        lines = busy.db.write_blocking(plan, statement)
        assert sum("jobs_assigned" in line for line in lines) == count, "\n".join(lines)


def test_a_claim_costs_the_same_with_many_ready_jobs(busy: Workshop) -> None:
    def costs(tx: Tx) -> list[int]:
        return [cost(tx, statement) for statement in claim_statements(tx, busy, None)]

    few = busy.db.write_blocking(costs)
    add_ready(busy, MANY)
    many = busy.db.write_blocking(costs)
    assert all(0 < after < 2 * before for before, after in zip(few, many, strict=True)), (few, many)


@pytest.fixture
def limited(shop: Workshop) -> str:
    """A task that runs one job at a time, and runs one."""
    task_id = shop.task(name="one at a time", concurrency=1)
    shop.connect(slots=SLOTS)
    shop.assigned(task_id)
    return task_id


def test_a_claim_does_not_read_past_the_jobs_of_a_task_at_its_limit(
    shop: Workshop, limited: str
) -> None:
    def measure(tx: Tx) -> int:
        return sum(cost(tx, statement) for statement in claim_statements(tx, shop, None))

    add_ready(shop, FEW, limited)
    behind = shop.create(shop.task(name="behind them"))
    few = shop.db.write_blocking(measure)
    add_ready(shop, MANY, limited)
    assert 0 < shop.db.write_blocking(measure) < 1.2 * few
    assert [order.job.id for order in shop.claim()] == [behind.id]


def test_a_claim_takes_the_oldest_of_all_queues(shop: Workshop) -> None:
    limits = (None, 2, 1)
    tasks = [shop.task(name=f"limit {limit}", concurrency=limit) for limit in limits]
    jobs = [shop.create(task_id) for _ in range(3) for task_id in tasks]
    shop.connect(slots=SLOTS)
    first = [order.job for order in shop.claim()]
    assert [job.id for job in first] == [job.id for job in jobs[:SLOTS]]
    shop.connect({job.fence: "live" for job in first}, slots=2 * SLOTS)
    # The others would exceed the limit of their task.
    assert [order.job.id for order in shop.claim()] == [jobs[4].id, jobs[6].id]


def test_jobs_ahead_in_all_queues_are_counted(shop: Workshop, limited: str) -> None:
    add_ready(shop, 3, limited)
    add_ready(shop, 2)
    last = shop.create(limited)
    detail = shop.db.write_blocking(details.show, shop.actors.ada, last.id).waiting_detail
    assert isinstance(detail, dict)
    assert detail["ahead"] == 5


def test_finding_hosts_with_ready_jobs_costs_the_same_with_many(busy: Workshop) -> None:
    other = busy.host("web-2")
    busy.create(busy.task(name="elsewhere", host_id=other))

    def measure(tx: Tx) -> int:
        recording = RecordingTx(tx)
        assert claim.hosts_with_ready_jobs(recording) == sorted([busy.host_id, other])
        [statement] = recording.statements
        return cost(tx, statement)

    few = busy.db.write_blocking(measure)
    add_ready(busy, MANY)
    assert 0 < busy.db.write_blocking(measure) < 2 * few


def test_hosts_whose_jobs_may_not_start_yet_are_not_found(shop: Workshop) -> None:
    task_id = shop.task(retry={"times": 1, "delay": 10_000})
    shop.connect()
    shop.end(shop.assigned(task_id).fence, code=1)
    assert shop.db.write_blocking(claim.hosts_with_ready_jobs) == []
    # A job behind the delayed one may start.
    shop.create()
    assert shop.db.write_blocking(claim.hosts_with_ready_jobs) == [shop.host_id]


def test_a_download_reads_only_the_front_of_the_queue(
    busy: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that no task uses any more; a hostile agent may ask for others all day."""
    monkeypatch.setattr(specs, "MAX_READY_JOBS", FEW)

    def measure(tx: Tx) -> int:
        recording = RecordingTx(tx)
        assert not specs.needs_file(recording, busy.host_id, "a file of nobody")
        [statement] = recording.statements
        return cost(tx, statement)

    few = busy.db.write_blocking(measure)
    add_ready(busy, MANY)
    assert 0 < busy.db.write_blocking(measure) < 2 * few


def test_an_agent_may_download_the_script_of_the_next_job(shop: Workshop) -> None:
    task_id = shop.task()
    shop.create(task_id)
    file_id = str(shop.db.write_blocking(lambda tx: tx.value("select script_id from jobs")))
    shop.db.write_blocking(lambda tx: tx.execute("update tasks set script_id = null"))
    assert shop.db.write_blocking(specs.needs_file, shop.host_id, file_id)
    assert not shop.db.write_blocking(specs.needs_file, shop.host("web-3"), file_id)
