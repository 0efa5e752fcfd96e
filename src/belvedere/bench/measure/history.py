"""Whether a million finished jobs make an operation slower, measured on two databases."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from belvedere.bench import results
from belvedere.bench.environment.databases import open_migrated, temporary_database
from belvedere.bench.measure import fixture, idle
from belvedere.bench.measure.fixture import Fixture
from belvedere.bench.measure.history_data import fill
from belvedere.bench.measure.turns import ROUNDS, in_turns, run_job, timed
from belvedere.bench.results import HistoryResult
from belvedere.db import Database, Tx
from belvedere.jobs.history import deletion_rows, deletion_steps
from belvedere.jobs.history.deletion_rows import TASK, DeletionScope
from belvedere.jobs.history.deletion_steps import STEP_ROWS
from belvedere.jobs.queries import pages
from belvedere.jobs.search import terms
from belvedere.rest.listing import Condition, Listable, Listing
from belvedere.server.background import consumers

# The small database holds one page of history, so that both lists return the same number of jobs.
PAGE_SIZE = 1_000
# Jobs that both have in addition, because they are deleted while measuring.
DELETED = (ROUNDS + 1) * STEP_ROWS
CYCLES, PAGES = 25, 3
FILL_BATCH_SIZE = 25_000
Progress = Callable[[str, int, int], None]


def measure(server: str, folder: Path, jobs: int, idle_s: float, report: Progress) -> HistoryResult:
    # A data folder of its own, because a server is started on it.
    full_folder = folder / "full"
    full_folder.mkdir()
    with (
        temporary_database(server, folder, "small") as small,
        temporary_database(server, full_folder, "belvedere") as full,
    ):
        _prepare(small, PAGE_SIZE + DELETED, lambda done: None)
        started_at = time.monotonic()
        _prepare(full, jobs + DELETED, lambda done: report("filling the history", done, jobs))
        fill_s = time.monotonic() - started_at
        step = partial(report, "measuring with history")
        with open_migrated(small) as small_db, open_migrated(full) as full_db:
            before, after = in_turns((small_db, full_db), _once, step)
        usage = None
        if idle_s:
            report("idle with history", 0, 0)
            usage = idle.measure(full_folder, full if server else "", idle_s)
    costs = [results.operation_cost(name, before[name], after[name]) for name in before]
    return HistoryResult(jobs, fill_s, costs, usage)


def _prepare(url: str, jobs: int, step: Callable[[int], None]) -> None:
    """Fill a database and close it, so that nothing of it is in the process's memory."""
    with open_migrated(url) as db:
        target = db.write_blocking(fixture.create_fixture)
        for start in range(0, jobs, FILL_BATCH_SIZE):
            db.write_blocking(fill, target, start, min(FILL_BATCH_SIZE, jobs - start), jobs)
            step(start)
        idle.finish_background_work(db, lambda: step(jobs))


def _once(db: Database, target: Fixture) -> Iterable[tuple[str, float]]:
    for _ in range(CYCLES):
        yield from run_job(db, target)
    for limit in (50, PAGE_SIZE):
        listing = Listing(pages.listable(db.dialect), limit=limit)
        for _ in range(PAGES):
            (records, _), seconds = timed(db, pages.list_page, target.actor, listing)
            assert len(records) == limit
            yield f"first page of {limit}", seconds
    for name, listing in _searches(pages.listable(db.dialect)):
        for _ in range(PAGES):
            yield name, timed(db, _search_step, target, listing)[1]
    yield "one step of a deletion", timed(db, _delete_step, target)[1]


def _searches(listable: Listable) -> Iterable[tuple[str, Listing]]:
    """Lists that cannot be read along an index: the time of one step of them."""
    no_name = Condition("name", "$eq", ("no such name",))
    no_text = Condition("text", "$text", ("%no such text%",))
    plain = Listing(listable, limit=50)
    yield "one step of a filter", replace(plain, conditions=(no_name,))
    yield "one step of a text search", replace(plain, conditions=(no_text,))
    yield results.SEARCH_STEP, terms.with_search(plain, "no such text")
    yield "one step of a sort", replace(plain, sort=(("name", False),))
    yield "one step of a count", replace(plain, count=True)


def _search_step(tx: Tx, target: Fixture, listing: Listing) -> None:
    pages.read_page(tx, target.actor, listing, None, PAGE_SIZE)


def _delete_step(tx: Tx, target: Fixture) -> None:
    """Delete the oldest jobs, as a step does, without hiding the others."""
    scope = DeletionScope(target.actor.customer_id, TASK, target.task_id)
    last_event_id = tx.value("select max(id) from events")
    deletion = deletion_rows.new(tx, target.actor, scope, tx.now, last_event_id)
    assert deletion is not None
    deletion_steps.run(tx, deletion, consumers.job_readers(has_redis=False))
    assert deletion.deleted == STEP_ROWS
