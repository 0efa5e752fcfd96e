"""`belvedere job`: list and show jobs, read their logs, cancel, approve and restart them."""

from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping

from belvedere.base.ids import as_short_id, is_id, new_id
from belvedere.cli.framework import lookup
from belvedere.cli.framework.command import Args, Command, CommandError, Record, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.jobs import follow, job_files, job_rendering, outcome
from belvedere.client.http_client import Client

# How many jobs the server examines per request.
SCAN_LIMIT = 20_000
# The largest page that the server returns.
MAX_PAGE = 1_000
HELD_PAGE = 500


def job_id(text: str) -> str:
    if not is_id(text) and as_short_id(text) is None:
        raise ArgumentTypeError(f"{text!r} is not a job id; see: belvedere job list")
    return text


JOB = option("job", metavar="JOB", type=job_id, help="the job's id or short id")


def list_all(args: Args) -> object:
    client = connect(args)
    # In steps, because a filter that few jobs match would make a single request slow.
    query: Record = {"look": SCAN_LIMIT}
    if args.task:
        query["where[task_id]"] = lookup.task(client, args.task, None)["id"]
    if args.host:
        query["where[host_id]"] = lookup.host(client, args.host)["id"]
    if args.state:
        query["where[state]"] = args.state
    if args.held:
        query["where[lifecycle]"] = "onhold"
        query["where[reason]"] = "restored"
    elif args.open:
        query["where[lifecycle][$in][]"] = sorted(outcome.OPEN_LIFECYCLES)
    if args.after:
        query["after"] = lookup.job_id(client, args.after)
    limit = args.limit or MAX_PAGE
    jobs = client.read_list("/job", query, limit)
    if args.json:
        return jobs
    # Only finished jobs are removed, and a full page is not the end of the list.
    can_lack_jobs = not args.open and not args.held and len(jobs) < limit
    removed = _removed_jobs(client, query) if can_lack_jobs else None
    return {"jobs": _with_hostnames(client, jobs), "removed": removed}


def _removed_jobs(client: Client, query: Record) -> Record | None:
    """How many jobs of the listed task, or of all tasks, retention or a person removed."""
    task_id = query.get("where[task_id]")
    removed: Record = client.get("/job/removed", {"task": task_id} if task_id else {})
    return removed if removed["count"] else None


def get(args: Args) -> object:
    client = lookup.connect_to_job(args)
    job = client.get(f"/job/{args.job}")
    return job if args.json else _with_hostnames(client, [job])[0]


def _with_hostnames(client: Client, jobs: list[Record]) -> list[Record]:
    """Records have the host's id; people know hosts by name."""
    names = {host["id"]: host["hostname"] for host in client.get("/host")} if jobs else {}
    return [{**job, "hostname": names.get(job["host_id"], job["host_id"])} for job in jobs]


def log(args: Args) -> object:
    client = lookup.connect_to_job(args)
    if args.search:
        return client.get(f"/job/{args.job}/log/search", {"q": args.search})["lines"]
    if args.follow and args.timestamps:
        raise CommandError("--timestamps cannot be combined with --follow.", 2)
    if args.follow:
        return follow.follow_to_end(client, {"id": args.job}, is_live=True, is_json=args.json)
    if args.json:
        return client.get(f"/job/{args.job}/log")
    if args.timestamps:
        follow.print_with_times(client, args.job)
    else:
        follow.copy_log(client, args.job)
    return None


def _action(name: str) -> Callable[[Args], object]:
    def put(args: Args) -> object:
        client = lookup.connect_to_job(args)
        return client.put(f"/job/{args.job}/{name}")

    return put


def restart(args: Args) -> object:
    client = lookup.connect_to_job(args)
    body = {"task_arguments": args.arguments} if args.arguments else {}
    headers = {"Idempotency-Key": new_id()}
    return client.request("PUT", f"/job/{args.job}/restart", body, headers=headers).body


def resolve(args: Args) -> object:
    client = lookup.connect_to_job(args)
    body = {"outcome": args.outcome, "note": args.note}
    return client.put(f"/job/{args.job}/resolve", body)


def release(args: Args) -> object:
    if bool(args.job) == args.all:
        raise CommandError("Specify a job, or use --all.", 2)
    client = lookup.connect_to_job(args)
    if args.job:
        client.put(f"/job/{args.job}/release")
        return {"released": 1}
    count, more = 0, True
    while more:
        answer = client.post("/job/release", {})
        count, more = count + answer["released"], answer["more"]
    return {"released": count}


def list_held(args: Args) -> object:
    """All of them, page by page."""
    client = connect(args)
    answer: Record = client.get("/job/held", {"limit": HELD_PAGE})
    while len(answer["jobs"]) < answer["total"]:
        last = answer["jobs"][-1]["id"]
        jobs = client.get("/job/held", {"limit": HELD_PAGE, "after": last})["jobs"]
        if not jobs:
            break
        answer["jobs"] += jobs
    return answer


def show_released(answer: Mapping[str, object]) -> None:
    print(f"Released held jobs: {answer['released']}.")


def assign(args: Args) -> object:
    client = lookup.connect_to_job(args)
    client.put(f"/job/{args.job}/assignee", args.people)
    return client.get(f"/job/{args.job}/participants")


def show_assigned(people: Mapping[str, list[Record]]) -> None:
    names = ", ".join(person["email"] or person["username"] for person in people["assignee"])
    print(f"Assigned to {names}.")


def give_input(args: Args) -> object:
    client = lookup.connect_to_job(args)
    return client.put(f"/job/{args.job}/input", {"args": args.arguments})


def log_status(args: Args, job: Record) -> int:
    return outcome.exit_status(job) if args.follow else 0


def _decision_command(name: str, message: str, help_text: str) -> Command:
    example = f"belvedere job {name} 65a000000000000000000001"
    return Command(
        name,
        _action(name),
        help_text,
        example,
        job_rendering.show_decision(message),
        options=(JOB,),
    )


ARGUMENTS = option("arguments", metavar="ARGUMENT", nargs="*", help="values, in order")

COMMANDS = (
    Command(
        "list",
        list_all,
        "List jobs, newest first.",
        "belvedere job list --task deploy --open",
        job_rendering.show_jobs,
        options=(
            option("--task", metavar="TASK", help="only jobs of this task"),
            option("--host", metavar="HOST", help="only jobs on this host"),
            option("--state", metavar="STATE", help="only this state, for example failure or lost"),
            option("--open", action="store_true", help="only jobs that are waiting or running"),
            option("--held", action="store_true", help="only jobs that are held after a restore"),
            option(
                "--limit", type=int, default=20, metavar="N", help="maximum number (default 20)"
            ),
            option("--after", metavar="ID", help="continue after this id"),
        ),
    ),
    Command(
        "show",
        get,
        "Show a job.",
        "belvedere job show 65a000000000000000000001",
        job_rendering.show_job,
        options=(JOB,),
    ),
    Command(
        "files",
        job_files.files,
        "List the files that a job produced, or download them.",
        "belvedere job files 65a000000000000000000001 --save reports",
        job_files.show_files,
        options=(
            JOB,
            option("--save", metavar="FOLDER", help="download all of them into this folder"),
        ),
    ),
    Command(
        "log",
        log,
        "Print a job's output; with --follow, live and with the job's exit status.",
        "belvedere job log 65a000000000000000000001 --follow",
        job_rendering.show_log,
        options=(
            JOB,
            option("--follow", action="store_true", help="wait for the job to finish"),
            option("--search", metavar="TEXT", help="only lines that contain this text"),
            option("--timestamps", action="store_true", help="print the time of each line"),
        ),
        status=log_status,
    ),
    Command(
        "cancel",
        _action("cancel"),
        "Cancel a job; a running script is stopped with all its processes.",
        "belvedere job cancel 65a000000000000000000001",
        job_rendering.show_canceled,
        options=(JOB,),
    ),
    Command(
        "restart",
        restart,
        "Run a job again as a new job, with the same arguments unless you give others.",
        "belvedere job restart 65a000000000000000000001",
        job_rendering.confirmation(
            "Job {0} is {1}. Follow it with: belvedere job log {0} --follow"
        ),
        options=(JOB, ARGUMENTS),
    ),
    Command(
        "resolve",
        resolve,
        "Set the result of a lost or unreachable job.",
        "belvedere job resolve 65a000000000000000000001 success --note 'seen on the host'",
        job_rendering.confirmation("Job {} resolved as {}."),
        options=(
            JOB,
            option("outcome", choices=("normal", "success", "failure"), help="the result"),
            option("--note", default="", metavar="TEXT", help="a note, for example how you know"),
        ),
    ),
    Command(
        "hold",
        _action("hold"),
        "Keep a queued job from starting until it is released.",
        "belvedere job hold 65a000000000000000000001",
        job_rendering.confirmation("Job {} is on hold."),
        options=(JOB,),
    ),
    Command(
        "assign",
        assign,
        "Assign a job and its steps to other people; they decide an approval whose "
        "approvals_target is assignees.",
        "belvedere job assign 65a000000000000000000001 ada@example.com",
        show_assigned,
        options=(
            JOB,
            option("people", metavar="MEMBER", nargs="+", help="e-mail addresses or user names"),
        ),
    ),
    Command(
        "held",
        list_held,
        "List the jobs held since the database was restored, and why each may have run.",
        "belvedere job held",
        job_rendering.show_held,
    ),
    Command(
        "release",
        release,
        "Release a job that is on hold, or one that has been held since the database was restored;"
        " the latter may already have run.",
        "belvedere job release 65a000000000000000000001",
        show_released,
        options=(
            option("job", metavar="JOB", type=job_id, nargs="?", help="the job's id or short id"),
            option(
                "--all",
                action="store_true",
                help="release all jobs held since the restore",
            ),
        ),
    ),
    _decision_command(
        "approve", "Job {} approved.", "Approve an approval job; `job show` shows what will run."
    ),
    _decision_command("reject", "Job {} rejected.", "Reject an approval job."),
    Command(
        "input",
        give_input,
        "Provide the input that a job is waiting for.",
        "belvedere job input 65a000000000000000000001 blue 3",
        job_rendering.confirmation("Job {} received its input and is {}."),
        options=(JOB, ARGUMENTS),
    ),
)
