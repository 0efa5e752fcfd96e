"""`belvedere job`: what ran, runs or waits."""

from argparse import ArgumentTypeError
from typing import Any

from belvedere.base.ids import is_id, new_id
from belvedere.cli.framework import lookup
from belvedere.cli.framework.command import Args, Stop, Verb, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.jobs import follow, job_files, job_rendering, log_times, outcome
from belvedere.client.http_client import Client

# So many jobs are looked at in one request.
LOOK = 20_000
UNTIL = "x-looked-until"
# As many as the server gives at once.
MOST = 1_000


def job_id(text: str) -> str:
    if not is_id(text):
        raise ArgumentTypeError(f"{text!r} is no job id; see: belvedere job list")
    return text


JOB = option("job", metavar="JOB", type=job_id, help="the job's id")


def listed(args: Args) -> Any:
    client = connect(args)
    query: dict[str, Any] = {"limit": args.limit}
    if args.task:
        query["where[task_id]"] = lookup.task(client, args.task, None)["id"]
    if args.host:
        query["where[host_id]"] = lookup.host(client, args.host)["id"]
    if args.state:
        query["where[state]"] = args.state
    if args.open:
        query["where[lifecycle][$in][]"] = sorted(outcome.OPEN)
    if args.after:
        query["after"] = args.after
    jobs = _looked_for(client, query)
    return jobs if args.json else _with_hostnames(client, jobs)


def _looked_for(client: Client, query: dict[str, Any]) -> list[Any]:
    """In steps: what hardly any job fits would keep the server reading for long."""
    jobs: list[Any] = []
    most = query["limit"] or MOST
    while True:
        step = {**query, "limit": most - len(jobs), "look": LOOK}
        answer = client.request("GET", "/job", query=step)
        jobs += answer.body
        until = {name.lower(): value for name, value in answer.headers.items()}.get(UNTIL)
        if until is None or len(jobs) >= most:
            return jobs
        query["after"] = until


def one(args: Args) -> Any:
    client = connect(args)
    job = client.get(f"/job/{args.job}")
    return job if args.json else _with_hostnames(client, [job])[0]


def _with_hostnames(client: Client, jobs: list[Any]) -> list[Any]:
    """Records carry the host's id; people know hosts by name."""
    names = {host["id"]: host["hostname"] for host in client.get("/host")} if jobs else {}
    return [{**job, "hostname": names.get(job["host_id"], job["host_id"])} for job in jobs]


def log(args: Args) -> Any:
    client = connect(args)
    if args.search:
        return client.get(f"/job/{args.job}/log/search", {"q": args.search})["lines"]
    if args.follow and args.timestamps:
        raise Stop("--timestamps is for output that is there already; leave --follow away", 2)
    if args.follow:
        return follow.to_the_end(client, {"id": args.job}, is_live=True, is_json=args.json)
    if args.json:
        return client.get(f"/job/{args.job}/log")
    if args.timestamps:
        return log_times.print_all(client, args.job)
    follow.copy(client, args.job)
    return None


def _move(word: str) -> Any:
    def move(args: Args) -> Any:
        return connect(args).put(f"/job/{args.job}/{word}")

    return move


def restart(args: Args) -> Any:
    client = connect(args)
    body = {"task_arguments": args.arguments} if args.arguments else {}
    headers = {"Idempotency-Key": new_id()}
    return client.request("PUT", f"/job/{args.job}/restart", body, headers=headers).body


def resolve(args: Args) -> Any:
    body = {"outcome": args.outcome, "note": args.note}
    return connect(args).put(f"/job/{args.job}/resolve", body)


def give_input(args: Args) -> Any:
    return connect(args).put(f"/job/{args.job}/input", {"args": args.arguments})


def log_status(args: Args, answer: Any) -> int:
    return outcome.exit_status(answer) if args.follow else 0


def _decision(name: str, said: str, help_text: str) -> Verb:
    example = f"belvedere job {name} 65a000000000000000000001"
    return Verb(
        name, _move(name), help_text, example, job_rendering.show_decided(said), options=(JOB,)
    )


ARGUMENTS = option("arguments", metavar="ARGUMENT", nargs="*", help="values, in order")

VERBS = (
    Verb(
        "list",
        listed,
        "List jobs, newest first.",
        "belvedere job list --task deploy --open",
        job_rendering.show_jobs,
        options=(
            option("--task", metavar="TASK", help="only jobs of this task"),
            option("--host", metavar="HOST", help="only jobs on this host"),
            option("--state", metavar="STATE", help="only this state, like failure or lost"),
            option("--open", action="store_true", help="only what waits or runs"),
            option("--limit", type=int, default=20, metavar="N", help="how many (default 20)"),
            option("--after", metavar="ID", help="go on after this id"),
        ),
    ),
    Verb(
        "show",
        one,
        "Show one job.",
        "belvedere job show 65a000000000000000000001",
        job_rendering.show_job,
        options=(JOB,),
    ),
    Verb(
        "files",
        job_files.files,
        "List the files that a job left, or fetch them.",
        "belvedere job files 65a000000000000000000001 --save reports",
        job_files.show_files,
        options=(JOB, option("--save", metavar="FOLDER", help="fetch all of them into it")),
    ),
    Verb(
        "log",
        log,
        "Print a job's output; with --follow while it comes, and exit as the job does.",
        "belvedere job log 65a000000000000000000001 --follow",
        job_rendering.show_log,
        options=(
            JOB,
            option("--follow", action="store_true", help="stay until the job is over"),
            option("--search", metavar="TEXT", help="only the lines that hold this text"),
            option("--timestamps", action="store_true", help="say when each line was written"),
        ),
        status=log_status,
    ),
    Verb(
        "cancel",
        _move("cancel"),
        "Cancel a job; what runs is stopped with everything it started.",
        "belvedere job cancel 65a000000000000000000001",
        job_rendering.show_canceled,
        options=(JOB,),
    ),
    Verb(
        "restart",
        restart,
        "Run it again as a new job, with the same arguments unless others are given.",
        "belvedere job restart 65a000000000000000000001",
        job_rendering.say("Job {0} is {1}. Watch it with: belvedere job log {0} --follow"),
        options=(JOB, ARGUMENTS),
    ),
    Verb(
        "resolve",
        resolve,
        "Say how a lost or unreachable job ended.",
        "belvedere job resolve 65a000000000000000000001 success --note 'seen on the host'",
        job_rendering.say("Job {} is settled as {}."),
        options=(
            JOB,
            option("outcome", choices=("normal", "success", "failure"), help="how it ended"),
            option("--note", default="", metavar="TEXT", help="how you know"),
        ),
    ),
    _decision(
        "approve", "Job {} is approved.", "Approve an approval job; `job show` says what will run."
    ),
    _decision("reject", "Job {} is rejected.", "Reject an approval job."),
    Verb(
        "input",
        give_input,
        "Give a job the values it waits for.",
        "belvedere job input 65a000000000000000000001 blue 3",
        job_rendering.say("Job {} has its input and is {}."),
        options=(JOB, ARGUMENTS),
    ),
)
