"""`belvedere run`: a task, from its name to its exit status."""

from typing import Any

from belvedere.base.ids import new_id
from belvedere.cli.framework import lookup, rendering
from belvedere.cli.framework.command import Args, Verb, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.jobs import arguments, follow, outcome


def run(args: Args) -> Any:
    client = connect(args)
    task = lookup.task(client, args.task, args.host)
    values = arguments.sent(task["task_arguments"], args.arguments)
    body = {"task": task["id"], "task_arguments": values}
    # The key makes it safe to send this again when the connection breaks under it.
    job = client.request("POST", "/job", body, headers={"Idempotency-Key": new_id()}).body
    if not args.follow and not args.wait:
        if outcome.is_over(job):
            rendering.note(outcome.told(job))
        return job
    return follow.to_the_end(client, job, is_live=args.follow, is_json=args.json)


def show_job(job: Any) -> None:
    if outcome.is_over(job):
        return
    print(f"Job {job['id']} is {job['lifecycle']}.")
    print(f"Watch it with: belvedere job log {job['id']} --follow")


def status(args: Args, job: Any) -> int:
    return outcome.exit_status(job) if args.follow or args.wait else 0


VERBS = (
    Verb(
        "run",
        run,
        "Run a task. With --follow or --wait the exit status is the job's: 0 for normal and "
        "success, the script's own code for failure, 124 timeout, 130 canceled, 125 lost or error.",
        "belvedere run deploy blue --host web-1 --follow",
        show_job,
        options=(
            option("task", metavar="TASK", help="the task's name or id"),
            option(
                "arguments",
                metavar="ARGUMENT",
                nargs="*",
                help="values for its arguments, in order (for a file: its path); after -- they may "
                "begin with a dash",
            ),
            option("--host", metavar="HOST", help="the host, where several tasks share the name"),
            option("--follow", action="store_true", help="show its output while it runs"),
            option("--wait", action="store_true", help="wait until it is over"),
        ),
        status=status,
    ),
)
