"""`belvedere acl`: who may see and run something."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from belvedere.base.ids import is_id
from belvedere.cli.framework import lookup, rendering
from belvedere.cli.framework.command import Args, Verb, option
from belvedere.cli.framework.profile import connect
from belvedere.client.http_client import Client

NAME = option("name", metavar="NAME", help="the task's name or id; with --kind, of something else")
KIND = option(
    "--kind",
    default="task",
    choices=("task", "workflow", "indicator", "monitor"),
    help="what it is the ACL of (default task)",
)
HOST = option("--host", metavar="HOST", help="the host, where several tasks share the name")
USERS = option(
    "users", metavar="WHO", nargs="*", help="e-mails, user names or member tags (key:value)"
)


def _indicator(client: Client, args: Args) -> str:
    if is_id(args.name):
        return f"/indicator/{args.name}"
    found = client.get(f"/indicator/title/{quote(args.name, safe='')}")
    return f"/indicator/{found['id']}"


PLACES: dict[str, Callable[[Client, Args], str]] = {
    "task": lambda client, args: f"/task/{lookup.task(client, args.name, args.host)['id']}",
    "workflow": lambda client, args: f"/workflows/{lookup.workflow(client, args.name)['id']}",
    "indicator": _indicator,
    "monitor": lambda client, args: f"/monitor/{lookup.monitor(client, args.name)['id']}",
}
NOBODY = {
    "task": "The ACL is empty: only managers see the task, and only admins run it.",
    "workflow": "The ACL is empty: only managers see the workflow, and only admins run it.",
    "indicator": "The ACL is empty: only managers see the indicator.",
    "monitor": "The ACL is empty: everybody sees the monitor.",
}


def _door(args: Args) -> tuple[Client, str]:
    client = connect(args)
    return client, f"{PLACES[args.kind](client, args)}/acl"


def entries(args: Args) -> Any:
    client, path = _door(args)
    return _told(args, client.get(path))


def replace(args: Args) -> Any:
    client, path = _door(args)
    return _told(args, client.put(path, {"users": args.users}))


def _patch(action: str) -> Any:
    def patch(args: Args) -> Any:
        client, path = _door(args)
        return _told(args, client.patch(path, {"users": args.users, "action": action}))

    return patch


def explain(args: Args) -> Any:
    client = connect(args)
    object_id = PLACES[args.kind](client, args).rpartition("/")[2]
    query = {"object": args.kind, "id": object_id, **({"user": args.user} if args.user else {})}
    return client.get("/access/explain", query)


def clear(args: Args) -> Any:
    client, path = _door(args)
    return _told(args, client.delete(path))


def _told(args: Args, acl: Any) -> Any:
    return acl if args.json else {**acl, "kind": args.kind}


def show_acl(acl: Any) -> None:
    rendering.table(("who",), ((entry,) for entry in acl["users"]), NOBODY[acl["kind"]])


def show_explained(found: Any) -> None:
    rendering.table(
        ("who", "level", "sees", "runs", "why*"),
        (
            (
                one["email"],
                one["credential"],
                "yes" if one["sees"] else "no",
                "yes" if one["runs"] else "no",
                one["why"],
            )
            for one in found["members"]
        ),
    )


def _verb(name: str, ask: Any, help_text: str, example: str, *options: Any) -> Verb:
    return Verb(name, ask, help_text, example, show_acl, options=(NAME, *options, KIND, HOST))


VERBS = (
    _verb("show", entries, "Show who may see and run it.", "belvedere acl show deploy"),
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
        "Let more people see and run it.",
        "belvedere acl add release max@example.org --kind workflow",
        USERS,
    ),
    _verb(
        "remove",
        _patch("remove"),
        "Take people off the ACL.",
        "belvedere acl remove deploy max@example.org",
        USERS,
    ),
    Verb(
        "explain",
        explain,
        "Say who may see and run it, and why.",
        "belvedere acl explain deploy --user max@example.org",
        show_explained,
        options=(
            NAME,
            option("--user", metavar="WHO", help="only this member: e-mail, user name or id"),
            KIND,
            HOST,
        ),
    ),
    _verb(
        "clear",
        clear,
        "Empty the ACL. Then only managers see it and only admins run it; a monitor all see.",
        "belvedere acl clear deploy",
    ),
)
