"""The workload with huey: `huey_program.py STORE SCRIPT RUNS JOBS CALLERS` prints seconds as JSON.

The environment of the other job queues runs this file, so it imports nothing of Belvedere. STORE is
a file name (SQLite with durable writes) or the address of a Redis server.
"""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import huey
from huey.api import Result, TaskWrapper
from huey.consumer import Consumer

# Shorter intervals than the defaults of huey, so that its latency is not the interval: how often
# the consumer looks for jobs and the caller for a result.
INTERVAL_S = 0.001
WORKERS = 4


def open_queue(store: str) -> huey.Huey:
    if store.startswith("unix://"):
        return huey.RedisHuey("bench", url=store, notify_result=True)
    return huey.SqliteHuey("bench", filename=store, fsync=True)


def define(queue: huey.Huey, script: str) -> TaskWrapper:
    def run_script() -> int:
        return subprocess.Popen([script], stdin=subprocess.DEVNULL).wait()

    return queue.task()(run_script)


def consume(store: str, script: str) -> None:
    queue = open_queue(store)
    define(queue, script)
    consumer = Consumer(
        queue,
        workers=WORKERS,
        periodic=False,
        initial_delay=INTERVAL_S,
        backoff=1,
        max_delay=INTERVAL_S,
        check_worker_health=False,
    )
    consumer.run()


def measure(store: str, script: str, runs: int, jobs: int, callers: int) -> dict[str, object]:
    queue = open_queue(store)
    run_script = define(queue, script)
    with subprocess.Popen([sys.executable, __file__, "consume", store, script]) as consumer:
        try:
            await_result(run_script())
            times = [run_single(run_script) for _ in range(runs)]
            return {"times": times, "seconds": run_many(queue, run_script, jobs, callers)}
        finally:
            consumer.kill()


def await_result(job: Result) -> None:
    status = job.get(blocking=True, timeout=60, backoff=1, max_delay=INTERVAL_S)
    if status != 0:
        raise SystemExit(f"a job ended with {status}")


def run_single(run_script: TaskWrapper) -> float:
    started_at = time.perf_counter()
    await_result(run_script())
    return time.perf_counter() - started_at


def run_many(queue: huey.Huey, run_script: TaskWrapper, jobs: int, callers: int) -> float:
    """Each job leaves a result, so the last one has ended when there are as many results."""
    started_at = time.perf_counter()
    with ThreadPoolExecutor(callers) as pool:
        for job in [pool.submit(run_script) for _ in range(jobs)]:
            job.result()
    while queue.result_count() < jobs:
        time.sleep(0.01)
    return time.perf_counter() - started_at


if __name__ == "__main__":
    if sys.argv[1] == "consume":
        consume(*sys.argv[2:])
    else:
        store, script, *numbers = sys.argv[1:]
        print(json.dumps(measure(store, script, *map(int, numbers))))
