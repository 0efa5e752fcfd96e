"""One run of the bench, from the first bare script to the last figure."""

import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from belvedere import __version__
from belvedere.bench import results
from belvedere.bench.environment import installation, postgres, private_server, processes
from belvedere.bench.environment.databases import fresh
from belvedere.bench.environment.installation import Site
from belvedere.bench.measure import bare, features, history, load
from belvedere.bench.measure.http_connection import Line, request
from belvedere.bench.results import Result
from belvedere.client import connections
from belvedere.client.http_client import Client

Tell = Callable[[str, int, int], None]
BARE_RUNS, SLICES, WARM_UP = 100, 9, 100
# After a load the server tidies up; only then is it idle.
SETTLE_S = 3.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured, and how much of it."""

    runs: int = 1_000
    jobs: int = 3_000
    callers: int = 16
    history: int = 1_000_000
    # Monitors and indicators in the lists that are measured; 0: leave the other rooms out.
    records: int = 2_000
    # Seconds to watch it with nothing to do; 0: leave it out.
    idle_s: float = 10.0
    # The folder whose disk is measured.
    place: str = "."
    # A PostgreSQL server; empty: SQLite.
    database: str = ""
    # Start a PostgreSQL of our own.
    throwaway: bool = False
    # An existing server instead of a private one.
    client: Client | None = None
    ca_file: str | None = None
    hostname: str | None = None


def run(plan: Plan, tell: Tell) -> Result:
    with ExitStack() as stack:
        folder = stack.enter_context(private_server.folder_in(plan.place))
        database = plan.database
        if plan.throwaway:
            tell("starting PostgreSQL", 0, 0)
            database = stack.enter_context(postgres.throwaway())
        if plan.client is not None:
            result = _measure(plan, _existing(plan.client, plan), folder, tell, engine="remote")
        else:
            result = _measure_private(plan, database, folder, tell)
            if plan.history:
                result.history = history.measure(database, folder, plan.history, plan.idle_s, tell)
    result.goals = results.goals(result)
    return result


def _existing(client: Client, plan: Plan) -> Site:
    return Site(client, installation.choose_host(client, plan.hostname))


def _measure_private(plan: Plan, database: str, folder: Path, tell: Tell) -> Result:
    engine = "postgres" if database else "sqlite"
    tell("starting a server", 0, 0)
    with (
        fresh(database, folder, "server") as url,
        private_server.running(folder, url if database else "") as server,
        Client(server.url, server.token, private_server.CUSTOMER) as client,
    ):
        found = Site(client, installation.await_host(client))
        result = _measure(plan, found, folder, tell, engine)
        if plan.idle_s:
            tell("idle", 0, 0)
            time.sleep(SETTLE_S)
            result.idle = processes.idle(folder, plan.idle_s)
        if plan.records:
            with _lines(plan, client, plan.callers) as lines:
                result.rooms = features.measure(found, lines, server, plan.records, tell)
        return result


def _measure(plan: Plan, target: Site, folder: Path, tell: Tell, engine: str) -> Result:
    script = bare.script(folder)
    rounds: list[list[float]] = []
    times: list[float] = []
    with target.task("one at a time") as task_id, _lines(plan, target.client, 1) as [line]:
        request = _request(target.client, task_id, wait=True)
        load.one_by_one(line, request, WARM_UP)
        for runs in _slices(plan.runs):
            rounds.append(bare.measure(script, BARE_RUNS))
            tell("one at a time", len(times), plan.runs)
            times += load.one_by_one(line, request, runs)
    seconds = _pour(plan, target, tell)
    rounds.append(bare.measure(script, BARE_RUNS))
    floor = results.bare(rounds)
    return Result(
        version=__version__,
        engine=engine,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0,
        python=platform.python_version(),
        bare=floor,
        latency=results.latency(times, floor),
        throughput=results.throughput(plan.jobs, plan.callers, seconds, floor),
    )


def _slices(runs: int) -> list[int]:
    return [runs // SLICES + (n < runs % SLICES) for n in range(SLICES)]


def _pour(plan: Plan, target: Site, tell: Tell) -> float:
    """Seconds from the first job's creation to the last one's end."""
    what = f"{plan.callers} callers"
    with target.task("many at once") as task_id, _lines(plan, target.client, plan.callers) as lines:
        request = _request(target.client, task_id, wait=False)
        tell(what, 0, plan.jobs)
        load.at_once(lines, request, plan.jobs)
        load.until_over(target, task_id, plan.jobs, lambda done: tell(what, done, plan.jobs))
        return target.span_s(task_id)


def _request(client: Client, task_id: str, *, wait: bool) -> bytes:
    query = {"wait_result": "true"} if wait else {}
    return request(client, "POST", "/job", {"task": task_id, "task_arguments": []}, **query)


@contextmanager
def _lines(plan: Plan, client: Client, count: int) -> Iterator[list[Line]]:
    tls = connections.tls_context(plan.ca_file) if client.server.startswith("https:") else None
    with ExitStack() as stack:
        lines = [Line(client.server, tls) for _ in range(count)]
        for line in lines:
            stack.callback(line.close)
        yield lines


def as_json(result: Result) -> dict[str, object]:
    found: dict[str, object] = msgspec.to_builtins(result)
    return found
