"""Measures how long other reads wait on SQLite while slow searches run in a long history.

One server with `--jobs` ended jobs. Blocks of reads without searches and blocks with three searches
without a match take turns, so that other load on the machine affects both.

    .venv/bin/python tools/measure_searches.py --jobs 1000000
"""

import argparse
import multiprocessing
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path

from belvedere.bench.environment.databases import open_migrated
from belvedere.bench.environment.installation import BenchTarget, await_host
from belvedere.bench.environment.private_server import CUSTOMER, PrivateServer, folder_in, running
from belvedere.bench.measure import fixture, history_data
from belvedere.bench.measure.history import FILL_BATCH_SIZE
from belvedere.bench.measure.http_connection import HttpConnection, encode_request
from belvedere.client.http_client import Client

SEARCHES = 3
# A filter without a match, and an order that cannot be read in steps.
Query = dict[str, object]
STEPS: Query = {"q": "no such job"}
SORTED: Query = {"where[name]": "no such job", "sort[name]": 1}
Times = dict[str, list[float]]


def fill(folder: Path, jobs: int) -> None:
    with open_migrated(str(folder / "belvedere.db")) as db:
        target = db.write_blocking(fixture.find)
        for start in range(0, jobs, FILL_BATCH_SIZE):
            count = min(FILL_BATCH_SIZE, jobs - start)
            db.write_blocking(history_data.fill, target, start, count, jobs)
        db.write_blocking(history_data.skip_events)


def search(server: PrivateServer, query: Query, is_over: Event) -> None:
    with Client(server.url, server.token, CUSTOMER) as client:
        while not is_over.is_set():
            reply = client.request("GET", "/job", query=query)
            link = {n.lower(): v for n, v in reply.headers.items()}.get("link", "")
            query = {**query, "after": link.partition("after=")[2][:24]} if link else query


@contextmanager
def searching(server: PrivateServer, query: Query) -> Iterator[None]:
    is_over = multiprocessing.Event()
    processes = [
        multiprocessing.Process(target=search, args=(server, query, is_over))
        for _ in range(SEARCHES)
    ]
    for process in processes:
        process.start()
    try:
        time.sleep(1)
        yield
    finally:
        is_over.set()
        for process in processes:
            process.join(20)
            process.kill()


def measure(
    connection: HttpConnection, requests: dict[str, bytes], count: int, times: Times
) -> None:
    for _ in range(count):
        for name, request in requests.items():
            started_at = time.perf_counter()
            status, _ = connection.exchange(request)
            times.setdefault(name, []).append((time.perf_counter() - started_at) * 1e3)
            assert status == 200, (name, status)


def report(name: str, plain: list[float], loaded: list[float], what: str) -> None:
    def figures(times: list[float]) -> tuple[float, float, float]:
        return statistics.median(times), statistics.quantiles(times, n=20)[18], max(times)

    before, after = figures(plain), figures(loaded)
    texts = " / ".join(f"{value:.2f}" for value in before), " / ".join(f"{v:.2f}" for v in after)
    ratios = " / ".join(f"{b / a:.2f}" for a, b in zip(before, after, strict=True))
    print(f"{name}, {what}: p50/p95/max ms without {texts[0]}, with {texts[1]}, ratio {ratios}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--blocks", type=int, default=6, help="of each kind")
    parser.add_argument("--reads", type=int, default=100, help="of each kind in a block")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(folder_in("."))
        with running(folder, "") as server, Client(server.url, server.token, CUSTOMER) as client:
            target = BenchTarget(client, await_host(client))
            body = {
                "name": "measured",
                "type": "script",
                "host_id": target.host_id,
                "script": {"filename": "a.sh", "source": "#!/bin/sh\nexit 0\n"},
                "history": {"count": 1_000_000, "days": 3_650},
            }
            task = client.post("/task", body)
            query = {"wait_result": "true"}
            job = client.post("/job", {"task": task["id"], "task_arguments": []}, query)
            token = server.token
        fill(folder, options.jobs)
        server = stack.enter_context(running(folder, ""))
        server = PrivateServer(server.url, token, "", folder)
        client = stack.enter_context(Client(server.url, token, CUSTOMER))
        await_host(client)
        connection = HttpConnection(server.url, None)
        stack.callback(connection.close)
        requests = {
            "one job": encode_request(client, "GET", f"/job/{job['id']}"),
            "a script": encode_request(client, "GET", f"/script/{task['script_id']}/download"),
        }
        measure(connection, requests, options.reads, {})
        for what, slow in (("in steps", STEPS), ("another order", SORTED)):
            plain, loaded = Times(), Times()
            loads = []
            for _ in range(options.blocks):
                loads.append(os.getloadavg()[0])
                measure(connection, requests, options.reads, plain)
                with searching(server, slow):
                    measure(connection, requests, options.reads, loaded)
            print(f"{options.jobs} jobs, load {min(loads):.1f} to {max(loads):.1f}")
            for name in requests:
                report(name, plain[name], loaded[name], what)


if __name__ == "__main__":
    main()
