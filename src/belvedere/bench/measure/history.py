"""Whether a million finished jobs make an operation slower, measured on two databases.

Both are measured in turns, so that other load on the machine affects both.
"""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from belvedere.bench import results
from belvedere.bench.environment import private_server, processes
from belvedere.bench.environment.databases import open_migrated, temporary_database
from belvedere.bench.measure import fixture
from belvedere.bench.measure.fixture import Fixture
from belvedere.bench.measure.history_data import fill, skip_events
from belvedere.bench.results import HistoryResult, Idle
from belvedere.db import Database, Tx
from belvedere.jobs.queries import pages
from belvedere.rest.listing import Listing

# The small database holds one page of history, so that both lists return the same number of jobs.
PAGE_SIZE = 1_000
ROUNDS, CYCLES, PAGES = 20, 25, 3
FILL_BATCH_SIZE = 25_000
# Time for the server's clean-up after the start, before it is idle.
SETTLE_S = 15.0
Progress = Callable[[str, int, int], None]
Times = dict[str, list[float]]
R = TypeVar("R")


def measure(server: str, folder: Path, jobs: int, idle_s: float, report: Progress) -> HistoryResult:
    # A data folder of its own, because a server is started on it.
    full_folder = folder / "full"
    full_folder.mkdir()
    with (
        temporary_database(server, folder, "small") as small,
        temporary_database(server, full_folder, "belvedere") as full,
    ):
        _prepare(small, PAGE_SIZE, lambda done: None)
        started_at = time.monotonic()
        _prepare(full, jobs, lambda done: report("filling the history", done, jobs))
        fill_s = time.monotonic() - started_at
        with open_migrated(small) as small_db, open_migrated(full) as full_db:
            before, after = _in_turns(small_db, full_db, report)
        idle = _idle(full_folder, full if server else "", idle_s, report) if idle_s else None
    costs = [results.operation_cost(name, before[name], after[name]) for name in before]
    return HistoryResult(jobs, fill_s, costs, idle)


def _idle(folder: Path, database: str, seconds: float, report: Progress) -> Idle | None:
    """The load of an idle server with the full history."""
    report("idle with history", 0, 0)
    with private_server.running(folder, database):
        time.sleep(SETTLE_S)
        return processes.idle(folder, seconds)


def _prepare(url: str, jobs: int, step: Callable[[int], None]) -> None:
    """Fill a database and close it, so that nothing of it is in the process's memory."""
    with open_migrated(url) as db:
        target = db.write_blocking(fixture.create_fixture)
        for start in range(0, jobs, FILL_BATCH_SIZE):
            db.write_blocking(fill, target, start, min(FILL_BATCH_SIZE, jobs - start), jobs)
            step(start)
        db.write_blocking(skip_events)
        if db.dialect.name == "postgres":
            # Autovacuum would do so within a minute.
            db.write_blocking(lambda tx: tx.execute("analyze"))


def _in_turns(small_db: Database, full_db: Database, report: Progress) -> tuple[Times, Times]:
    targets = [(db, db.write_blocking(fixture.find)) for db in (small_db, full_db)]
    times: tuple[Times, Times] = ({}, {})
    for turn in range(ROUNDS + 1):
        for (db, target), samples in zip(targets, times, strict=True):
            for name, seconds in _once(db, target):
                # The first turn warms the caches.
                if turn:
                    samples.setdefault(name, []).append(seconds)
        report("measuring with history", turn, ROUNDS)
    return times


def _once(db: Database, target: Fixture) -> Iterable[tuple[str, float]]:
    for _ in range(CYCLES):
        job_id, seconds = _timed(db, fixture.create, target)
        yield "create", seconds
        claimed, seconds = _timed(db, fixture.claim, target)
        yield "claim", seconds
        assert [item.job.id for item in claimed] == [job_id]
        yield "finish", _timed(db, fixture.finish, target, claimed[0].job.fence)[1]
    for limit in (50, PAGE_SIZE):
        listing = Listing(pages.listable(db.dialect), limit=limit)
        for _ in range(PAGES):
            (records, _), seconds = _timed(db, pages.list_page, target.actor, listing)
            assert len(records) == limit
            yield f"first page of {limit}", seconds


def _timed(db: Database, operation: Callable[..., R], *args: object) -> tuple[R, float]:
    """Time of the operation inside its transaction, without the commit: the disk would hide it."""

    def run_timed(tx: Tx) -> tuple[R, float]:
        started_at = time.perf_counter()
        result = operation(tx, *args)
        return result, time.perf_counter() - started_at

    return db.write_blocking(run_timed)
