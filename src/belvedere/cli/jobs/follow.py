"""Staying with a job until it is over: its output as it comes, then its end."""

import json
import sys
import time
from contextlib import ExitStack
from typing import Any, TextIO

from belvedere.cli.framework import rendering, terminal_text
from belvedere.cli.framework.command import Stop
from belvedere.cli.jobs import outcome
from belvedere.client.errors import Problem
from belvedere.client.event_stream import TRANSIENT_STATUSES, follow
from belvedere.client.http_client import Client

Job = dict[str, Any]
WAITS_S = (0.2, 0.5, 1, 2, 5, 10, 10, 10)


def to_the_end(client: Client, job: Job, *, is_live: bool, is_json: bool = False) -> Job:
    """The finished job. Its output goes to stdout, or to stderr where stdout is for JSON."""
    out = terminal_text.protected(sys.stderr if is_json else sys.stdout) if is_live else None
    try:
        _note_waiting(client, job["id"])
        _stream(client, job["id"], out)
        over = ended(client, job["id"])
    except KeyboardInterrupt:
        raise Stop(
            f"stopped watching; job {job['id']} goes on. "
            f"Cancel it with: belvedere job cancel {job['id']}",
            130,
        ) from None
    rendering.note(outcome.told(over))
    return over


def copy(client: Client, job_id: str) -> None:
    """The log as it is kept, byte for byte; on a terminal without what could control it."""
    with client.open(f"/job/{job_id}/log") as response:
        while piece := response.read1(65_536):
            terminal_text.write_bytes(piece)
    sys.stdout.flush()


def _note_waiting(client: Client, job_id: str) -> None:
    reason = outcome.waits(client.get(f"/job/{job_id}"))
    if reason:
        rendering.note(f"job {job_id} waits: {reason}")


def _stream(client: Client, job_id: str, out: TextIO | None) -> None:
    outage = Outage()
    with ExitStack() as spinner:
        spinner.enter_context(rendering.waiting(f"waiting for job {job_id}"))
        for event in follow(client, f"/job/{job_id}/log", {"follow": "true"}, on_cut=outage.begin):
            outage.is_told = False
            if event.kind == "end":
                return
            if event.kind == "output" and out is not None:
                # The spinner and the output would write over each other.
                spinner.close()
                out.write(json.loads(event.data))
                out.flush()


class Outage:
    """Says once that the connection is gone, however often coming back fails."""

    is_told = False

    def begin(self, cut: Problem) -> None:
        if not self.is_told:
            rendering.note(f"{cut.message} Trying again; nothing is lost.")
        self.is_told = True


def ended(client: Client, job_id: str) -> Job:
    """The job after its end, also when the server restarts in just this moment."""
    for wait_s in WAITS_S:
        try:
            job: Job = client.get(f"/job/{job_id}")
            return job
        except Problem as problem:
            if problem.status not in TRANSIENT_STATUSES:
                raise
            time.sleep(wait_s)
    last: Job = client.get(f"/job/{job_id}")
    return last
