"""`belvedere run`: run a task, follow it, and exit with its status."""

import mimetypes
from base64 import b64encode
from pathlib import Path
from urllib.parse import quote

from belvedere.base.ids import new_id
from belvedere.cli.framework import lookup, rendering
from belvedere.cli.framework.command import Args, Command, CommandError, Record, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.jobs import follow, outcome


def run(args: Args) -> object:
    client = connect(args)
    task = lookup.task(client, args.task, args.host)
    values = argument_values(task["task_arguments"], args.arguments)
    body: Record = {"task": task["id"], "task_arguments": values}
    if args.assignee:
        body["assignee"] = args.assignee
    # The key makes it safe to send the request again if the connection breaks.
    job = client.request("POST", "/job", body, headers={"Idempotency-Key": new_id()}).body
    if not args.follow and not args.wait:
        if outcome.is_over(job):
            rendering.note(outcome.summary(job))
        return job
    return follow.follow_to_end(client, job, is_live=args.follow, is_json=args.json)


def argument_values(definitions: list[Record], words: list[str]) -> list[str]:
    """The values to send: for an argument of type file, the word is the path of the file."""
    free = [argument for argument in definitions if argument.get("type") != "fixed"]
    expected = definitions if len(words) == len(definitions) else free
    if len(words) != len(expected):
        # The server's error names the missing arguments.
        return words
    return [
        data_url(word) if argument.get("type") == "file" and not word.startswith("data:") else word
        for argument, word in zip(expected, words, strict=True)
    ]


def data_url(path: str) -> str:
    try:
        content = Path(path).read_bytes()
    except OSError as fault:
        raise CommandError(f"Cannot read {path} ({fault.strerror}).") from None
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return f"data:{kind};name={quote(Path(path).name)};base64,{b64encode(content).decode()}"


def show_job(job: Record) -> None:
    if outcome.is_over(job):
        return
    print(f"Job {job['id']} is {job['lifecycle']}.")
    print(f"Follow it with: belvedere job log {job['id']} --follow")


def status(args: Args, job: Record) -> int:
    return outcome.exit_status(job) if args.follow or args.wait else 0


COMMANDS = (
    Command(
        "run",
        run,
        "Run a task. With --follow or --wait the exit status is the job's: 0 for normal and "
        "success, its exit code for failure, 124 timeout, 130 canceled, 125 lost or error.",
        "belvedere run deploy blue --host web-1 --follow",
        show_job,
        options=(
            option("task", metavar="TASK", help="the task's name or id"),
            option(
                "arguments",
                metavar="ARGUMENT",
                nargs="*",
                help="values of its arguments, in order (for a file: its path); after -- they may "
                "start with a dash",
            ),
            option("--host", metavar="HOST", help="the host, if several tasks have this name"),
            option(
                "--assignee",
                metavar="MEMBER",
                action="append",
                help="assign the job to this member; can be repeated",
            ),
            option("--follow", action="store_true", help="show its output while it runs"),
            option("--wait", action="store_true", help="wait for it to finish"),
        ),
        status=status,
    ),
)
