"""Compares the speed of this checkout with another one, in pairs.

On a shared machine the speed changes by 10 % within minutes, which is more than most changes to the
code. So both servers run at the same time and take turns with small blocks of jobs; the median of
the ratios of neighbouring blocks is stable within 1 %. The other checkout needs its own `.venv`.

    .venv/bin/python tools/compare_speed.py ../other-checkout --blocks 60
    .venv/bin/python tools/compare_speed.py ../other-checkout --postgres --callers 16
"""

import argparse
import statistics
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from belvedere.bench.environment import postgres, processes
from belvedere.bench.environment.databases import temporary_database
from belvedere.bench.environment.installation import BenchTarget, await_host
from belvedere.bench.environment.private_server import CUSTOMER, folder_in, running
from belvedere.bench.measure import load
from belvedere.bench.measure.http_connection import HttpConnection, encode_request
from belvedere.client.http_client import Client

JOBS_PER_BLOCK = 50
# Jobs of a block with several callers.
JOBS_PER_BURST = 400
WARM_UP = 200


@dataclass
class Version:
    """One checkout with its running server, and what was measured."""

    checkout: Path
    callers: list[tuple[HttpConnection, bytes]]
    pids: list[int]
    blocks_ms: list[float] = field(default_factory=list)
    jobs: int = 0
    cpu_s: float = 0.0

    def run_block(self) -> None:
        before = self._cpu()
        self.blocks_ms.append(self._burst() if len(self.callers) > 1 else self._one_by_one())
        self.cpu_s += self._cpu() - before

    def _one_by_one(self) -> float:
        [(connection, request)] = self.callers
        self.jobs += JOBS_PER_BLOCK
        times = load.run_one_by_one(connection, request, JOBS_PER_BLOCK)
        return statistics.median(times) * 1e3

    def _burst(self) -> float:
        """Milliseconds per job: each caller waits for the end of its job."""
        self.jobs += JOBS_PER_BURST
        began = time.perf_counter()
        load.run_concurrently(self.callers, JOBS_PER_BURST)
        return (time.perf_counter() - began) * 1e3 / JOBS_PER_BURST

    def _cpu(self) -> float:
        return sum(processes.cpu_s(pid) for pid in self.pids)


def start(stack: ExitStack, checkout: Path, database_server: str, callers: int) -> Version:
    folder = stack.enter_context(folder_in("."))
    python = str(checkout.absolute() / ".venv/bin/python")
    database = ""
    if database_server:
        database = stack.enter_context(temporary_database(database_server, folder, "compare"))
    server = stack.enter_context(running(folder, database, python=python))
    client = stack.enter_context(Client(server.url, server.token, CUSTOMER))
    task_id = stack.enter_context(BenchTarget(client, await_host(client)).task("compare"))
    body = {"task": task_id, "task_arguments": []}
    request = encode_request(client, "POST", "/job", body, wait_result="true")
    connections = [HttpConnection(client.server, None) for _ in range(callers)]
    for connection in connections:
        stack.callback(connection.close)
    load.run_one_by_one(connections[0], request, WARM_UP)
    pids = [process.pid for process in processes.of_folder(folder)]
    return Version(checkout, [(connection, request) for connection in connections], pids)


def report(versions: list[Version]) -> None:
    for version in versions:
        median, cpu_ms = statistics.median(version.blocks_ms), version.cpu_s * 1e3 / version.jobs
        print(f"{version.checkout}: {median:.3f} ms per job, {cpu_ms:.3f} ms of CPU")
    other, this = versions
    pairs = zip(other.blocks_ms, this.blocks_ms, strict=True)
    low, ratio, high = statistics.quantiles([mine / theirs for theirs, mine in pairs])
    print(f"this / other: {ratio:.3f} (quartiles {low:.3f} to {high:.3f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("other", type=Path, help="the checkout to compare with")
    parser.add_argument("--blocks", type=int, default=60, help="blocks of jobs for each")
    parser.add_argument("--callers", type=int, default=1, help="callers at the same time")
    parser.add_argument("--postgres", action="store_true", help="use a temporary PostgreSQL")
    options = parser.parse_args()
    with ExitStack() as stack:
        server = stack.enter_context(postgres.throwaway()) if options.postgres else ""
        versions = [
            start(stack, checkout, server, options.callers)
            for checkout in (options.other, Path("."))
        ]
        for number in range(options.blocks):
            for version in versions if number % 2 else reversed(versions):
                version.run_block()
        report(versions)


if __name__ == "__main__":
    main()
