"""`belvedere exec`: a command on hosts or tags, its output as it comes, named by its host."""

import json
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TextIO

from belvedere.base.ids import new_id
from belvedere.cli.framework import rendering, terminal_text, time_words
from belvedere.cli.framework.command import Args, Stop, Verb, option
from belvedere.cli.framework.profile import client_for, connect, current
from belvedere.cli.jobs import outcome
from belvedere.cli.jobs.follow import Outage, ended
from belvedere.client.event_stream import follow
from belvedere.client.http_client import Client

Job = dict[str, Any]
# So many are followed at once; the output of others comes when one of these is over.
AT_ONCE = 64


class Lines:
    """Whole lines of many hosts, one after the other, each with the name of its host."""

    def __init__(self, out: TextIO, names: Sequence[str]) -> None:
        self._out = out
        self._width = max(map(len, names))
        self._is_alone = len(names) == 1
        self._rest: dict[str, str] = {}
        self._lock = threading.Lock()

    def add(self, hostname: str, text: str) -> None:
        *whole, rest = (self._rest.get(hostname, "") + text).split("\n")
        self._rest[hostname] = rest
        self._write(hostname, whole)

    def end(self, hostname: str) -> None:
        rest = self._rest.pop(hostname, "")
        self._write(hostname, [rest] if rest else [])

    def _write(self, hostname: str, lines: list[str]) -> None:
        head = "" if self._is_alone else f"{hostname:<{self._width}} | "
        with self._lock:
            self._out.write("".join(f"{head}{line}\n" for line in lines))
            self._out.flush()


def execute(args: Args) -> Any:
    if not args.command:
        raise Stop("say what to run, after --: belvedere exec --tag web -- uptime", 2)
    if not args.host and not args.tag:
        raise Stop("say where: --host NAME or --tag TAG", 2)
    client = connect(args)
    asked = ["sh", "-c", " ".join(args.command)] if args.shell else args.command
    body: dict[str, Any] = {"command": asked, "hosts": args.host, "tags": args.tag}
    if args.timeout:
        body["timeout"] = time_words.duration_ms(args.timeout)
    # The key makes it safe to send this again when the connection breaks under it.
    key = {"Idempotency-Key": new_id()}
    jobs: list[Job] = client.request("POST", "/exec", body, headers=key).body["jobs"]
    return {"jobs": jobs if args.detach else _to_the_end(args, jobs)}


def _to_the_end(args: Args, jobs: list[Job]) -> list[Job]:
    """Each with a connection of its own; together they end as the last one does."""
    out = terminal_text.protected(sys.stderr if args.json else sys.stdout)
    lines = Lines(out, [job["hostname"] for job in jobs])
    with ThreadPoolExecutor(min(AT_ONCE, len(jobs))) as pool:
        try:
            over = list(pool.map(lambda job: _one(args, job, lines), jobs))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            told = " ".join(job["id"] for job in jobs)
            raise Stop(f"stopped watching; these jobs go on: {told}", 130) from None
    for job in over:
        rendering.note(f"{job['hostname']}: {outcome.told(job)}")
    return over


def _one(args: Args, job: Job, lines: Lines) -> Job:
    client: Client = client_for(current(args), args)
    try:
        reason = outcome.waits(client.get(f"/job/{job['id']}"))
        if reason:
            rendering.note(f"{job['hostname']}: job {job['id']} waits: {reason}")
        _stream(client, job, lines)
        return ended(client, job["id"])
    finally:
        client.close()


def _stream(client: Client, job: Job, lines: Lines) -> None:
    path, outage = f"/job/{job['id']}/log", Outage()
    for event in follow(client, path, {"follow": "true"}, on_cut=outage.begin):
        outage.is_told = False
        if event.kind == "output":
            lines.add(job["hostname"], json.loads(event.data))
        if event.kind == "end":
            break
    lines.end(job["hostname"])


def show_jobs(answer: Any) -> None:
    for job in answer["jobs"]:
        if not outcome.is_over(job):
            print(f"{job['hostname']}: job {job['id']} is {job['lifecycle']}.")


def status(args: Args, answer: Any) -> int:
    """The one that all bad ends share; 1 where they differ."""
    if args.detach:
        return 0
    bad = {outcome.exit_status(job) for job in answer["jobs"]} - {0}
    return 0 if not bad else bad.pop() if len(bad) == 1 else 1


VERBS = (
    Verb(
        "exec",
        execute,
        "Run a command on hosts, as ordinary jobs, and show its output as it comes. The exit "
        "status is 0 when it went well everywhere, that of the command where all that failed agree,"
        " else 1. For admins; every use is audited.",
        "belvedere exec --tag web -- uptime",
        show_jobs,
        options=(
            option("command", metavar="WORD", nargs="*", help="the program and its arguments"),
            option("--host", metavar="HOST", action="append", default=[], help="a host; repeat it"),
            option(
                "--tag",
                metavar="TAG",
                action="append",
                default=[],
                help="all hosts with this tag; repeat it",
            ),
            option("--shell", action="store_true", help="let sh read the words as one line"),
            option("--timeout", metavar="DURATION", help="stop it after so long (default 10m)"),
            option("--detach", action="store_true", help="do not wait for the end"),
        ),
        status=status,
    ),
)
