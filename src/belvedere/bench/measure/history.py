"""Whether a million finished jobs make anything slower: the real verbs on two databases.

Both are measured in turns, so that a machine that is busy for a while is busy for both.
"""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from belvedere.bench import results
from belvedere.bench.environment import private_server, processes
from belvedere.bench.environment.databases import fresh, opened
from belvedere.bench.measure import fixture
from belvedere.bench.measure.fixture import Ground
from belvedere.bench.measure.history_data import digest, fill
from belvedere.bench.results import History, Idle
from belvedere.db import Database, Tx
from belvedere.jobs.queries import pages
from belvedere.rest.listing import Listing

# The small database holds one whole page of history, so that both lists show as many jobs.
PAGE = 1_000
ROUNDS, CYCLES, PAGES = 20, 25, 3
SLICE = 25_000
# What was left over is tidied up first.
SETTLE_S = 15.0
Tell = Callable[[str, int, int], None]
Times = dict[str, list[float]]
R = TypeVar("R")


def measure(server: str, folder: Path, jobs: int, idle_s: float, tell: Tell) -> History:
    # A data folder of its own: a server is to run on it.
    laden = folder / "laden"
    laden.mkdir()
    with fresh(server, folder, "small") as small, fresh(server, laden, "belvedere") as full:
        _prepare(small, PAGE, lambda done: None)
        began = time.monotonic()
        _prepare(full, jobs, lambda done: tell("filling the history", done, jobs))
        took = time.monotonic() - began
        with opened(small) as few, opened(full) as many:
            before, after = _in_turns(few, many, tell)
        idle = _idle(laden, full if server else "", idle_s, tell) if idle_s else None
    verbs = [results.grown(name, before[name], after[name]) for name in before]
    return History(jobs, took, verbs, idle)


def _idle(folder: Path, database: str, seconds: float, tell: Tell) -> Idle | None:
    """What a server takes that has nothing to do but to keep all this."""
    tell("idle with history", 0, 0)
    with private_server.running(folder, database):
        time.sleep(SETTLE_S)
        return processes.idle(folder, seconds)


def _prepare(url: str, jobs: int, step: Callable[[int], None]) -> None:
    """Closed afterwards: what a server finds in the morning, not what is still in memory."""
    with opened(url) as db:
        made = db.write_now(fixture.lay)
        for start in range(0, jobs, SLICE):
            db.write_now(fill, made, start, min(SLICE, jobs - start), jobs)
            step(start)
        db.write_now(digest)
        if db.sql.engine == "postgres":
            # Autovacuum would do so within a minute.
            db.write_now(lambda tx: tx.run("analyze"))


def _in_turns(few: Database, many: Database, tell: Tell) -> tuple[Times, Times]:
    grounds = [(db, db.write_now(fixture.find)) for db in (few, many)]
    times: tuple[Times, Times] = ({}, {})
    for turn in range(ROUNDS + 1):
        for (db, place), found in zip(grounds, times, strict=True):
            for name, seconds in _once(db, place):
                # The first turn warms the caches.
                if turn:
                    found.setdefault(name, []).append(seconds)
        tell("measuring with history", turn, ROUNDS)
    return times


def _once(db: Database, place: Ground) -> Iterable[tuple[str, float]]:
    for _ in range(CYCLES):
        made, seconds = _timed(db, fixture.create, place)
        yield "create", seconds
        claimed, seconds = _timed(db, fixture.claim, place)
        yield "claim", seconds
        assert [one.job.id for one in claimed] == [made]
        yield "finish", _timed(db, fixture.finish, place, claimed[0].job.fence)[1]
    for limit in (50, PAGE):
        listing = Listing(pages.listable(db.sql.engine), limit=limit)
        for _ in range(PAGES):
            (records, _), seconds = _timed(db, pages.page, place.actor, listing)
            assert len(records) == limit
            yield f"first page of {limit}", seconds


def _timed(db: Database, verb: Callable[..., R], *args: Any) -> tuple[R, float]:
    """The verb inside its transaction; the commit would hide a slower verb behind the disk."""

    def watched(tx: Tx) -> tuple[R, float]:
        began = time.perf_counter()
        result = verb(tx, *args)
        return result, time.perf_counter() - began

    return db.write_now(watched)
