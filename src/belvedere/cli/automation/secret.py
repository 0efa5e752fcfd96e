"""`belvedere secret`: environment variables and secrets for scripts."""

import sys
from urllib.parse import quote

from belvedere.cli.framework import lookup, rendering, terminal, time_words
from belvedere.cli.framework.command import Args, Command, Record, Show, option
from belvedere.cli.framework.profile import connect
from belvedere.client.http_client import Client

NAME = option("name", metavar="NAME", help="the name of the variable in the environment")
TASK = option("--task", metavar="TASK", help="only for scripts of this task")
HOST = option("--host", metavar="HOST", help="the host, if several tasks have this name")


def list_all(args: Args) -> object:
    client = connect(args)
    task = _task(client, args)
    secrets = client.get("/secret", {"where[task_id]": task["id"]} if task else None)
    return _with_task_names(client, secrets)


def put(args: Args) -> object:
    """The value is never an argument: `ps` and the shell's history would show it."""
    client = connect(args)
    body: Record = {"value": _value(args), "secret": not args.variable}
    if args.description is not None:
        body["description"] = args.description
    task = _task(client, args)
    if task:
        body["task_id"] = task["id"]
    return {**client.put(_path(args), body), "task": task.get("name")}


def _value(args: Args) -> str:
    if sys.stdin.isatty():
        return terminal.secret(f"Value of {args.name}: ")
    # All of stdin, because a key has many lines; without the newline that `echo` adds.
    value = sys.stdin.read()
    return value[:-1] if value.endswith("\n") else value


def delete(args: Args) -> object:
    client = connect(args)
    task = _task(client, args)
    query = {"task_id": task["id"]} if task else None
    return {**client.delete(_path(args), query), "task": task.get("name")}


def _path(args: Args) -> str:
    return f"/secret/{quote(args.name, safe='')}"


def _task(client: Client, args: Args) -> Record:
    return lookup.task(client, args.task, args.host) if args.task else {}


def _with_task_names(client: Client, secrets: list[Record]) -> list[Record]:
    """Each secret with the name of its task, which people know better than its id."""
    has_task = any(secret["task_id"] for secret in secrets)
    names = {task["id"]: task["name"] for task in client.get("/task")} if has_task else {}
    return [{**secret, "task": names.get(secret["task_id"])} for secret in secrets]


def show_secrets(secrets: list[Record]) -> None:
    rendering.table(
        ("name", "kind", "available to", "value*", "changed", "changed by*", "description*"),
        (
            (
                secret["name"],
                "secret" if secret["secret"] else "variable",
                secret["task"] or secret["task_id"] or "every task",
                secret.get("value", "***"),
                time_words.age(secret["last_update"]),
                secret["updated_by"],
                secret["description"],
            )
            for secret in secrets
        ),
        "No secrets yet. Set one with: belvedere secret set NAME",
    )


def _confirmation(text: str) -> Show:
    return lambda secret: print(
        text.format(
            "Secret" if secret["secret"] else "Variable",
            secret["name"],
            f" for the task {secret['task']}" if secret["task"] else "",
        )
    )


COMMANDS = (
    Command(
        "list",
        list_all,
        "List secrets by name, and variables with their values.",
        "belvedere secret list",
        show_secrets,
        options=(TASK, HOST),
    ),
    Command(
        "set",
        put,
        "Set a secret; its value is prompted for, or read from standard input.",
        "belvedere secret set API_KEY --task deploy",
        _confirmation("{0} {1} is set{2}."),
        options=(
            NAME,
            TASK,
            HOST,
            option(
                "--variable",
                action="store_true",
                help="not a secret: the value is visible and not masked in output",
            ),
            option("--description", metavar="TEXT", help="what it is for"),
        ),
    ),
    Command(
        "delete",
        delete,
        "Delete a secret; running scripts keep it.",
        "belvedere secret delete API_KEY --task deploy",
        _confirmation("{0} {1} deleted{2}."),
        options=(NAME, TASK, HOST),
    ),
)
