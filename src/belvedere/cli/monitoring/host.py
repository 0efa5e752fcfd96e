"""`belvedere host`: the hosts that run jobs and checks."""

from belvedere.cli.framework import lookup, rendering, time_words, words
from belvedere.cli.framework.command import Args, Command, Record, Show, option
from belvedere.cli.framework.profile import connect

HOST = option("host", metavar="HOST", help="the host's name or id")


def list_all(args: Args) -> object:
    return connect(args).get("/host", {"where[tags]": args.tag} if args.tag else None)


def get(args: Args) -> object:
    client = connect(args)
    return client.get(f"/host/{lookup.host(client, args.host)['id']}")


def rename(args: Args) -> object:
    return _change(args, {"hostname": args.name})


def disable(args: Args) -> object:
    return _change(args, {"enable": False})


def enable(args: Args) -> object:
    return _change(args, {"enable": True, "draining": False})


def drain(args: Args) -> object:
    return _change(args, {"draining": True})


def tag(args: Args) -> object:
    """Add, remove or replace tags."""
    client = connect(args)
    host = lookup.host(client, args.host)
    remaining = [] if args.only else [name for name in host["tags"] if name not in args.remove]
    tags = list(dict.fromkeys([*remaining, *args.tags]))
    return client.patch(f"/host/{host['id']}", {"tags": tags})


def _change(args: Args, body: Record) -> object:
    client = connect(args)
    return client.patch(f"/host/{lookup.host(client, args.host)['id']}", body)


def delete(args: Args) -> object:
    client = connect(args)
    return client.delete(f"/host/{lookup.host(client, args.host)['id']}")


def show_hosts(hosts: list[Record]) -> None:
    rendering.table(
        ("id", "state", "host*", "last seen", "agent", "tags*"),
        (
            (
                host["id"],
                words.host_state(host),
                host["hostname"],
                time_words.age(host["last_seen"]),
                host["agent_version"],
                host["tags"],
            )
            for host in hosts
        ),
        "No hosts yet. Enrol one with: belvedere enrolment create",
    )


def show_host(host: Record) -> None:
    rendering.fields(
        (
            ("id", host["id"]),
            ("host", host["hostname"]),
            ("state", words.host_state(host)),
            ("last seen", time_words.when(host["last_seen"])),
            ("address", host["ip"]),
            ("system", f"{host['os_name']} {host['os_version']}".strip()),
            ("agent", host["agent_version"]),
            ("concurrent jobs", host["slots"]),
            ("tags", host["tags"]),
            ("created", time_words.when(host["creation_date"])),
        )
    )


def _confirmation(text: str) -> Show:
    return lambda host: print(text.format(host["hostname"]))


COMMANDS = (
    Command(
        "list",
        list_all,
        "List hosts.",
        "belvedere host list --tag web",
        show_hosts,
        options=(option("--tag", metavar="TAG", help="only hosts with this tag"),),
    ),
    Command("show", get, "Show a host.", "belvedere host show web-1", show_host, options=(HOST,)),
    Command(
        "rename",
        rename,
        "Rename a host.",
        "belvedere host rename web-1 web-2",
        _confirmation("The host is now named {}."),
        options=(HOST, option("name", metavar="NAME", help="the new name")),
    ),
    Command(
        "tag",
        tag,
        "Add or remove tags of a host; definitions for these tags are rolled out or removed.",
        "belvedere host tag web-1 web blue --remove green",
        lambda host: print(f"{host['hostname']}: {', '.join(host['tags']) or 'no tags'}"),
        options=(
            HOST,
            option("tags", metavar="TAG", nargs="*", help="tags to add"),
            option(
                "--remove",
                metavar="TAG",
                action="append",
                default=[],
                help="tag to remove; can be repeated",
            ),
            option("--only", action="store_true", help="replace all tags with these"),
        ),
    ),
    Command(
        "disable",
        disable,
        "Stop dispatching jobs to a host; its jobs wait.",
        "belvedere host disable web-1",
        _confirmation("{} is disabled. Its jobs wait until it is enabled."),
        options=(HOST,),
    ),
    Command(
        "enable",
        enable,
        "Dispatch jobs to a disabled or draining host again.",
        "belvedere host enable web-1",
        _confirmation("{} is enabled."),
        options=(HOST,),
    ),
    Command(
        "drain",
        drain,
        "Let a host finish its running jobs and start no new ones.",
        "belvedere host drain web-1",
        _confirmation("{} is draining: running jobs finish, no new ones start."),
        options=(HOST,),
    ),
    Command(
        "delete",
        delete,
        "Delete a host; its waiting jobs expire and its agent's credential is revoked.",
        "belvedere host delete web-1",
        _confirmation("{} deleted."),
        options=(HOST,),
    ),
)
