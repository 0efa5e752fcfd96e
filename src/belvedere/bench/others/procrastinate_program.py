"""The workload with procrastinate: `procrastinate_program.py URL SCRIPT RUNS JOBS CALLERS` prints
seconds as JSON.

The environment of the other job queues runs this file, so it imports nothing of Belvedere.
"""

import asyncio
import json
import subprocess
import sys
import time

from procrastinate import App, PsycopgConnector
from procrastinate.jobs import Status

# How often the caller polls for the end of its job.
INTERVAL_S = 0.001
CONCURRENCY = 16
FAILED, SUCCEEDED = Status.FAILED, Status.SUCCEEDED


def open_app(url: str, script: str) -> App:
    app = App(connector=PsycopgConnector(conninfo=url))

    async def run_script() -> None:
        process = await asyncio.create_subprocess_exec(script, stdin=subprocess.DEVNULL)
        if await process.wait() != 0:
            raise RuntimeError("the script failed")

    app.task(name="run_script")(run_script)
    return app


async def work(url: str, script: str) -> None:
    app = open_app(url, script)
    async with app.open_async():
        await app.run_worker_async(concurrency=CONCURRENCY)


async def measure(url: str, script: str, runs: int, jobs: int, callers: int) -> dict[str, object]:
    app = open_app(url, script)
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        with subprocess.Popen([sys.executable, __file__, "work", url, script]) as worker:
            try:
                await run_single(app)
                times = [await run_single(app) for _ in range(runs)]
                return {"times": times, "seconds": await run_many(app, jobs, callers)}
            finally:
                worker.kill()


async def run_single(app: App) -> float:
    started_at = time.perf_counter()
    job_id = await defer(app)
    while (status := await app.job_manager.get_job_status_async(job_id)) is not SUCCEEDED:
        if status is FAILED:
            raise SystemExit("a job failed")
        await asyncio.sleep(INTERVAL_S)
    return time.perf_counter() - started_at


async def defer(app: App) -> int:
    job_id: int = await app.configure_task("run_script").defer_async()
    return job_id


async def run_many(app: App, jobs: int, callers: int) -> float:
    before = await count_ended(app)
    started_at = time.perf_counter()
    shares = [jobs // callers + (n < jobs % callers) for n in range(callers)]

    async def call(share: int) -> None:
        for _ in range(share):
            await defer(app)

    await asyncio.gather(*map(call, shares))
    while await count_ended(app) < before + jobs:
        await asyncio.sleep(0.01)
    return time.perf_counter() - started_at


async def count_ended(app: App) -> int:
    query = "select count(*) as n from procrastinate_jobs where status = 'succeeded'"
    rows: list[dict[str, int]] = await app.connector.execute_query_all_async(query)
    return rows[0]["n"]


if __name__ == "__main__":
    if sys.argv[1] == "work":
        asyncio.run(work(*sys.argv[2:]))
    else:
        url, script, *numbers = sys.argv[1:]
        print(json.dumps(asyncio.run(measure(url, script, *map(int, numbers)))))
