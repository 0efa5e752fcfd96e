"""`belvedere task`: what can be run."""

import shlex
from typing import Any

from belvedere.cli.automation import recipe, task_options
from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Stop, Verb, option
from belvedere.cli.framework.profile import connect
from belvedere.client.http_client import Client

TASK = option("task", metavar="TASK", help="the task's name or id")
HOST = option("--host", metavar="HOST", help="the host, where several tasks share the name")


def listed(args: Args) -> Any:
    tasks = connect(args).get("/task", {"unassigned": "true"})
    if not args.host:
        return tasks
    return [each for each in tasks if args.host in (each["hostname"], each.get("host_id"))]


def one(args: Args) -> Any:
    client = connect(args)
    task = client.get(f"/task/{_id(client, args)}")
    if task.get("approvers") and not args.json:
        names = {each["user_id"]: each["user"]["email"] for each in client.get("/api/member")}
        task["approvers"] = [names.get(each, each) for each in task["approvers"]]
    return task


def create(args: Args) -> Any:
    client = connect(args)
    body = {"type": args.type, **task_options.fields(args)}
    if args.name:
        body["name"] = args.name
    if args.host:
        body["host_id"] = lookup.host(client, args.host)["id"]
    if args.timeout:
        body["timeout"] = task_options.timeout_ms(args.timeout)
    return client.post("/task", body)


def edit(args: Args) -> Any:
    """Change what was said and nothing else, unless somebody changed the task meanwhile."""
    body = task_options.fields(args)
    if args.name:
        body["name"] = args.name
    if args.enable is not None:
        body["enable"] = args.enable
    if not body:
        raise Stop("Nothing to change; say what, for example with --script FILE.", 2)
    client = connect(args)
    task = lookup.task(client, args.task, args.host)
    headers = {"If-Match": str(task["version"])}
    return client.request("PATCH", f"/task/{task['id']}", body, headers=headers).body


def delete(args: Args) -> Any:
    client = connect(args)
    return client.delete(f"/task/{_id(client, args)}")


def timeout(args: Args) -> Any:
    client = connect(args)
    body = {"timeout": task_options.timeout_ms(args.timeout)}
    return client.put(f"/api/task/{_id(client, args)}/timeout", body)


def credentials(args: Args) -> Any:
    client = connect(args)
    path = f"/task/{_id(client, args)}/credentials"
    if not args.rotate:
        return client.get(path)
    overlap = time_words.duration_ms(args.overlap) // 1_000
    return client.post(f"{path}/rotate", {"overlap": overlap})


def export(args: Args) -> Any:
    client = connect(args)
    return client.get(f"/task/{_id(client, args)}/serialize")


def _id(client: Client, args: Args) -> str:
    return str(lookup.task(client, args.task, args.host)["id"])


def show_tasks(tasks: Any) -> None:
    rendering.table(
        ("id", "task*", "type", "host*", "arguments*"),
        (
            (
                each["id"],
                each["name"],
                each["type"] if each["enable"] else "disabled",
                each["hostname"],
                _arguments(each),
            )
            for each in tasks
        ),
        "No task that you may see. Admins make one with: belvedere task create NAME --script FILE",
    )


def show_task(task: Any) -> None:
    rendering.fields(
        (
            ("id", task["id"]),
            ("task", task["name"]),
            ("description", task.get("description")),
            ("type", task["type"] if task["enable"] else f"{task['type']}, disabled"),
            ("host", task["hostname"]),
            ("script", (task.get("script") or {}).get("filename")),
            ("run as", task.get("script_runas")),
            ("arguments", _arguments(task)),
            ("timeout", _timeout(task)),
            ("approvers", task.get("approvers")),
            ("who may run it", task["acl"] or "admins"),
            ("tags", task["tags"]),
            ("version", task["version"]),
            ("changed", time_words.when(task["last_update"])),
        )
    )


def _arguments(task: Any) -> list[str]:
    """Labels, with the kind where it is not plain text."""
    kinds = [(one.get("label") or "?", one.get("type")) for one in task.get("task_arguments") or ()]
    return [label if kind == "input" else f"{label}:{kind}" for label, kind in kinds]


def _timeout(task: Any) -> str:
    given = task.get("timeout")
    return time_words.span(given / 1_000) if given else "10 min (default)"


def _say(text: str) -> Any:
    return lambda task: print(text.format(task["name"]))


VERBS = (
    Verb(
        "list",
        listed,
        "List the tasks that you may see.",
        "belvedere task list --host web-1",
        show_tasks,
        options=(option("--host", metavar="HOST", help="only tasks of this host"),),
    ),
    Verb(
        "show",
        one,
        "Show one task.",
        "belvedere task show deploy --host web-1",
        show_task,
        options=(TASK, HOST),
    ),
    Verb(
        "create",
        create,
        "Make a task.",
        "belvedere task create deploy --host web-1 --script deploy.sh --argument version",
        lambda task: print(
            f"Task {task['name']} is made. Run it with: belvedere run {shlex.quote(task['name'])}"
        ),
        options=(
            option("name", metavar="NAME", nargs="?", help="the task's name"),
            option("--host", metavar="HOST", help="where it runs"),
            option(
                "--type",
                default="script",
                choices=("script", "scraper", "approval", "dummy", "notification"),
                help="what it does (default script)",
            ),
            option("--timeout", metavar="DURATION", help="it is stopped after this long"),
            *task_options.OPTIONS,
        ),
    ),
    Verb(
        "edit",
        edit,
        "Change a task. What is not named stays as it is.",
        "belvedere task edit deploy --script deploy.sh",
        _say("Task {} is changed."),
        options=(
            TASK,
            HOST,
            option("--name", metavar="NAME", help="another name"),
            option("--enable", action="store_true", default=None, help="let it run again"),
            option("--disable", dest="enable", action="store_false", help="refuse to run it"),
            *task_options.OPTIONS,
        ),
    ),
    Verb(
        "delete",
        delete,
        "Delete a task; its waiting jobs expire.",
        "belvedere task delete deploy --host web-1",
        _say("Task {} is deleted."),
        options=(TASK, HOST),
    ),
    Verb(
        "export",
        export,
        "Print a task with its script as a recipe, for: belvedere import recipe.",
        "belvedere task export deploy",
        recipe.print_one,
        options=(TASK, HOST),
    ),
    Verb(
        "timeout",
        timeout,
        "Set after how long a running script is stopped.",
        "belvedere task timeout deploy 30m",
        lambda task: print(f"Task {task['name']} is stopped after {_timeout(task)}."),
        options=(
            TASK,
            option("timeout", metavar="DURATION", help="30s, 10m, 2h, or `default`"),
            HOST,
        ),
    ),
    Verb(
        "credentials",
        credentials,
        "Print a task's secret key, which runs this task and nothing else; reading is audited.",
        "belvedere task credentials deploy --rotate --overlap 1h",
        lambda answer: print(answer["secret"]),
        options=(
            TASK,
            HOST,
            option("--rotate", action="store_true", help="change it first"),
            option(
                "--overlap",
                default="0s",
                metavar="DURATION",
                help="how long the old key still works (default: not at all)",
            ),
        ),
    ),
)
