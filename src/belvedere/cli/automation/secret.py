"""`belvedere secret`: values that scripts get by their environment."""

import sys
from typing import Any
from urllib.parse import quote

from belvedere.cli.framework import lookup, rendering, terminal, time_words
from belvedere.cli.framework.command import Args, Verb, option
from belvedere.cli.framework.profile import connect
from belvedere.client.http_client import Client

NAME = option("name", metavar="NAME", help="the name of the variable in the environment")
TASK = option("--task", metavar="TASK", help="only for scripts of this task")
HOST = option("--host", metavar="HOST", help="which, where several tasks share the name")


def listed(args: Args) -> Any:
    client = connect(args)
    task_id = _task(client, args)
    return client.get("/secret", {"where[task_id]": task_id} if task_id else None)


def put(args: Args) -> Any:
    """The value is never a word of the command line, which `ps` and the shell's history show."""
    client = connect(args)
    body: dict[str, Any] = {"value": _value(args), "secret": not args.variable}
    if args.description is not None:
        body["description"] = args.description
    if task_id := _task(client, args):
        body["task_id"] = task_id
    return client.put(_path(args), body)


def _value(args: Args) -> str:
    if sys.stdin.isatty():
        return terminal.secret(f"Value of {args.name}: ")
    # All of it, a key has many lines; the newline that `echo` adds is not meant.
    value = sys.stdin.read()
    return value[:-1] if value.endswith("\n") else value


def delete(args: Args) -> Any:
    client = connect(args)
    task_id = _task(client, args)
    query = {"task_id": task_id} if task_id else None
    return client.delete(_path(args), query)


def _path(args: Args) -> str:
    return f"/secret/{quote(args.name, safe='')}"


def _task(client: Client, args: Args) -> str:
    return str(lookup.task(client, args.task, args.host)["id"]) if args.task else ""


def show_secrets(found: Any) -> None:
    rendering.table(
        ("name", "kind", "for", "value*", "set", "by*", "description*"),
        (
            (
                each["name"],
                "secret" if each["secret"] else "variable",
                each["task_id"] or "every task",
                each.get("value", "***"),
                time_words.age(each["last_update"]),
                each["updated_by"],
                each["description"],
            )
            for each in found
        ),
        "No secret yet. Set one with: belvedere secret set NAME",
    )


def _say(text: str) -> Any:
    return lambda found: print(
        text.format(
            "Secret" if found["secret"] else "Variable",
            found["name"],
            f" for the task {found['task_id']}" if found["task_id"] else "",
        )
    )


VERBS = (
    Verb(
        "list",
        listed,
        "List the secrets by name, and the variables with their values.",
        "belvedere secret list",
        show_secrets,
        options=(TASK, HOST),
    ),
    Verb(
        "set",
        put,
        "Set a secret; its value is asked for, or read from standard input.",
        "belvedere secret set API_KEY --task deploy",
        _say("{0} {1} is set{2}."),
        options=(
            NAME,
            TASK,
            HOST,
            option("--variable", action="store_true", help="it may be seen: not hidden in output"),
            option("--description", metavar="TEXT", help="what it is for"),
        ),
    ),
    Verb(
        "delete",
        delete,
        "Delete a secret; scripts that run keep it.",
        "belvedere secret delete API_KEY --task deploy",
        _say("{0} {1} is deleted{2}."),
        options=(NAME, TASK, HOST),
    ),
)
