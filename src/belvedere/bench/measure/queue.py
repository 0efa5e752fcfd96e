"""Whether thousands of waiting jobs make the host's other jobs slower, measured on two databases:
they are jobs of a task that runs one at a time, and the host has a free slot. Then the load of an
idle server with them."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from belvedere.bench import results
from belvedere.bench.environment.databases import open_migrated, temporary_database
from belvedere.bench.measure import fixture, idle
from belvedere.bench.measure.fixture import Fixture
from belvedere.bench.measure.turns import in_turns, run_job, timed
from belvedere.bench.results import QueueResult
from belvedere.db import Database, Tx
from belvedere.jobs.lifecycle import claim
from belvedere.jobs.lifecycle.create import JobRequest, create
from belvedere.jobs.queries import pages
from belvedere.rest.listing import Condition, Listing

FEW, CYCLES, READS = 100, 10, 3
CREATE_BATCH_SIZE = 500
# What the console requests of its list of waiting jobs.
PAGE_SIZE, MAX_COUNTED, MAX_SEARCHED = 50, 1_000, 5_000
Progress = Callable[[str, int, int], None]


def measure(
    server: str, folder: Path, waiting: int, idle_s: float, report: Progress
) -> QueueResult:
    # A data folder of its own, because a server is started on it.
    many_folder = folder / "many"
    many_folder.mkdir()
    with (
        temporary_database(server, folder, "few") as few,
        temporary_database(server, many_folder, "belvedere") as many,
    ):
        with open_migrated(few) as few_db, open_migrated(many) as many_db:
            _fill(few_db, FEW, lambda done: None)
            _fill(many_db, waiting, lambda done: report("filling the queue", done, waiting))
            step = partial(report, "measuring with a queue")
            before, after = in_turns((few_db, many_db), _once, step)
        usage = None
        if idle_s:
            report("idle with a queue", 0, 0)
            usage = idle.measure(many_folder, many if server else "", idle_s)
    costs = [results.operation_cost(name, before[name], after[name]) for name in before]
    return QueueResult(waiting, costs, usage)


def _fill(db: Database, waiting: int, step: Callable[[int], None]) -> None:
    """One job of the limited task runs, the others wait."""
    target = db.write_blocking(fixture.create_fixture, slots=2)
    task_id = db.write_blocking(fixture.create_limited_task, target)
    request = JobRequest(target.actor, task_id, [])
    db.write_blocking(create, [request])
    assert len(db.write_blocking(fixture.claim, target)) == 1
    for start in range(0, waiting, CREATE_BATCH_SIZE):
        db.write_blocking(create, [request] * min(CREATE_BATCH_SIZE, waiting - start))
        step(start)
    idle.finish_background_work(db, lambda: step(waiting))


def _once(db: Database, target: Fixture) -> Iterable[tuple[str, float]]:
    for _ in range(CYCLES):
        yield from run_job(db, target)
    for _ in range(READS):
        yield "periodic search for hosts", timed(db, claim.hosts_with_ready_jobs)[1]
        yield "list of waiting jobs", timed(db, _waiting_jobs, target)[1]


def _waiting_jobs(tx: Tx, target: Fixture) -> None:
    waiting = Condition("lifecycle", "$eq", ("ready",))
    listing = Listing(pages.listable(tx.dialect), conditions=(waiting,), limit=PAGE_SIZE)
    page = pages.read_page(tx, target.actor, listing, MAX_COUNTED, MAX_SEARCHED)
    assert len(page.records) == PAGE_SIZE
