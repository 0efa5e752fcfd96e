"""`belvedere workflow`: tasks in order."""

import json
import sys
from pathlib import Path
from typing import Any

from belvedere.base.ids import is_id, new_id
from belvedere.cli.automation import recipe, workflow_rendering
from belvedere.cli.framework import lookup, time_words
from belvedere.cli.framework.command import Args, Stop, Verb, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.jobs import follow, outcome
from belvedere.client.http_client import Client

WORKFLOW = option("workflow", metavar="WORKFLOW", help="its name or id")
JOB = option("job", metavar="JOB", help="the id of a job of the workflow")
FILE = option("file", metavar="FILE", help="the definition as a JSON object; - is stdin")


def listed(args: Args) -> Any:
    return connect(args).get("/workflows")


def one(args: Args) -> Any:
    return _found(connect(args), args)


def create(args: Args) -> Any:
    client = connect(args)
    return client.post("/workflows", _definition(client, args))


def edit(args: Args) -> Any:
    """Change what was said and nothing else, unless somebody changed the workflow meanwhile."""
    client = connect(args)
    flow = _found(client, args)
    body = _definition(client, args) if args.file else {}
    given = {"name": args.name, "enable": args.enable, "multitasking": args.multitasking}
    body |= {name: value for name, value in given.items() if value is not None}
    if not body:
        raise Stop("Nothing to change; say what, for example with --from FILE.", 2)
    headers = {"If-Match": str(flow["version"])}
    return client.request("PATCH", f"/workflows/{flow['id']}", body, headers=headers).body


def delete(args: Args) -> Any:
    client = connect(args)
    return client.delete(_path(client, args))


def run(args: Args) -> Any:
    client = connect(args)
    body: dict[str, Any] = {"task_arguments": args.values}
    if args.start:
        body["task"] = args.start
    # The key makes it safe to send this again when the connection breaks under it.
    headers = {"Idempotency-Key": new_id()}
    job = client.request("POST", f"{_path(client, args)}/job", body, headers=headers).body
    return follow.to_the_end(client, job, is_live=False, is_json=args.json) if args.wait else job


def status(args: Args, job: Any) -> int:
    return outcome.exit_status(job) if args.wait else 0


def jobs(args: Args) -> Any:
    client = connect(args)
    query = {"where[_type]": "WorkflowJob", "limit": args.limit}
    return client.get(f"{_path(client, args)}/job", query)


def steps(args: Args) -> Any:
    client = connect(args)
    path = f"{_path(client, args)}/job/{args.job}"
    # Which visit of a node each job was, where edges lead round in a circle.
    visits = {one["job_id"]: one["visit"] for one in client.get(f"{path}/steps")}
    found = reversed(client.get(f"{path}/jobs"))
    return [{**job, "visit": visits.get(job["id"])} for job in found]


def cancel(args: Args) -> Any:
    client = connect(args)
    return client.put(f"{_path(client, args)}/job/{args.job}/cancel")


def restart(args: Args) -> Any:
    client = connect(args)
    return client.put(f"{_path(client, args)}/job/{args.job}/restart")


def credentials(args: Args) -> Any:
    client = connect(args)
    flow = _found(client, args)
    path = f"/workflows/{flow['id']}/credentials"
    if args.rotate:
        overlap = time_words.duration_ms(args.overlap) // 1_000
        answer = client.post(f"{path}/rotate", {"overlap": overlap})
    else:
        answer = client.get(path)
    place = f"{client.server}/workflows/{flow['id']}/secret/{answer['secret']}/job"
    return {**answer, "url": f"{place}?customer={flow['customer_name']}"}


def export(args: Args) -> Any:
    client = connect(args)
    return client.get(f"{_path(client, args)}/serialize")


def _found(client: Client, args: Args) -> dict[str, Any]:
    return lookup.workflow(client, args.workflow)


def _path(client: Client, args: Args) -> str:
    return f"/workflows/{_found(client, args)['id']}"


def _definition(client: Client, args: Args) -> dict[str, Any]:
    """The file; tasks and workflows may stand in it by their names."""
    try:
        text = sys.stdin.read() if args.file == "-" else Path(args.file).read_text()
        body = json.loads(text)
    except OSError as fault:
        raise Stop(f"{args.file} cannot be read ({fault.strerror}).") from None
    except ValueError as fault:
        raise Stop(f"{args.file} is not JSON: {fault}.") from None
    if not isinstance(body, dict):
        raise Stop(f"{args.file} must hold one JSON object.")
    graph = body.get("graph")
    for node in graph.get("nodes", []) if isinstance(graph, dict) else []:
        _look_up(client, node)
    return body


def _look_up(client: Client, node: Any) -> None:
    named = node.get("task_id") if isinstance(node, dict) else None
    if isinstance(named, str) and not is_id(named):
        node["task_id"] = lookup.task(client, named, node.get("host"))["id"]
    named = node.get("workflow_id") if isinstance(node, dict) else None
    if isinstance(named, str) and not is_id(named):
        node["workflow_id"] = lookup.workflow(client, named)["id"]


def _say(text: str) -> Any:
    return lambda flow: print(text.format(flow["name"]))


VERBS = (
    Verb(
        "list",
        listed,
        "List the workflows.",
        "belvedere workflow list",
        workflow_rendering.workflows,
    ),
    Verb(
        "show",
        one,
        "Show one workflow with its steps.",
        "belvedere workflow show release",
        workflow_rendering.workflow,
        options=(WORKFLOW,),
    ),
    Verb(
        "create",
        create,
        "Make a workflow from a file. Nodes may name tasks by name, with `host` where several "
        "share it.",
        "belvedere workflow create release.json",
        _say("Workflow {0} is made. Run it with: belvedere workflow run {0}"),
        options=(FILE,),
    ),
    Verb(
        "edit",
        edit,
        "Change a workflow. What is not named stays as it is.",
        "belvedere workflow edit release --from release.json",
        _say("Workflow {} is changed."),
        options=(
            WORKFLOW,
            option("--from", dest="file", metavar="FILE", help="fields as a JSON object"),
            option("--name", metavar="NAME", help="another name"),
            option("--enable", action="store_true", default=None, help="let it run again"),
            option("--disable", dest="enable", action="store_false", help="let nobody run it"),
            option(
                "--one-at-a-time",
                dest="multitasking",
                action="store_false",
                default=None,
                help="further jobs wait for their turn",
            ),
            option(
                "--many-at-a-time", dest="multitasking", action="store_true", help="they do not"
            ),
        ),
    ),
    Verb(
        "delete",
        delete,
        "Delete a workflow; its tasks stay.",
        "belvedere workflow delete release",
        _say("Workflow {} is deleted."),
        options=(WORKFLOW,),
    ),
    Verb(
        "export",
        export,
        "Print a workflow with its tasks and scripts as a recipe, for: belvedere import recipe.",
        "belvedere workflow export release",
        recipe.print_one,
        options=(WORKFLOW,),
    ),
    Verb(
        "run",
        run,
        "Run a workflow. With --wait the exit status is 0 when all went well, 1 when a step "
        "failed, 130 when it was canceled.",
        "belvedere workflow run release v1.4 --wait",
        workflow_rendering.started,
        options=(
            WORKFLOW,
            option("values", metavar="VALUE", nargs="*", help="arguments of the first step"),
            option("--start", metavar="NODE", help="begin with this node instead"),
            option("--wait", action="store_true", help="wait until it is over"),
        ),
        status=status,
    ),
    Verb(
        "jobs",
        jobs,
        "List the jobs of a workflow, newest first.",
        "belvedere workflow jobs release",
        workflow_rendering.jobs,
        options=(
            WORKFLOW,
            option("--limit", default="20", metavar="N", help="at most so many (default 20)"),
        ),
    ),
    Verb(
        "steps",
        steps,
        "List the steps that a job of a workflow has taken.",
        "belvedere workflow steps release 65a0000000000000000000d1",
        workflow_rendering.steps,
        options=(WORKFLOW, JOB),
    ),
    Verb(
        "cancel",
        cancel,
        "Cancel a job of a workflow with all of its steps.",
        "belvedere workflow cancel release 65a0000000000000000000d1",
        lambda job: print(f"Job {job['id']} is {job['lifecycle']}."),
        options=(WORKFLOW, JOB),
    ),
    Verb(
        "restart",
        restart,
        "Go on from the steps that failed, as a new job.",
        "belvedere workflow restart release 65a0000000000000000000d1",
        workflow_rendering.started,
        options=(WORKFLOW, JOB),
    ),
    Verb(
        "credentials",
        credentials,
        "Print the address that runs it, with its secret key; reading is audited.",
        "belvedere workflow credentials release --rotate",
        lambda answer: print(answer["url"]),
        options=(
            WORKFLOW,
            option("--rotate", action="store_true", help="change the secret key first"),
            option(
                "--overlap", default="0s", metavar="DURATION", help="how long the old one works"
            ),
        ),
    ),
)
