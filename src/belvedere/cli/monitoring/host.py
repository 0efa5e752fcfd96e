"""`belvedere host`: where work runs."""

from typing import Any

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Verb, option
from belvedere.cli.framework.profile import connect

HOST = option("host", metavar="HOST", help="the host's name or id")


def listed(args: Args) -> Any:
    return connect(args).get("/host", {"where[tags]": args.tag} if args.tag else None)


def one(args: Args) -> Any:
    client = connect(args)
    return client.get(f"/host/{lookup.host(client, args.host)['id']}")


def rename(args: Args) -> Any:
    return _change(args, {"hostname": args.name})


def disable(args: Args) -> Any:
    return _change(args, {"enable": False})


def enable(args: Args) -> Any:
    return _change(args, {"enable": True, "draining": False})


def drain(args: Args) -> Any:
    return _change(args, {"draining": True})


def tag(args: Args) -> Any:
    """Add, take away, or replace what it carries."""
    client = connect(args)
    found = lookup.host(client, args.host)
    kept = [] if args.only else [one for one in found["tags"] if one not in args.remove]
    tags = list(dict.fromkeys([*kept, *args.tags]))
    return client.patch(f"/host/{found['id']}", {"tags": tags})


def _change(args: Args, body: dict[str, Any]) -> Any:
    client = connect(args)
    return client.patch(f"/host/{lookup.host(client, args.host)['id']}", body)


def delete(args: Args) -> Any:
    client = connect(args)
    return client.delete(f"/host/{lookup.host(client, args.host)['id']}")


def show_hosts(hosts: Any) -> None:
    rendering.table(
        ("id", "state", "host*", "seen", "agent", "tags*"),
        (
            (
                each["id"],
                each["state"],
                each["hostname"],
                time_words.age(each["last_seen"]),
                each["agent_version"],
                each["tags"],
            )
            for each in hosts
        ),
        "No host yet. Let one in with: belvedere enrolment create",
    )


def show_host(host: Any) -> None:
    rendering.fields(
        (
            ("id", host["id"]),
            ("host", host["hostname"]),
            ("state", host["state"]),
            ("seen", time_words.when(host["last_seen"])),
            ("address", host["ip"]),
            ("system", f"{host['os_name']} {host['os_version']}".strip()),
            ("agent", host["agent_version"]),
            ("jobs at once", host["slots"]),
            ("tags", host["tags"]),
            ("created", time_words.when(host["creation_date"])),
        )
    )


def _say(text: str) -> Any:
    return lambda host: print(text.format(host["hostname"]))


VERBS = (
    Verb(
        "list",
        listed,
        "List the hosts.",
        "belvedere host list --tag web",
        show_hosts,
        options=(option("--tag", metavar="TAG", help="only those that carry it"),),
    ),
    Verb("show", one, "Show one host.", "belvedere host show web-1", show_host, options=(HOST,)),
    Verb(
        "rename",
        rename,
        "Give a host another name.",
        "belvedere host rename web-1 web-2",
        _say("The host is called {} now."),
        options=(HOST, option("name", metavar="NAME", help="the new name")),
    ),
    Verb(
        "tag",
        tag,
        "Add tags to a host, or take some away; definitions that name them follow.",
        "belvedere host tag web-1 web blue --remove green",
        lambda host: print(f"{host['hostname']}: {', '.join(host['tags']) or 'no tags'}"),
        options=(
            HOST,
            option("tags", metavar="TAG", nargs="*", help="tags to add"),
            option(
                "--remove", metavar="TAG", action="append", default=[], help="take it away; repeat"
            ),
            option("--only", action="store_true", help="these tags and no others"),
        ),
    ),
    Verb(
        "disable",
        disable,
        "Dispatch nothing to a host; its jobs wait.",
        "belvedere host disable web-1",
        _say("{} is disabled: its jobs wait until it is enabled."),
        options=(HOST,),
    ),
    Verb(
        "enable",
        enable,
        "Dispatch to a disabled or draining host again.",
        "belvedere host enable web-1",
        _say("{} takes work again."),
        options=(HOST,),
    ),
    Verb(
        "drain",
        drain,
        "Let a host finish what runs and start nothing new.",
        "belvedere host drain web-1",
        _say("{} finishes what runs and starts nothing new."),
        options=(HOST,),
    ),
    Verb(
        "delete",
        delete,
        "Remove a host; its waiting jobs expire and its agent's credential is revoked.",
        "belvedere host delete web-1",
        _say("{} is gone."),
        options=(HOST,),
    ),
)
