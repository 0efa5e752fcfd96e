"""`belvedere acl`: who may see and run a task."""

from typing import Any

from belvedere.cli import find, show
from belvedere.cli.profile import connect
from belvedere.cli.verb import Args, Verb, option
from belvedere.client.calls import Client

TASK = option("task", metavar="TASK", help="the task's name or id")
HOST = option("--host", metavar="HOST", help="the host, where several tasks share the name")
USERS = option(
    "users", metavar="WHO", nargs="*", help="e-mails, user names or member tags (key:value)"
)


def _door(args: Args) -> tuple[Client, str]:
    client = connect(args)
    return client, f"/task/{find.task(client, args.task, args.host)['id']}/acl"


def entries(args: Args) -> Any:
    client, path = _door(args)
    return client.get(path)


def replace(args: Args) -> Any:
    client, path = _door(args)
    return client.put(path, {"users": args.users})


def _patch(action: str) -> Any:
    def patch(args: Args) -> Any:
        client, path = _door(args)
        return client.patch(path, {"users": args.users, "action": action})

    return patch


def clear(args: Args) -> Any:
    client, path = _door(args)
    return client.delete(path)


def show_acl(acl: Any) -> None:
    nobody = "The ACL is empty: only managers see the task, and only admins run it."
    show.table(("who",), ((entry,) for entry in acl["users"]), nobody)


def _verb(name: str, ask: Any, help_text: str, example: str, *options: Any) -> Verb:
    return Verb(name, ask, help_text, example, show_acl, options=(TASK, *options, HOST))


VERBS = (
    _verb("show", entries, "Show who may see and run a task.", "belvedere acl show deploy"),
    _verb(
        "set",
        replace,
        "Replace the whole ACL.",
        "belvedere acl set deploy ada@example.org team:ops",
        USERS,
    ),
    _verb(
        "add",
        _patch("add"),
        "Let more people see and run a task.",
        "belvedere acl add deploy max@example.org",
        USERS,
    ),
    _verb(
        "remove",
        _patch("remove"),
        "Take people off the ACL.",
        "belvedere acl remove deploy max@example.org",
        USERS,
    ),
    _verb(
        "clear",
        clear,
        "Empty the ACL: only managers see the task, only admins run it.",
        "belvedere acl clear deploy",
    ),
)
