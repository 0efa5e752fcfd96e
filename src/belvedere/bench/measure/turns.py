"""Two databases are measured in turns, so that other load on the machine affects both."""

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from belvedere.bench.measure import fixture
from belvedere.bench.measure.fixture import Fixture
from belvedere.db import Database, Tx

ROUNDS = 20
# Seconds by operation.
Times = dict[str, list[float]]
R = TypeVar("R")


def in_turns(
    databases: tuple[Database, Database],
    measure: Callable[[Database, Fixture], Iterable[tuple[str, float]]],
    report: Callable[[int, int], None],
) -> tuple[Times, Times]:
    targets = [(db, db.write_blocking(fixture.find)) for db in databases]
    times: tuple[Times, Times] = ({}, {})
    for turn in range(ROUNDS + 1):
        for (db, target), samples in zip(targets, times, strict=True):
            for name, seconds in measure(db, target):
                # The first turn warms the caches.
                if turn:
                    samples.setdefault(name, []).append(seconds)
        report(turn, ROUNDS)
    return times


def run_job(db: Database, target: Fixture) -> Iterable[tuple[str, float]]:
    """The life of a job, with the time of each operation."""
    job_id, seconds = timed(db, fixture.create, target)
    yield "create", seconds
    claimed, seconds = timed(db, fixture.claim, target)
    yield "claim", seconds
    assert [item.job.id for item in claimed] == [job_id]
    yield "finish", timed(db, fixture.finish, target, claimed[0].job.fence)[1]


def timed(db: Database, operation: Callable[..., R], *args: object) -> tuple[R, float]:
    """Time of the operation inside its transaction, without the commit: the disk would hide it."""

    def run_timed(tx: Tx) -> tuple[R, float]:
        started_at = time.perf_counter()
        result = operation(tx, *args)
        return result, time.perf_counter() - started_at

    return db.write_blocking(run_timed)
