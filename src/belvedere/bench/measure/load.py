"""The two ways of asking for jobs: one at a time, and as fast as some callers can."""

import select
import time
from collections.abc import Callable, Iterator, Sequence

from belvedere.base.errors import Refused
from belvedere.bench.environment.installation import Site
from belvedere.bench.measure.http_connection import Line

# Looking costs the server something too: this often at the jobs that are still open.
LOOK_S = 0.1
PATIENCE_S = 60.0
Step = Callable[[int], None]


def one_by_one(line: Line, request: bytes, runs: int) -> list[float]:
    """Seconds of each; the request waits for the job's end."""
    times: list[float] = []
    for _ in range(runs):
        began = time.perf_counter()
        status, body = line.ask(request)
        times.append(time.perf_counter() - began)
        if status != 200 or b'"state":"normal"' not in body:
            raise Refused(f"A job did not end normally (status {status}): {body[:300]!r}")
    return times


def at_once(lines: Sequence[Line], request: bytes, jobs: int) -> None:
    """Each caller asks again as soon as it is answered, until all jobs are made."""
    poll = select.poll()
    by_fd = {line.fileno(): line for line in lines[:jobs]}
    for line in by_fd.values():
        poll.register(line.fileno(), select.POLLIN)
        line.send(request)
    left, answered = jobs - len(by_fd), 0
    while answered < jobs:
        for line in _ready(poll, by_fd):
            status, body = line.receive()
            if status != 200:
                raise Refused(f"A job was refused (status {status}): {body[:300]!r}")
            answered += 1
            if left:
                left -= 1
                line.send(request)


def _ready(poll: "select.poll", by_fd: dict[int, Line]) -> Iterator[Line]:
    found = poll.poll(PATIENCE_S * 1_000)
    if not found:
        raise Refused(f"The server did not answer for {PATIENCE_S:.0f} s.")
    for fd, _ in found:
        yield by_fd[fd]


def until_over(site: Site, task_id: str, jobs: int, step: Step) -> None:
    """Wait until nothing is open; refuse when an end was not `normal`."""
    before, give_up_at = jobs, time.monotonic() + PATIENCE_S
    while left := site.count_open(task_id):
        step(jobs - left)
        if left < before:
            before, give_up_at = left, time.monotonic() + PATIENCE_S
        if time.monotonic() > give_up_at:
            raise Refused(f"{left} jobs are still open and none ends; is the agent alive?")
        time.sleep(LOOK_S)
    normal = site.count(task_id, state="normal")
    if normal != jobs:
        raise Refused(f"Only {normal} of {jobs} jobs ended normally; look with: belvedere job list")
