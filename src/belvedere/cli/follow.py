"""Staying with a job until it is over: its output as it comes, then its end."""

import json
import sys
from contextlib import ExitStack
from typing import Any, TextIO

from belvedere.cli import outcome, show
from belvedere.cli.verb import Stop
from belvedere.client.calls import Client
from belvedere.client.problem import Problem
from belvedere.client.stream import follow

Job = dict[str, Any]


def to_the_end(client: Client, job: Job, *, is_live: bool, is_json: bool = False) -> Job:
    """The finished job. Its output goes to stdout, or to stderr where stdout is for JSON."""
    out = (sys.stderr if is_json else sys.stdout) if is_live else None
    try:
        _note_waiting(client, job["id"])
        _stream(client, job["id"], out)
        ended: Job = client.get(f"/job/{job['id']}")
    except KeyboardInterrupt:
        raise Stop(
            f"stopped watching; job {job['id']} goes on. "
            f"Cancel it with: belvedere job cancel {job['id']}",
            130,
        ) from None
    show.note(outcome.told(ended))
    return ended


def copy(client: Client, job_id: str) -> None:
    """The log as it is kept, byte for byte."""
    with client.open(f"/job/{job_id}/log") as response:
        while piece := response.read1(65_536):
            sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def _note_waiting(client: Client, job_id: str) -> None:
    reason = outcome.waits(client.get(f"/job/{job_id}"))
    if reason:
        show.note(f"job {job_id} waits: {reason}")


def _stream(client: Client, job_id: str, out: TextIO | None) -> None:
    with ExitStack() as spinner:
        spinner.enter_context(show.waiting(f"waiting for job {job_id}"))
        for event in follow(client, f"/job/{job_id}/log", {"follow": "true"}, on_cut=_note_cut):
            if event.kind == "end":
                return
            if event.kind == "output" and out is not None:
                # The spinner and the output would write over each other.
                spinner.close()
                out.write(json.loads(event.data))
                out.flush()


def _note_cut(cut: Problem) -> None:
    show.note(f"{cut.message} Trying again; nothing is lost.")
