"""The list of waiting jobs costs the same however many wait."""

import pytest

from belvedere.bench.measure import history_data
from belvedere.bench.measure.fixture import Fixture
from belvedere.db import Tx
from belvedere.jobs.queries import index_choice, pages
from belvedere.jobs.queries.pages import Page
from belvedere.rest.listing import Condition, Listing
from jobs.job_steps import JobSteps
from jobs.test_claim_plan import add_ready
from statements import RecordingTx, cost

PAGE_SIZE, MAX_COUNTED, STEP = 5, 20, 1_000
FEW, MANY = 70, 400


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_choice, "FEW_OPEN", 10)
    monkeypatch.setattr(index_choice, "HEAD_ROWS", 20)
    monkeypatch.setattr(index_choice, "DENSE_STEP", 50)


def read_waiting(tx: Tx, steps: JobSteps, lifecycle: str = "ready") -> Page:
    waiting = Condition("lifecycle", "$eq", (lifecycle,))
    listing = Listing(pages.listable(tx.dialect), conditions=(waiting,), limit=PAGE_SIZE)
    return pages.read_page(tx, steps.actors.ada, listing, MAX_COUNTED, STEP)


def list_cost(tx: Tx, steps: JobSteps) -> int:
    recording = RecordingTx(tx)
    page = read_waiting(recording, steps)
    assert len(page.records) == PAGE_SIZE and page.total == MAX_COUNTED + 1
    reads = [item for item in recording.statements if "from jobs j" in item[0]]
    return sum(cost(tx, item) for item in reads)


def test_the_cost_does_not_depend_on_the_number_of_waiting_jobs(steps: JobSteps) -> None:
    task_id = steps.task()
    add_ready(steps, FEW, task_id)
    few = steps.db.write_blocking(list_cost, steps)
    add_ready(steps, MANY, task_id)
    many = steps.db.write_blocking(list_cost, steps)
    assert 0 < many < 1.2 * few, (few, many)


def test_a_few_old_waiting_jobs_behind_newer_history_are_found(steps: JobSteps) -> None:
    """They are read by the index of open jobs, not by searching the history."""
    task_id = steps.task()
    steps.end(steps.assign(task_id).fence)
    history = Fixture(steps.actors.ada, steps.host_id, steps.session, task_id)
    steps.db.write_blocking(history_data.fill, history, 0, 100, 100)
    steps.db.write_blocking(_make_newest)
    add_ready(steps, 15, task_id)
    steps.db.write_blocking(_make_oldest)
    page = steps.db.write_blocking(read_waiting, steps)
    assert (len(page.records), page.total, page.until) == (PAGE_SIZE, 15, None)


def test_jobs_that_run_are_found_behind_a_long_queue(steps: JobSteps) -> None:
    task_id = steps.task()
    steps.connect(slots=1)
    job = steps.assign(task_id)
    add_ready(steps, FEW, task_id)
    page = steps.db.write_blocking(read_waiting, steps, "assigned")
    assert ([record.id for record in page.records], page.until) == ([job.id], None)


def _make_newest(tx: Tx) -> None:
    tx.execute("update jobs set id = 'f' || substr(id, 2) where ended_at is not null")


def _make_oldest(tx: Tx) -> None:
    tx.execute("update jobs set id = '0' || substr(id, 2) where ended_at is null")
