"""Following a job until it has finished, and printing its log."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TextIO

from belvedere.cli.framework import rendering, terminal_text
from belvedere.cli.framework.command import CommandError, Record
from belvedere.cli.jobs import outcome
from belvedere.client.errors import Problem
from belvedere.client.event_stream import TRANSIENT_STATUSES, follow
from belvedere.client.http_client import Client

# As wide as a time, for lines whose time is not known.
UNKNOWN_TIME = "-" * 24
RETRY_WAITS_S = (0.2, 0.5, 1, 2, 5, 10, 10, 10)


def follow_to_end(client: Client, job: Record, *, is_live: bool, is_json: bool = False) -> Record:
    """The finished job. Its output goes to stdout, or to stderr if stdout is for JSON."""
    out = terminal_text.protected(sys.stderr if is_json else sys.stdout) if is_live else None
    try:
        _note_waiting(client, job["id"])
        _stream(client, job["id"], out)
        finished = finished_job(client, job["id"])
    except KeyboardInterrupt:
        raise CommandError(
            f"Stopped following; job {job['id']} continues. "
            f"Cancel it with: belvedere job cancel {job['id']}",
            130,
        ) from None
    rendering.note(outcome.summary(finished))
    return finished


def copy_log(client: Client, job_id: str) -> None:
    """Print the log byte for byte; on a terminal without control sequences."""
    with client.open(f"/job/{job_id}/log") as response:
        while piece := response.read1(65_536):
            terminal_text.write_bytes(piece)
    sys.stdout.flush()


def print_with_times(client: Client, job_id: str) -> None:
    """Print the log; in front of each line is the time when it was written."""
    marks = list(_time_marks(client, job_id))
    at, passed = UNKNOWN_TIME, 0
    for number, text in _log_lines(client, job_id):
        while passed < len(marks) and marks[passed]["line"] <= number:
            at, passed = marks[passed]["at"], passed + 1
        sys.stdout.write(f"{at} {text}\n")
    sys.stdout.flush()


def _time_marks(client: Client, job_id: str) -> Iterator[Record]:
    first: int | None = 1
    while first is not None:
        page = client.get(f"/job/{job_id}/log/times", {"from": first})
        yield from page["marks"]
        first = page["next"]


def _log_lines(client: Client, job_id: str) -> Iterator[tuple[int, str]]:
    first = 1
    while True:
        page = client.get(f"/job/{job_id}/log/lines", {"from": first, "count": 5_000})
        yield from enumerate(page["lines"], page["first"])
        if not page["lines"]:
            return
        first = page["first"] + len(page["lines"])


def _note_waiting(client: Client, job_id: str) -> None:
    reason = outcome.waiting_text(client.get(f"/job/{job_id}"))
    if reason:
        rendering.note(f"job {job_id} is waiting: {reason}")


def _stream(client: Client, job_id: str, out: TextIO | None) -> None:
    outage = Outage()
    with ExitStack() as spinner:
        spinner.enter_context(rendering.waiting(f"waiting for job {job_id}"))
        for event in follow(client, f"/job/{job_id}/log", {"follow": "true"}, on_cut=outage.begin):
            outage.is_reported = False
            if event.kind == "end":
                return
            if event.kind == "output" and out is not None:
                # The spinner and the output would overwrite each other.
                spinner.close()
                out.write(json.loads(event.data))
                out.flush()


class Outage:
    """Reports a lost connection once, however often reconnecting fails."""

    is_reported = False

    def begin(self, cut: Problem) -> None:
        if not self.is_reported:
            rendering.note(f"{cut.message} Reconnecting; no output is lost.")
        self.is_reported = True


def finished_job(client: Client, job_id: str) -> Record:
    """The job after its end, even if the server restarts at this moment."""
    job: Record
    for wait_s in RETRY_WAITS_S:
        try:
            job = client.get(f"/job/{job_id}")
            return job
        except Problem as problem:
            if problem.status not in TRANSIENT_STATUSES:
                raise
            time.sleep(wait_s)
    job = client.get(f"/job/{job_id}")
    return job
