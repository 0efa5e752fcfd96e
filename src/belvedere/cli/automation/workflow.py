"""`belvedere workflow`: tasks that run in order."""

import json
import shlex
import sys
from pathlib import Path

from belvedere.base.ids import is_id, new_id
from belvedere.cli.automation import recipe, workflow_rendering
from belvedere.cli.framework import lookup, time_words
from belvedere.cli.framework.command import Args, Command, CommandError, Record, Show, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.jobs import follow, outcome
from belvedere.client.http_client import Client

WORKFLOW = option("workflow", metavar="WORKFLOW", help="its name or id")
JOB = option("job", metavar="JOB", help="the id or short id of a job of the workflow")
FILE = option("file", metavar="FILE", help="the definition as a JSON object; - is stdin")


def list_all(args: Args) -> object:
    return connect(args).get("/workflows")


def get(args: Args) -> object:
    return _lookup(connect(args), args)


def create(args: Args) -> object:
    client = connect(args)
    return client.post("/workflows", _definition(client, args))


def edit(args: Args) -> object:
    """Change only the given fields, unless the workflow was changed in the meantime."""
    client = connect(args)
    workflow = _lookup(client, args)
    body = _definition(client, args) if args.file else {}
    values = {"name": args.name, "enable": args.enable, "multitasking": args.multitasking}
    body |= {name: value for name, value in values.items() if value is not None}
    if not body:
        raise CommandError("Nothing to change. Use an option, for example --from FILE.", 2)
    headers = {"If-Match": str(workflow["version"])}
    return client.request("PATCH", f"/workflows/{workflow['id']}", body, headers=headers).body


def delete(args: Args) -> object:
    client = connect(args)
    return client.delete(_path(client, args))


def run(args: Args) -> object:
    client = connect(args)
    body: Record = {"task_arguments": args.values}
    if args.start:
        body["task"] = args.start
    if args.assignee:
        body["assignee"] = args.assignee
    # The key makes it safe to send the request again if the connection breaks.
    headers = {"Idempotency-Key": new_id()}
    job = client.request("POST", f"{_path(client, args)}/job", body, headers=headers).body
    return follow.follow_to_end(client, job, is_live=False, is_json=args.json) if args.wait else job


def status(args: Args, job: Record) -> int:
    return outcome.exit_status(job) if args.wait else 0


def jobs(args: Args) -> object:
    client = connect(args)
    query = {"where[_type]": "WorkflowJob", "limit": args.limit}
    return client.get(f"{_path(client, args)}/job", query)


def steps(args: Args) -> object:
    client = lookup.connect_to_job(args)
    path = f"{_path(client, args)}/job/{args.job}"
    # Which visit of its node each job was, for graphs with cycles.
    visits = {step["job_id"]: step["visit"] for step in client.get(f"{path}/steps")}
    jobs = reversed(client.get(f"{path}/jobs"))
    return [{**job, "visit": visits.get(job["id"])} for job in jobs]


def cancel(args: Args) -> object:
    client = lookup.connect_to_job(args)
    return client.put(f"{_path(client, args)}/job/{args.job}/cancel")


def restart(args: Args) -> object:
    client = lookup.connect_to_job(args)
    path = f"{_path(client, args)}/job/{args.job}/restart"
    if args.values and not args.from_step:
        raise CommandError("Arguments need --from-step: the step that they are for.", 2)
    if args.from_step:
        query = {"from": "step", "step": args.from_step}
        body = {"task_arguments": args.values} if args.values else None
        return client.request("PUT", path, body, query=query).body
    if not args.from_start:
        return client.put(path)
    headers = {"Idempotency-Key": new_id()}
    return client.request("PUT", path, query={"from": "start"}, headers=headers).body


def credentials(args: Args) -> object:
    client = connect(args)
    workflow = _lookup(client, args)
    path = f"/workflows/{workflow['id']}/credentials"
    if args.rotate:
        overlap = time_words.duration_ms(args.overlap) // 1_000
        secret = client.post(f"{path}/rotate", {"overlap": overlap})
    else:
        secret = client.get(path)
    endpoint = f"{client.server}/workflows/{workflow['id']}/secret/{secret['secret']}/job"
    return {**secret, "url": f"{endpoint}?customer={workflow['customer_name']}"}


def export(args: Args) -> object:
    client = connect(args)
    return client.get(f"{_path(client, args)}/serialize")


def _lookup(client: Client, args: Args) -> Record:
    return lookup.workflow(client, args.workflow)


def _path(client: Client, args: Args) -> str:
    return f"/workflows/{_lookup(client, args)['id']}"


def _definition(client: Client, args: Args) -> Record:
    """The file's content; it may refer to tasks and workflows by name."""
    try:
        text = sys.stdin.read() if args.file == "-" else Path(args.file).read_text()
        body = json.loads(text)
    except OSError as fault:
        raise CommandError(f"Cannot read {args.file} ({fault.strerror}).") from None
    except ValueError as fault:
        raise CommandError(f"{args.file} is not JSON: {fault}.") from None
    if not isinstance(body, dict):
        raise CommandError(f"{args.file} must contain a JSON object.")
    graph = body.get("graph")
    for node in graph.get("nodes", []) if isinstance(graph, dict) else []:
        _resolve_names(client, node)
    return body


def _resolve_names(client: Client, node: object) -> None:
    if not isinstance(node, dict):
        return
    name = node.get("task_id")
    if isinstance(name, str) and not is_id(name):
        node["task_id"] = lookup.task(client, name, node.get("host"))["id"]
    name = node.get("workflow_id")
    if isinstance(name, str) and not is_id(name):
        node["workflow_id"] = lookup.workflow(client, name)["id"]


def _confirmation(text: str) -> Show:
    return lambda workflow: print(text.format(workflow["name"], shlex.quote(workflow["name"])))


COMMANDS = (
    Command(
        "list",
        list_all,
        "List workflows.",
        "belvedere workflow list",
        workflow_rendering.workflows,
    ),
    Command(
        "show",
        get,
        "Show a workflow with its steps.",
        "belvedere workflow show release",
        workflow_rendering.workflow,
        options=(WORKFLOW,),
    ),
    Command(
        "create",
        create,
        "Create a workflow from a file. Nodes may refer to tasks by name, with `host` if several "
        "tasks have that name.",
        "belvedere workflow create release.json",
        _confirmation("Workflow {0} created. Run it with: belvedere workflow run {1}"),
        options=(FILE,),
    ),
    Command(
        "edit",
        edit,
        "Change a workflow. Fields that you omit are unchanged.",
        "belvedere workflow edit release --from release.json",
        _confirmation("Workflow {} updated."),
        options=(
            WORKFLOW,
            option("--from", dest="file", metavar="FILE", help="fields as a JSON object"),
            option("--name", metavar="NAME", help="the new name"),
            option("--enable", action="store_true", default=None, help="enable it"),
            option("--disable", dest="enable", action="store_false", help="disable it"),
            option(
                "--one-at-a-time",
                dest="multitasking",
                action="store_false",
                default=None,
                help="run one job at a time; others wait",
            ),
            option(
                "--many-at-a-time",
                dest="multitasking",
                action="store_true",
                help="run jobs concurrently",
            ),
        ),
    ),
    Command(
        "delete",
        delete,
        "Delete a workflow; its tasks stay.",
        "belvedere workflow delete release",
        _confirmation("Workflow {} deleted."),
        options=(WORKFLOW,),
    ),
    Command(
        "export",
        export,
        "Print a workflow with its tasks and scripts as a recipe, for: belvedere import recipe.",
        "belvedere workflow export release",
        recipe.print_recipe,
        options=(WORKFLOW,),
    ),
    Command(
        "run",
        run,
        "Run a workflow. With --wait the exit status is 0 if it succeeded, 1 if a step failed, 130 "
        "if it was canceled.",
        "belvedere workflow run release v1.4 --wait",
        workflow_rendering.started,
        options=(
            WORKFLOW,
            option("values", metavar="VALUE", nargs="*", help="arguments of the first step"),
            option("--start", metavar="NODE", help="start with this node instead"),
            option(
                "--assignee",
                metavar="MEMBER",
                action="append",
                help="assign the job to this member; can be repeated",
            ),
            option("--wait", action="store_true", help="wait for it to finish"),
        ),
        status=status,
    ),
    Command(
        "jobs",
        jobs,
        "List the jobs of a workflow, newest first.",
        "belvedere workflow jobs release",
        workflow_rendering.jobs,
        options=(
            WORKFLOW,
            option("--limit", default="20", metavar="N", help="maximum number (default 20)"),
        ),
    ),
    Command(
        "steps",
        steps,
        "List the steps of a workflow job.",
        "belvedere workflow steps release 65a0000000000000000000d1",
        workflow_rendering.steps,
        options=(WORKFLOW, JOB),
    ),
    Command(
        "cancel",
        cancel,
        "Cancel a workflow job with all its steps.",
        "belvedere workflow cancel release 65a0000000000000000000d1",
        lambda job: print(f"Job {job['id']} is {job['lifecycle']}."),
        options=(WORKFLOW, JOB),
    ),
    Command(
        "restart",
        restart,
        "Run a workflow job again as a new job: from its failed steps, from one step, or in full.",
        "belvedere workflow restart release 65a0000000000000000000d1",
        workflow_rendering.started,
        options=(
            WORKFLOW,
            JOB,
            option(
                "--from-start",
                action="store_true",
                help="run all steps again, with the same arguments",
            ),
            option(
                "--from-step",
                metavar="STEP",
                help="run this step and those after it again; earlier steps keep their output",
            ),
            option(
                "values",
                metavar="VALUE",
                nargs="*",
                help="with --from-step: all arguments of the step (default: the same as before)",
            ),
        ),
    ),
    Command(
        "credentials",
        credentials,
        "Print the address that runs the workflow, with its secret key; reading it is audited.",
        "belvedere workflow credentials release --rotate",
        lambda credentials: print(credentials["url"]),
        options=(
            WORKFLOW,
            option("--rotate", action="store_true", help="rotate the secret key first"),
            option(
                "--overlap",
                default="0s",
                metavar="DURATION",
                help="how long the old key stays valid (default 0s)",
            ),
        ),
    ),
)
