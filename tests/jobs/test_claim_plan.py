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
from jobs.job_steps import JobSteps
from statements import RecordingTx, Statement, cost, plan

SLOTS, FEW, MANY, HISTORY = 4, 20, 400, 2_000


@pytest.fixture
def busy_host(steps: JobSteps) -> JobSteps:
    """A host with a history, running jobs and a few ready jobs, also of a task with a limit."""
    task_id = steps.task(name="limited", concurrency=2)
    steps.connect(slots=SLOTS)
    job = steps.assign(task_id)
    steps.end(job.fence)
    history = Fixture(steps.actors.ada, steps.host_id, steps.session, task_id)
    steps.db.write_blocking(history_data.fill, history, 0, HISTORY, HISTORY)
    steps.assign(task_id)
    add_ready(steps, FEW)
    steps.create(task_id)
    return steps


def add_ready(steps: JobSteps, count: int, task_id: str = "") -> None:
    task_id = task_id or steps.task(name=f"greet {count}")
    requests = [JobRequest(steps.actors.ada, task_id, []) for _ in range(count)]
    assert all(not isinstance(job, Exception) for job in steps.db.write_blocking(create, requests))
    if steps.db.dialect.name == "postgres":
        steps.db.write_blocking(lambda tx: tx.execute("analyze"))


def claim_statements(tx: Tx, steps: JobSteps, task_id: str | None) -> list[Statement]:
    """The statements of a claim that read jobs."""
    recording = RecordingTx(tx)
    claim._lock_host(recording, (steps.host_id, task_id))
    recording.pipeline(claim._free_slots_query(tx, steps.host_id))
    return [statement for statement in recording.statements if "from jobs" in statement[0]]


@pytest.mark.parametrize("is_one_task", [False, True])
def test_ready_jobs_are_read_along_their_index(busy_host: JobSteps, is_one_task: bool) -> None:
    task_id = busy_host.task(name="other") if is_one_task else None
    plans = busy_host.db.write_blocking(
        lambda tx: [plan(tx, statement) for statement in claim_statements(tx, busy_host, task_id)]
    )
    assert len(plans) == 5
    for lines in plans:
        steps = "\n".join(lines)
        assert "jobs_ready" in steps, steps
        assert "Seq Scan on jobs" not in steps and "SCAN jobs" not in steps, steps
        # Only the first jobs of the queues are sorted.
        assert steps.count("FOR ORDER BY") + steps.count("Sort Key: jobs.") <= 1, steps


def test_assigned_jobs_are_counted_along_their_index(busy_host: JobSteps) -> None:
    [_, unlimited, _, limited, _] = busy_host.db.write_blocking(claim_statements, busy_host, None)
    for statement, count in ((unlimited, 1), (limited, 2)):
        lines = busy_host.db.write_blocking(plan, statement)
        assert sum("jobs_assigned" in line for line in lines) == count, "\n".join(lines)


def test_a_claim_costs_the_same_with_many_ready_jobs(busy_host: JobSteps) -> None:
    def costs(tx: Tx) -> list[int]:
        return [cost(tx, statement) for statement in claim_statements(tx, busy_host, None)]

    few = busy_host.db.write_blocking(costs)
    add_ready(busy_host, MANY)
    many = busy_host.db.write_blocking(costs)
    assert all(0 < after < 2 * before for before, after in zip(few, many, strict=True)), (few, many)


@pytest.fixture
def limited_task(steps: JobSteps) -> str:
    """A task that runs one job at a time, and runs one."""
    task_id = steps.task(name="one at a time", concurrency=1)
    steps.connect(slots=SLOTS)
    steps.assign(task_id)
    return task_id


def test_a_claim_does_not_read_past_the_jobs_of_a_task_at_its_limit(
    steps: JobSteps, limited_task: str
) -> None:
    def measure(tx: Tx) -> int:
        return sum(cost(tx, statement) for statement in claim_statements(tx, steps, None))

    add_ready(steps, FEW, limited_task)
    behind = steps.create(steps.task(name="behind them"))
    few = steps.db.write_blocking(measure)
    add_ready(steps, MANY, limited_task)
    assert 0 < steps.db.write_blocking(measure) < 1.2 * few
    assert [order.job.id for order in steps.claim()] == [behind.id]


def test_a_claim_takes_the_oldest_of_all_queues(steps: JobSteps) -> None:
    limits = (None, 2, 1)
    tasks = [steps.task(name=f"limit {limit}", concurrency=limit) for limit in limits]
    jobs = [steps.create(task_id) for _ in range(3) for task_id in tasks]
    steps.connect(slots=SLOTS)
    first = [order.job for order in steps.claim()]
    assert [job.id for job in first] == [job.id for job in jobs[:SLOTS]]
    steps.connect({job.fence: "live" for job in first}, slots=2 * SLOTS)
    # The others would exceed the concurrency limit of their task.
    assert [order.job.id for order in steps.claim()] == [jobs[4].id, jobs[6].id]


def test_jobs_ahead_in_all_queues_are_counted(steps: JobSteps, limited_task: str) -> None:
    add_ready(steps, 3, limited_task)
    add_ready(steps, 2)
    last = steps.create(limited_task)
    detail = steps.db.write_blocking(details.show, steps.actors.ada, last.id).waiting_detail
    assert isinstance(detail, dict)
    assert detail["ahead"] == 5


def test_finding_hosts_with_ready_jobs_costs_the_same_with_many(busy_host: JobSteps) -> None:
    other = busy_host.host("web-2")
    busy_host.create(busy_host.task(name="elsewhere", host_id=other))

    def measure(tx: Tx) -> int:
        recording = RecordingTx(tx)
        assert claim.hosts_with_ready_jobs(recording) == sorted([busy_host.host_id, other])
        [statement] = recording.statements
        return cost(tx, statement)

    few = busy_host.db.write_blocking(measure)
    add_ready(busy_host, MANY)
    assert 0 < busy_host.db.write_blocking(measure) < 2 * few


def test_hosts_whose_jobs_may_not_start_yet_are_not_found(steps: JobSteps) -> None:
    task_id = steps.task(retry={"times": 1, "delay": 10_000})
    steps.connect()
    steps.end(steps.assign(task_id).fence, code=1)
    assert steps.db.write_blocking(claim.hosts_with_ready_jobs) == []
    # A job behind the delayed one may start.
    steps.create()
    assert steps.db.write_blocking(claim.hosts_with_ready_jobs) == [steps.host_id]


def test_a_download_reads_only_the_front_of_the_queue(
    busy_host: JobSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that no task uses any more; a hostile agent may request such files all day."""
    monkeypatch.setattr(specs, "MAX_READY_JOBS", FEW)

    def measure(tx: Tx) -> int:
        recording = RecordingTx(tx)
        assert not specs.needs_file(recording, busy_host.host_id, "a file of nobody")
        [statement] = recording.statements
        return cost(tx, statement)

    few = busy_host.db.write_blocking(measure)
    add_ready(busy_host, MANY)
    assert 0 < busy_host.db.write_blocking(measure) < 2 * few


def test_an_agent_may_download_the_script_of_the_next_job(steps: JobSteps) -> None:
    task_id = steps.task()
    steps.create(task_id)
    file_id = str(steps.db.write_blocking(lambda tx: tx.value("select script_id from jobs")))
    steps.db.write_blocking(lambda tx: tx.execute("update tasks set script_id = null"))
    assert steps.db.write_blocking(specs.needs_file, steps.host_id, file_id)
    assert not steps.db.write_blocking(specs.needs_file, steps.host("web-3"), file_id)
