"""`belvedere task`: the tasks that can be run."""

import dataclasses
import shlex

from belvedere.cli.automation import recipe, task_options
from belvedere.cli.framework import lookup, rendering, time_words, words
from belvedere.cli.framework.command import Args, Command, CommandError, Record, Show, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.jobs import run
from belvedere.client.http_client import Client

TASK = option("task", metavar="TASK", help="the task's name or id")
# Types whose jobs run on a host.
HOST_TYPES = ("script", "scraper")
# Hosts that a note about tasks of the same name lists.
MAX_HOSTS = 5
HOST = option("--host", metavar="HOST", help="the host, if several tasks have this name")


def list_all(args: Args) -> object:
    tasks = connect(args).get("/task", {"unassigned": "true"})
    if not args.host:
        return tasks
    return [task for task in tasks if args.host in (task["hostname"], task.get("host_id"))]


def get(args: Args) -> object:
    client = connect(args)
    task = client.get(f"/task/{_id(client, args)}")
    if task.get("approvers") and not args.json:
        names = {member["user_id"]: member["user"]["email"] for member in client.get("/api/member")}
        task["approvers"] = [names.get(member, member) for member in task["approvers"]]
    return task


def create(args: Args) -> object:
    client = connect(args)
    body = {"type": args.type, **task_options.fields(args)}
    if args.name:
        body["name"] = args.name
    if args.host:
        body["host_id"] = lookup.host(client, args.host)["id"]
    elif body["type"] in HOST_TYPES and not body.keys() & {"host_id", "hostname"}:
        body["host_id"] = _only_host(client)["id"]
    if args.timeout:
        body["timeout"] = task_options.timeout_ms(args.timeout)
    others = _tasks_named(client, body.get("name"))
    task: Record = client.post("/task", body)
    _report_others(task, others)
    return task if args.json else task | {"run_words": _run_words(task, others)}


def _tasks_named(client: Client, name: object) -> list[Record]:
    """Several tasks may share a name, for example one per host; the commands report the others."""
    tasks: list[Record] = client.get("/task", {"where[name]": name}) if name else []
    return tasks


def _report_others(task: Record, others: list[Record]) -> None:
    if not others:
        return
    hosts = sorted({other["hostname"] for other in others if other["hostname"]}, key=str.lower)
    noun = "Another task is" if len(others) == 1 else f"{len(others)} other tasks are"
    place = f" (on {', '.join(hosts[:MAX_HOSTS])})" if hosts else ""
    rendering.note(f"{noun} named {task['name']!r}{place}. Commands then need --host or an id.")


def _run_words(task: Record, others: list[Record]) -> list[str]:
    """What `belvedere run` needs for this task."""
    if not others:
        return [task["name"]]
    host = task.get("hostname")
    if not host or any(other["hostname"] == host for other in others):
        return [task["id"]]
    return [task["name"], "--host", host]


def _only_host(client: Client) -> Record:
    """The host of a task that names none: there is nothing to choose if there is only one."""
    hosts: list[Record] = client.get("/host")
    if len(hosts) != 1:
        raise CommandError("The task needs a host: --host HOST. See: belvedere host list", 2)
    return hosts[0]


def edit(args: Args) -> object:
    """Change only the given fields, unless the task was changed in the meantime."""
    body = task_options.fields(args)
    if args.name is not None:
        body["name"] = args.name
    if args.enable is not None:
        body["enable"] = args.enable
    if not body:
        raise CommandError("Nothing to change. Use an option, for example --script FILE.", 2)
    client = connect(args)
    task = lookup.task(client, args.task, args.host)
    same_name = _tasks_named(client, args.name)
    headers = {"If-Match": str(task["version"])}
    changed: Record = client.request("PATCH", f"/task/{task['id']}", body, headers=headers).body
    _report_others(changed, [other for other in same_name if other["id"] != task["id"]])
    return changed


def delete(args: Args) -> object:
    client = connect(args)
    return client.delete(f"/task/{_id(client, args)}")


def timeout(args: Args) -> object:
    client = connect(args)
    body = {"timeout": task_options.timeout_ms(args.timeout)}
    return client.put(f"/api/task/{_id(client, args)}/timeout", body)


def credentials(args: Args) -> object:
    client = connect(args)
    path = f"/task/{_id(client, args)}/credentials"
    if not args.rotate:
        return client.get(path)
    overlap = time_words.duration_ms(args.overlap) // 1_000
    return client.post(f"{path}/rotate", {"overlap": overlap})


def export(args: Args) -> object:
    client = connect(args)
    return client.get(f"/task/{_id(client, args)}/serialize")


def _id(client: Client, args: Args) -> str:
    return str(lookup.task(client, args.task, args.host)["id"])


def _kind(task: Record) -> str:
    return words.TASK_KINDS.get(task["type"], str(task["type"]))


def show_tasks(tasks: list[Record]) -> None:
    rendering.table(
        ("id", "task*", "kind", "host*", "arguments*"),
        (
            (
                task["id"],
                task["name"],
                _kind(task) if task["enable"] else "disabled",
                task["hostname"],
                _arguments(task),
            )
            for task in tasks
        ),
        "No tasks that you may see. Admins create one with:"
        " belvedere task create NAME --script FILE",
    )


def show_task(task: Record) -> None:
    rendering.fields(
        (
            ("id", task["id"]),
            ("task", task["name"]),
            ("description", task.get("description")),
            ("kind", _kind(task) if task["enable"] else f"{_kind(task)}, disabled"),
            ("host", task["hostname"]),
            ("script", (task.get("script") or {}).get("filename")),
            ("run as", task.get("script_runas")),
            ("arguments", _arguments(task)),
            ("timeout", _timeout(task)),
            ("history", _history(task.get("history"))),
            ("approvers", task.get("approvers")),
            ("who may run it", task["acl"] or "admins"),
            ("tags", task["tags"]),
            ("version", task["version"]),
            ("changed", time_words.when(task["last_update"])),
        )
    )


def _arguments(task: Record) -> list[str]:
    """Labels, with the type if it is not plain text."""
    kinds = [
        (argument.get("label") or "?", argument.get("type"))
        for argument in task.get("task_arguments") or ()
    ]
    return [label if kind == "input" else f"{label}:{kind}" for label, kind in kinds]


def _timeout(task: Record) -> str:
    timeout_ms = task.get("timeout")
    return time_words.span(timeout_ms / 1_000) if timeout_ms else "10 min (default)"


def _history(history: Record | None) -> str | None:
    if history is None:
        return None
    text = f"keeps {history['count']:,} jobs, {history['days']:,} days"
    return f"{text} (the organization's default)" if history.get("inherited") else text


def _show_created(task: Record) -> None:
    command = shlex.join(["belvedere", "run", *task["run_words"]])
    print(f"Task {task['name']} created. Run it with: {command}")


def _confirmation(text: str) -> Show:
    return lambda task: print(text.format(task["name"]))


COMMANDS = (
    dataclasses.replace(run.COMMANDS[0], example="belvedere task run deploy blue --follow"),
    Command(
        "list",
        list_all,
        "List the tasks that you may see.",
        "belvedere task list --host web-1",
        show_tasks,
        options=(option("--host", metavar="HOST", help="only tasks of this host"),),
    ),
    Command(
        "show",
        get,
        "Show a task.",
        "belvedere task show deploy --host web-1",
        show_task,
        options=(TASK, HOST),
    ),
    Command(
        "create",
        create,
        "Create a task.",
        "belvedere task create deploy --host web-1 --script deploy.sh --argument version",
        _show_created,
        options=(
            option("name", metavar="NAME", nargs="?", help="the task's name"),
            option("--host", metavar="HOST", help="the host that runs it (default: the only one)"),
            option(
                "--type",
                default="script",
                choices=tuple(words.TASK_KINDS),
                help=words.type_help("script", words.TASK_KINDS),
            ),
            option("--timeout", metavar="DURATION", help="stop the script after this time"),
            *task_options.OPTIONS,
        ),
    ),
    Command(
        "edit",
        edit,
        "Change a task. Fields that you omit are unchanged.",
        "belvedere task edit deploy --script deploy.sh",
        _confirmation("Task {} updated."),
        options=(
            TASK,
            HOST,
            option("--name", metavar="NAME", help="the new name"),
            option("--enable", action="store_true", default=None, help="enable it"),
            option("--disable", dest="enable", action="store_false", help="disable it"),
            *task_options.OPTIONS,
        ),
    ),
    Command(
        "delete",
        delete,
        "Delete a task; its waiting jobs expire.",
        "belvedere task delete deploy --host web-1",
        _confirmation("Task {} deleted."),
        options=(TASK, HOST),
    ),
    Command(
        "export",
        export,
        "Print a task with its script as a recipe, for: belvedere import recipe.",
        "belvedere task export deploy",
        recipe.print_recipe,
        options=(TASK, HOST),
    ),
    Command(
        "timeout",
        timeout,
        "Set the timeout of a task's script.",
        "belvedere task timeout deploy 30m",
        lambda task: print(f"The timeout of task {task['name']} is {_timeout(task)}."),
        options=(
            TASK,
            option("timeout", metavar="DURATION", help="30s, 10m, 2h, or `default`"),
            HOST,
        ),
    ),
    Command(
        "credentials",
        credentials,
        "Print a task's secret key, which can run only this task; reading it is audited.",
        "belvedere task credentials deploy --rotate --overlap 1h",
        lambda credentials: print(credentials["secret"]),
        options=(
            TASK,
            HOST,
            option("--rotate", action="store_true", help="rotate it first"),
            option(
                "--overlap",
                default="0s",
                metavar="DURATION",
                help="how long the old key stays valid (default 0s)",
            ),
        ),
    ),
)
