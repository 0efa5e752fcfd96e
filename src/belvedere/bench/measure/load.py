"""Loads: the bare script, jobs one at a time, and jobs from several callers at once."""

import select
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from belvedere.base.errors import Refused
from belvedere.bench.environment.installation import SCRIPT, BenchTarget
from belvedere.bench.measure.http_connection import HttpConnection

# How often open jobs are counted; each count costs the server something too.
POLL_S = 0.1
RESPONSE_TIMEOUT_S = 60.0
ReportStep = Callable[[int], None]


def write_script(folder: Path) -> Path:
    path = folder / "bare.sh"
    path.write_text(SCRIPT)
    path.chmod(0o700)
    return path


def run_bare(path: Path, runs: int) -> list[float]:
    """Seconds that each run takes to start the script from Python and to wait for it."""
    command = [str(path)]
    times: list[float] = []
    for _ in range(runs):
        started_at = time.perf_counter()
        subprocess.Popen(command, stdin=subprocess.DEVNULL).wait()
        times.append(time.perf_counter() - started_at)
    return times


def run_one_by_one(connection: HttpConnection, request: bytes, runs: int) -> list[float]:
    """Seconds of each run; the request waits for the job's end."""
    times: list[float] = []
    for _ in range(runs):
        started_at = time.perf_counter()
        status, body = connection.exchange(request)
        times.append(time.perf_counter() - started_at)
        if status != 200 or b'"state":"normal"' not in body:
            raise Refused(f"A job did not end normally (status {status}): {body[:300]!r}")
    return times


def run_concurrently(callers: Sequence[tuple[HttpConnection, bytes]], jobs: int) -> None:
    """Each caller sends its request again as soon as it has a response, until all are sent."""
    poll = select.poll()
    by_fd = {connection.fileno(): connection for connection, _ in callers[:jobs]}
    requests = {connection.fileno(): request for connection, request in callers}
    for connection in by_fd.values():
        poll.register(connection.fileno(), select.POLLIN)
        connection.send(requests[connection.fileno()])
    remaining, answered = jobs - len(by_fd), 0
    while answered < jobs:
        for connection in _ready(poll, by_fd):
            status, body = connection.receive()
            if status != 200:
                raise Refused(f"A job was refused (status {status}): {body[:300]!r}")
            answered += 1
            if remaining:
                remaining -= 1
                connection.send(requests[connection.fileno()])


def _ready(poll: "select.poll", by_fd: dict[int, HttpConnection]) -> Iterator[HttpConnection]:
    ready = poll.poll(RESPONSE_TIMEOUT_S * 1_000)
    if not ready:
        raise Refused(f"The server did not respond for {RESPONSE_TIMEOUT_S:.0f} s.")
    for fd, _ in ready:
        yield by_fd[fd]


def wait_until_finished(site: BenchTarget, task_id: str, jobs: int, step: ReportStep) -> None:
    """Wait until no job is open; fail if one did not end in the state `normal`."""
    fewest, give_up_at = jobs, time.monotonic() + RESPONSE_TIMEOUT_S
    while open_jobs := site.count_open(task_id):
        step(jobs - open_jobs)
        if open_jobs < fewest:
            fewest, give_up_at = open_jobs, time.monotonic() + RESPONSE_TIMEOUT_S
        if time.monotonic() > give_up_at:
            raise Refused(f"{open_jobs} jobs are still open and none finishes. Check the agent.")
        time.sleep(POLL_S)
    normal = site.count(task_id, state="normal")
    if normal != jobs:
        raise Refused(f"Only {normal} of {jobs} jobs ended normally. See: belvedere job list")
