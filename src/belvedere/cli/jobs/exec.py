"""`belvedere exec`: run a command on hosts and show its output live, prefixed with the host."""

import json
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TextIO

from belvedere.base.ids import new_id
from belvedere.cli.framework import rendering, terminal_text, time_words
from belvedere.cli.framework.command import Args, Command, CommandError, Record, option
from belvedere.cli.framework.profile import client_for, connect, current
from belvedere.cli.jobs import outcome
from belvedere.cli.jobs.follow import Outage, finished_job
from belvedere.client.event_stream import follow
from belvedere.client.http_client import Client

# How many jobs are followed at the same time; the output of others follows when one of them ends.
MAX_FOLLOWED_JOBS = 64


class HostLines:
    """Prints complete lines of many hosts, each prefixed with the name of its host."""

    def __init__(self, out: TextIO, names: Sequence[str]) -> None:
        self._out = out
        self._width = max(map(len, names))
        self._is_alone = len(names) == 1
        self._incomplete: dict[str, str] = {}
        self._lock = threading.Lock()

    def add(self, hostname: str, text: str) -> None:
        *complete, incomplete = (self._incomplete.get(hostname, "") + text).split("\n")
        self._incomplete[hostname] = incomplete
        self._write(hostname, complete)

    def end(self, hostname: str) -> None:
        incomplete = self._incomplete.pop(hostname, "")
        self._write(hostname, [incomplete] if incomplete else [])

    def _write(self, hostname: str, lines: list[str]) -> None:
        head = "" if self._is_alone else f"{hostname:<{self._width}} | "
        with self._lock:
            self._out.write("".join(f"{head}{line}\n" for line in lines))
            self._out.flush()


def execute(args: Args) -> object:
    if not args.command:
        raise CommandError(
            "No command given; put it after --, for example: belvedere exec --tag web -- uptime", 2
        )
    if not args.host and not args.tag:
        raise CommandError("No hosts given; use --host NAME or --tag TAG.", 2)
    client = connect(args)
    command = ["sh", "-c", " ".join(args.command)] if args.shell else args.command
    body: Record = {"command": command, "hosts": args.host, "tags": args.tag}
    if args.timeout:
        body["timeout"] = time_words.duration_ms(args.timeout)
    # The key makes it safe to send the request again if the connection breaks.
    key = {"Idempotency-Key": new_id()}
    jobs: list[Record] = client.request("POST", "/exec", body, headers=key).body["jobs"]
    return {"jobs": jobs if args.detach else _follow_all(args, jobs)}


def _follow_all(args: Args, jobs: list[Record]) -> list[Record]:
    """Follow every job on a connection of its own until all have finished."""
    out = terminal_text.protected(sys.stderr if args.json else sys.stdout)
    lines = HostLines(out, [job["hostname"] for job in jobs])
    with ThreadPoolExecutor(min(MAX_FOLLOWED_JOBS, len(jobs))) as pool:
        try:
            finished = list(pool.map(lambda job: _follow_job(args, job, lines), jobs))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            job_ids = " ".join(job["id"] for job in jobs)
            raise CommandError(f"Stopped following; these jobs continue: {job_ids}", 130) from None
    for job in finished:
        rendering.note(f"{job['hostname']}: {outcome.summary(job)}")
    return finished


def _follow_job(args: Args, job: Record, lines: HostLines) -> Record:
    client: Client = client_for(current(args), args)
    try:
        reason = outcome.waiting_text(client.get(f"/job/{job['id']}"))
        if reason:
            rendering.note(f"{job['hostname']}: job {job['id']} is waiting: {reason}")
        _stream(client, job, lines)
        return finished_job(client, job["id"])
    finally:
        client.close()


def _stream(client: Client, job: Record, lines: HostLines) -> None:
    path, outage = f"/job/{job['id']}/log", Outage()
    for event in follow(client, path, {"follow": "true"}, on_cut=outage.begin):
        outage.is_reported = False
        if event.kind == "output":
            lines.add(job["hostname"], json.loads(event.data))
        if event.kind == "end":
            break
    lines.end(job["hostname"])


def show_jobs(result: Record) -> None:
    for job in result["jobs"]:
        if not outcome.is_over(job):
            print(f"{job['hostname']}: job {job['id']} is {job['lifecycle']}.")


def status(args: Args, result: Record) -> int:
    """The status that all failed jobs share; 1 if they differ."""
    if args.detach:
        return 0
    failures = {outcome.exit_status(job) for job in result["jobs"]} - {0}
    return 0 if not failures else failures.pop() if len(failures) == 1 else 1


COMMANDS = (
    Command(
        "exec",
        execute,
        "Run a command on hosts as ordinary jobs and show the output live. The exit status is 0 if "
        "all jobs succeeded, the command's own if every failed job has the same one, otherwise 1. "
        "Needs the level admin; every use is audited.",
        "belvedere exec --tag web -- uptime",
        show_jobs,
        options=(
            option("command", metavar="WORD", nargs="*", help="the program and its arguments"),
            option(
                "--host",
                metavar="HOST",
                action="append",
                default=[],
                help="a host; can be repeated",
            ),
            option(
                "--tag",
                metavar="TAG",
                action="append",
                default=[],
                help="all hosts with this tag; can be repeated",
            ),
            option("--shell", action="store_true", help="run the words as one sh command line"),
            option("--timeout", metavar="DURATION", help="stop it after this time (default 10m)"),
            option("--detach", action="store_true", help="do not wait for the jobs to finish"),
        ),
        status=status,
    ),
)
