"""A step of a list in another order sorts the rows of the step, however long the history is."""

from belvedere.bench.measure import history_data
from belvedere.bench.measure.fixture import Fixture
from belvedere.db import Tx
from belvedere.jobs.queries import pages
from belvedere.rest.listing import Listing
from jobs.job_steps import JobSteps
from statements import RecordingTx, cost

PAGE_SIZE, STEP = 5, 50


def step_cost(tx: Tx, steps: JobSteps) -> int:
    if tx.dialect.name == "postgres":
        tx.execute("analyze")
    recording = RecordingTx(tx)
    listing = Listing(pages.listable(tx.dialect), sort=(("name", False),), limit=PAGE_SIZE)
    page = pages.read_page(recording, steps.actors.ada, listing, None, STEP)
    assert len(page.records) == PAGE_SIZE and page.until is not None
    reads = [item for item in recording.statements if "from jobs j where" in item[0]]
    return sum(cost(tx, item) for item in reads)


def test_a_sorted_list_costs_the_same_with_a_longer_history(steps: JobSteps) -> None:
    task_id = steps.task()
    steps.end(steps.assign(task_id).fence)
    history = Fixture(steps.actors.ada, steps.host_id, steps.session, task_id)
    steps.db.write_blocking(history_data.fill, history, 0, 400, 400)
    short = steps.db.write_blocking(step_cost, steps)
    steps.db.write_blocking(history_data.fill, history, 400, 3_000, 5_000)
    long = steps.db.write_blocking(step_cost, steps)
    assert 0 < long < 1.2 * short, (short, long)
