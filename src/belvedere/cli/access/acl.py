"""`belvedere acl`: who may see and run a task, workflow, indicator or monitor."""

from collections.abc import Callable

from belvedere.cli.framework import lookup, rendering
from belvedere.cli.framework.command import Args, Command, CommandOption, Record, option
from belvedere.cli.framework.profile import connect
from belvedere.client.http_client import Client

NAME = option("name", metavar="NAME", help="name or id of the task, or of the object of --kind")
KIND = option(
    "--kind",
    default="task",
    choices=("task", "workflow", "indicator", "monitor"),
    help="the kind of the object (default task)",
)
HOST = option("--host", metavar="HOST", help="the host, if several tasks have this name")
USERS = option(
    "users", metavar="WHO", nargs="*", help="e-mails, user names or member tags (key:value)"
)


def _indicator(client: Client, args: Args) -> str:
    return f"/indicator/{client.get(lookup.indicator_path(client, args.name))['id']}"


OBJECT_PATHS: dict[str, Callable[[Client, Args], str]] = {
    "task": lambda client, args: f"/task/{lookup.task(client, args.name, args.host)['id']}",
    "workflow": lambda client, args: f"/workflows/{lookup.workflow(client, args.name)['id']}",
    "indicator": _indicator,
    "monitor": lambda client, args: f"/monitor/{lookup.monitor(client, args.name)['id']}",
}
EMPTY_TEXTS = {
    "task": "The ACL is empty: only managers may see the task, and only admins may run it.",
    "workflow": "The ACL is empty: only managers may see the workflow, and only admins may run it.",
    "indicator": "The ACL is empty: only managers may see the indicator.",
    "monitor": "The ACL is empty: every member may see the monitor.",
}


def _connect_acl(args: Args) -> tuple[Client, str]:
    client = connect(args)
    return client, f"{OBJECT_PATHS[args.kind](client, args)}/acl"


def entries(args: Args) -> object:
    client, path = _connect_acl(args)
    return _with_kind(args, client.get(path))


def replace(args: Args) -> object:
    client, path = _connect_acl(args)
    return _with_kind(args, client.put(path, {"users": args.users}))


def _patch(action: str) -> Callable[[Args], object]:
    def patch(args: Args) -> object:
        client, path = _connect_acl(args)
        return _with_kind(args, client.patch(path, {"users": args.users, "action": action}))

    return patch


def explain(args: Args) -> object:
    client = connect(args)
    object_id = OBJECT_PATHS[args.kind](client, args).rpartition("/")[2]
    query = {"object": args.kind, "id": object_id, **({"user": args.user} if args.user else {})}
    return client.get("/access/explain", query)


def clear(args: Args) -> object:
    client, path = _connect_acl(args)
    return _with_kind(args, client.delete(path))


def _with_kind(args: Args, acl: Record) -> Record:
    return acl if args.json else {**acl, "kind": args.kind}


def show_acl(acl: Record) -> None:
    # A server of an earlier version does not send it.
    pending = acl.get("pending", [])
    rendering.table(
        ("member or tag", "status"),
        ((entry, "pending" if entry in pending else "") for entry in acl["users"]),
        EMPTY_TEXTS[acl["kind"]],
    )
    if pending:
        print("pending: no member has this address yet; it takes effect when one joins.")


def show_explained(report: Record) -> None:
    rendering.table(
        ("member", "level", "may see", "may run", "reason*"),
        (
            (
                member["email"],
                member["credential"],
                "yes" if member["sees"] else "no",
                "yes" if member["runs"] else "no",
                member["why"],
            )
            for member in report["members"]
        ),
    )


def _acl_command(
    name: str,
    run: Callable[[Args], object],
    help_text: str,
    example: str,
    *options: CommandOption,
) -> Command:
    return Command(name, run, help_text, example, show_acl, options=(NAME, *options, KIND, HOST))


COMMANDS = (
    _acl_command("show", entries, "Show the ACL of an object.", "belvedere acl show deploy"),
    _acl_command(
        "set",
        replace,
        "Replace the ACL.",
        "belvedere acl set deploy ada@example.org team:ops",
        USERS,
    ),
    _acl_command(
        "add",
        _patch("add"),
        "Add members or tags to the ACL.",
        "belvedere acl add release max@example.org --kind workflow",
        USERS,
    ),
    _acl_command(
        "remove",
        _patch("remove"),
        "Remove members or tags from the ACL.",
        "belvedere acl remove deploy max@example.org",
        USERS,
    ),
    Command(
        "explain",
        explain,
        "Show who may see and run it, and why.",
        "belvedere acl explain deploy --user max@example.org",
        show_explained,
        options=(
            NAME,
            option("--user", metavar="WHO", help="only this member: e-mail, user name or id"),
            KIND,
            HOST,
        ),
    ),
    _acl_command(
        "clear",
        clear,
        "Empty the ACL. Then only managers and above can see the object and only admins can run it;"
        " every member can see a monitor with an empty ACL.",
        "belvedere acl clear deploy",
    ),
)
