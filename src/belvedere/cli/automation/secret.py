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
    task_id = _task(client, args)
    return client.get("/secret", {"where[task_id]": task_id} if task_id else None)


def put(args: Args) -> object:
    """The value is never an argument: `ps` and the shell's history would show it."""
    client = connect(args)
    body: Record = {"value": _value(args), "secret": not args.variable}
    if args.description is not None:
        body["description"] = args.description
    if task_id := _task(client, args):
        body["task_id"] = task_id
    return client.put(_path(args), body)


def _value(args: Args) -> str:
    if sys.stdin.isatty():
        return terminal.secret(f"Value of {args.name}: ")
    # All of stdin, because a key has many lines; without the newline that `echo` adds.
    value = sys.stdin.read()
    return value[:-1] if value.endswith("\n") else value


def delete(args: Args) -> object:
    client = connect(args)
    task_id = _task(client, args)
    query = {"task_id": task_id} if task_id else None
    return client.delete(_path(args), query)


def _path(args: Args) -> str:
    return f"/secret/{quote(args.name, safe='')}"


def _task(client: Client, args: Args) -> str:
    return str(lookup.task(client, args.task, args.host)["id"]) if args.task else ""


def show_secrets(secrets: list[Record]) -> None:
    rendering.table(
        ("name", "kind", "for", "value*", "changed", "changed by*", "description*"),
        (
            (
                secret["name"],
                "secret" if secret["secret"] else "variable",
                secret["task_id"] or "every task",
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
            f" for the task {secret['task_id']}" if secret["task_id"] else "",
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
        _confirmation("{0} {1} is deleted{2}."),
        options=(NAME, TASK, HOST),
    ),
)
