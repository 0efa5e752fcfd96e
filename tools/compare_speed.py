"""Compares the speed of this checkout with another one, in pairs.

On a shared machine the speed changes by 10 % within minutes, which is more than most changes to the
code. So both servers run at the same time and take turns with small blocks of jobs; the median of
the ratios of neighbouring blocks is stable within 1 %. The other checkout needs its own `.venv`.

    .venv/bin/python tools/compare_speed.py ../other-checkout --blocks 60
"""

import argparse
import statistics
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from belvedere.bench.environment import processes
from belvedere.bench.environment.installation import BenchTarget, await_host
from belvedere.bench.environment.private_server import CUSTOMER, folder_in, running
from belvedere.bench.measure import load
from belvedere.bench.measure.http_connection import HttpConnection, encode_request
from belvedere.client.http_client import Client

JOBS_PER_BLOCK = 50
WARM_UP = 200


@dataclass
class Version:
    """One checkout with its running server, and what was measured."""

    checkout: Path
    connection: HttpConnection
    request: bytes
    pids: list[int]
    blocks_ms: list[float] = field(default_factory=list)
    cpu_s: float = 0.0

    def run_block(self) -> None:
        before = self._cpu()
        times = load.run_one_by_one(self.connection, self.request, JOBS_PER_BLOCK)
        self.cpu_s += self._cpu() - before
        self.blocks_ms.append(statistics.median(times) * 1e3)

    def _cpu(self) -> float:
        return sum(processes.cpu_s(pid) for pid in self.pids)


def start(stack: ExitStack, checkout: Path) -> Version:
    folder = stack.enter_context(folder_in("."))
    python = str(checkout.absolute() / ".venv/bin/python")
    server = stack.enter_context(running(folder, "", python=python))
    client = stack.enter_context(Client(server.url, server.token, CUSTOMER))
    task_id = stack.enter_context(BenchTarget(client, await_host(client)).task("compare"))
    connection = HttpConnection(client.server, None)
    stack.callback(connection.close)
    body = {"task": task_id, "task_arguments": []}
    request = encode_request(client, "POST", "/job", body, wait_result="true")
    version = Version(
        checkout, connection, request, [process.pid for process in processes.of_folder(folder)]
    )
    load.run_one_by_one(connection, request, WARM_UP)
    return version


def report(versions: list[Version]) -> None:
    for version in versions:
        jobs = len(version.blocks_ms) * JOBS_PER_BLOCK
        median, cpu_ms = statistics.median(version.blocks_ms), version.cpu_s * 1e3 / jobs
        print(f"{version.checkout}: {median:.3f} ms per job, {cpu_ms:.3f} ms of CPU")
    other, this = versions
    pairs = zip(other.blocks_ms, this.blocks_ms, strict=True)
    low, ratio, high = statistics.quantiles([mine / theirs for theirs, mine in pairs])
    print(f"this / other: {ratio:.3f} (quartiles {low:.3f} to {high:.3f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("other", type=Path, help="the checkout to compare with")
    parser.add_argument("--blocks", type=int, default=60, help="blocks of 50 jobs for each")
    options = parser.parse_args()
    with ExitStack() as stack:
        versions = [start(stack, options.other), start(stack, Path("."))]
        for number in range(options.blocks):
            for version in versions if number % 2 else reversed(versions):
                version.run_block()
        report(versions)


if __name__ == "__main__":
    main()
