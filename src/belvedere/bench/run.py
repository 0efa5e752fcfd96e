"""A run of the bench, from the first bare script to the last figure."""

import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from belvedere import __version__
from belvedere.bench import results
from belvedere.bench.environment import installation, postgres, private_server, processes
from belvedere.bench.environment.databases import temporary_database
from belvedere.bench.environment.installation import BenchTarget
from belvedere.bench.measure import (
    agents,
    event_budget,
    features,
    history,
    load,
    queue,
    servers,
)
from belvedere.bench.measure.http_connection import HttpConnection, encode_request
from belvedere.bench.others import measure as others
from belvedere.bench.results import QueueFigures, Result
from belvedere.client.connections import tls_context
from belvedere.client.http_client import Client

Progress = Callable[[str, int, int], None]
BARE_RUNS, WARM_UP = 100, 100
LATENCY_BLOCKS, THROUGHPUT_BLOCKS = 9, 3
# After a load the server deletes its jobs; only then is it idle.
SETTLE_S = 30.0
# Two rounds of heartbeats.
AGENTS_IDLE_S = 20.0


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """What to measure, and how much of it."""

    runs: int = 1_000
    jobs: int = 3_000
    callers: int = 16
    history: int = 1_000_000
    # Jobs that wait while others are measured; 0: do not measure.
    waiting: int = 50_000
    # Agents that are connected to a server of their own; 0: do not measure.
    agents: int = 10_000
    # Monitors and indicators in the measured lists; 0: do not measure other features.
    records: int = 2_000
    # Seconds to measure the idle server; 0: do not measure it.
    idle_s: float = 10.0
    # Servers on one PostgreSQL, compared with one server; 0: do not measure.
    servers: int = 0
    # Run the same workload with other job queues, which are downloaded.
    compare: bool = False
    # The folder whose disk is measured.
    place: str = "."
    # A PostgreSQL server; empty: SQLite.
    database: str = ""
    # Start a temporary PostgreSQL.
    throwaway: bool = False
    # An existing server instead of a temporary one.
    client: Client | None = None
    ca_file: str | None = None
    hostname: str | None = None


def run(plan: BenchPlan, report: Progress) -> Result:
    if plan.agents and plan.client is None:
        agents.check_limit(plan.agents)
    with ExitStack() as stack:
        folder = stack.enter_context(private_server.folder_in(plan.place))
        database = plan.database
        if plan.throwaway:
            report("starting PostgreSQL", 0, 0)
            database = stack.enter_context(postgres.throwaway())
        if plan.client is not None:
            result = _measure(plan, _existing(plan.client, plan), folder, report, engine="remote")
        else:
            result = _measure_private(plan, database, folder, report)
            if plan.servers:
                result.servers = servers.measure(database, folder, plan.servers, plan.jobs, report)
            if plan.compare:
                result.queues = _compare(plan, result, database, folder, report)
            if plan.waiting:
                result.queue = queue.measure(database, folder, plan.waiting, plan.idle_s, report)
            if plan.agents:
                idle_s = max(plan.idle_s, AGENTS_IDLE_S)
                fewer = max(1, plan.agents // 10)
                result.fewer_agents = agents.measure(database, folder, fewer, idle_s, report)
                result.agents = agents.measure(database, folder, plan.agents, idle_s, report)
            if plan.history:
                result.history = history.measure(
                    database, folder, plan.history, plan.idle_s, report
                )
    result.goals = results.goals(result)
    result.is_machine_busy = result.bare.is_disturbed
    return result


def _existing(client: Client, plan: BenchPlan) -> BenchTarget:
    return BenchTarget(client, installation.choose_host(client, plan.hostname))


def _compare(
    plan: BenchPlan, result: Result, database: str, folder: Path, report: Progress
) -> list[QueueFigures]:
    own = [_own_figures(result)]
    if database:
        (folder / "sqlite").mkdir()
        plain = replace(plan, idle_s=0.0, records=0)
        own.append(_own_figures(_measure_private(plain, "", folder / "sqlite", report)))
    numbers = (plan.runs, plan.jobs, plan.callers)
    script = load.write_script(folder)
    return own + others.measure(folder, script, database, numbers, report)


def _own_figures(result: Result) -> QueueFigures:
    engine = {"postgres": "PostgreSQL", "sqlite": "SQLite"}[result.engine]
    latency, throughput = result.latency, result.throughput
    return QueueFigures(f"Belvedere on {engine}", latency.p50_ms, throughput.per_second, True)


def _measure_private(plan: BenchPlan, database: str, folder: Path, report: Progress) -> Result:
    engine = "postgres" if database else "sqlite"
    report("starting a server", 0, 0)
    with (
        temporary_database(database, folder, "server") as url,
        private_server.running(folder, url if database else "") as server,
        Client(server.url, server.token, private_server.CUSTOMER) as client,
    ):
        target = BenchTarget(client, installation.await_host(client))
        result = _measure(plan, target, folder, report, engine)
        if plan.idle_s:
            report("idle", 0, 0)
            time.sleep(SETTLE_S)
            result.idle = processes.idle(folder, plan.idle_s)
            if plan.throwaway and database:
                result.postgres_bytes = postgres.memory(database)
        if plan.records:
            with _connections(plan, client, plan.callers) as connections:
                result.rooms = features.measure(
                    target, connections, server, plan.records, report, result.idle
                )
            report("event budget", 0, 0)
            result.rooms.append(event_budget.measure(database, folder))
        return result


def _measure(
    plan: BenchPlan, target: BenchTarget, folder: Path, report: Progress, engine: str
) -> Result:
    script = load.write_script(folder)
    rounds: list[list[float]] = []
    times: list[list[float]] = []
    with (
        target.task("one at a time") as task_id,
        _connections(plan, target.client, 1) as [connection],
    ):
        job_request = _request(target.client, task_id, wait=True)
        load.run_one_by_one(connection, job_request, WARM_UP)
        for number, runs in enumerate(_blocks(plan.runs, LATENCY_BLOCKS)):
            rounds.append(load.run_bare(script, BARE_RUNS))
            report("one at a time", number * runs, plan.runs)
            times.append(load.run_one_by_one(connection, job_request, runs))
    spans: list[tuple[int, float]] = []
    with ExitStack() as stack:
        # Deleted at the end: a deletion would disturb the next bare scripts. No pauses: on some
        # machines a script takes 0.56 ms under load and 0.85 ms otherwise.
        for jobs in _blocks(plan.jobs, THROUGHPUT_BLOCKS):
            task_id = stack.enter_context(target.task(f"many at once {len(spans) + 1}"))
            rounds.append(load.run_bare(script, BARE_RUNS))
            spans.append((jobs, _measure_throughput(plan, target, task_id, jobs, report)))
        rounds.append(load.run_bare(script, BARE_RUNS))
    bare_s = results.bare_per_block(rounds)
    return Result(
        version=__version__,
        engine=engine,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0,
        python=platform.python_version(),
        bare=results.bare(rounds),
        latency=results.latency(times, bare_s[: len(times)]),
        throughput=results.throughput(plan.callers, spans, bare_s[len(times) :]),
    )


def _blocks(count: int, blocks: int) -> list[int]:
    sizes = [count // blocks + (number < count % blocks) for number in range(blocks)]
    return [size for size in sizes if size]


def _measure_throughput(
    plan: BenchPlan, target: BenchTarget, task_id: str, jobs: int, report: Progress
) -> float:
    """Seconds from the first job's creation to the last job's end."""
    step = f"{plan.callers} callers"
    with _connections(plan, target.client, plan.callers) as connections:
        job_request = _request(target.client, task_id, wait=False)
        report(step, 0, jobs)
        load.run_concurrently([(item, job_request) for item in connections], jobs)
        load.wait_until_finished(target, task_id, jobs, lambda done: report(step, done, jobs))
        return target.span_s(task_id)


def _request(client: Client, task_id: str, *, wait: bool) -> bytes:
    query = {"wait_result": "true"} if wait else {}
    return encode_request(client, "POST", "/job", {"task": task_id, "task_arguments": []}, **query)


@contextmanager
def _connections(plan: BenchPlan, client: Client, count: int) -> Iterator[list[HttpConnection]]:
    tls = tls_context(plan.ca_file) if client.server.startswith("https:") else None
    with ExitStack() as stack:
        connections = [HttpConnection(client.server, tls) for _ in range(count)]
        for connection in connections:
            stack.callback(connection.close)
        yield connections


def as_json(result: Result) -> dict[str, object]:
    fields: dict[str, object] = msgspec.to_builtins(result)
    return fields
