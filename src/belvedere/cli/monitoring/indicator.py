"""`belvedere indicator`: the indicators on the dashboard."""

import sys
from collections.abc import Callable
from pathlib import Path

from belvedere.base.ids import is_id
from belvedere.cli.framework import lookup, rendering, time_words, words
from belvedere.cli.framework.command import Args, Command, CommandError, Record, Show, option
from belvedere.cli.framework.profile import connect
from belvedere.client.errors import Problem
from belvedere.client.http_client import Client

INDICATOR = option("indicator", metavar="INDICATOR", help="its title or id")
NOT_FOUND_CODE = "indicator_not_found"
TYPES = ("text", "progress", "counter", "chart", "html", "file")


def list_all(args: Args) -> object:
    return connect(args).get("/indicator")


def get(args: Args) -> object:
    client = connect(args)
    return client.get(_path(client, args))


def push(args: Args) -> object:
    """Change the given fields; the first push of a title creates the indicator."""
    body = _body(args)
    client = connect(args)
    if not body:
        raise CommandError("Nothing to set. Specify a value or, for example, --state failure.", 2)
    try:
        return client.patch(_path(client, args), body)
    except Problem as problem:
        if problem.code != NOT_FOUND_CODE or is_id(args.indicator):
            raise
    return client.post("/indicator", {"title": args.indicator, "type": "text", **body})


def _body(args: Args) -> Record:
    values = {
        "value": _read_value(args),
        "type": args.type,
        "state": args.state,
        "severity": args.severity,
        "description": args.description,
        "read_only": args.read_only,
        "acl": args.acl,
    }
    body = {name: value for name, value in values.items() if value is not None}
    if args.ttl is not None:
        body["ttl"] = None if args.ttl == "none" else time_words.duration_ms(args.ttl)
    return body


def _read_value(args: Args) -> str | None:
    """The value as text; a chart is JSON."""
    if args.value_file is None:
        value: str | None = args.value
        return value
    if args.value is not None:
        raise CommandError("Use either a value or --value-file, not both.", 2)
    try:
        return sys.stdin.read() if args.value_file == "-" else Path(args.value_file).read_text()
    except (OSError, UnicodeDecodeError) as fault:
        raise CommandError(f"Cannot read the value: {fault}", 2) from None


def increase(args: Args) -> object:
    client = connect(args)
    return client.patch(_path(client, args, "/increase"))


def decrease(args: Args) -> object:
    client = connect(args)
    return client.patch(_path(client, args, "/decrease"))


def restart(args: Args) -> object:
    client = connect(args)
    return client.patch(_path(client, args, "/restart"))


def rename(args: Args) -> object:
    client = connect(args)
    return client.patch(_path(client, args), {"title": args.title})


def delete(args: Args) -> object:
    client = connect(args)
    return client.delete(_path(client, args))


def history(args: Args) -> object:
    client = connect(args)
    query = {"points": args.points}
    return client.get(f"/indicator/{client.get(_path(client, args))['id']}/history", query)


def badge(args: Args) -> object:
    client = connect(args)
    return {"svg": client.get(f"/indicator/{client.get(_path(client, args))['id']}/badge.svg")}


def publish(args: Args) -> object:
    client = connect(args)
    return client.post(f"/indicator/{client.get(_path(client, args))['id']}/public")


def unpublish(args: Args) -> object:
    client = connect(args)
    return client.delete(f"/indicator/{client.get(_path(client, args))['id']}/public")


def _path(client: Client, args: Args, suffix: str = "") -> str:
    return f"{lookup.indicator_path(client, args.indicator)}{suffix}"


def show_indicators(indicators: list[Record]) -> None:
    rendering.table(
        ("id", "state", "title*", "value*", "kind", "last update"),
        (
            (
                indicator["id"],
                words.monitor_state(indicator),
                indicator["title"],
                _value(indicator),
                indicator["type"],
                time_words.age(indicator["last_push"]),
            )
            for indicator in indicators
        ),
        "No indicators that you may see. Admins create one with:"
        " belvedere indicator set TITLE VALUE",
    )


def show_indicator(indicator: Record) -> None:
    rendering.fields(
        (
            ("id", indicator["id"]),
            ("title", indicator["title"]),
            ("state", words.monitor_state(indicator)),
            ("value", _value(indicator)),
            ("kind", indicator["type"]),
            ("severity", indicator["severity"].lower()),
            ("description", indicator["description"]),
            (
                "stale after",
                time_words.span(indicator["ttl"] / 1_000) if indicator["ttl"] else None,
            ),
            ("can be dismissed", not indicator["read_only"]),
            ("who may see it", indicator["acl"] or "managers"),
            ("starts", [_trigger(trigger) for trigger in indicator["triggers"]]),
            ("tags", indicator["tags"]),
            ("last update", time_words.when(indicator["last_push"])),
            ("version", indicator["version"]),
        )
    )


def show_points(points: list[Record]) -> None:
    rendering.table(
        ("when", "state", "value*"),
        ((time_words.local(point["date"]), point["state"], point["value"]) for point in points),
    )


def _value(indicator: Record) -> str:
    gist = " ".join(str(indicator["gist"]).split())
    return f"{gist}%" if indicator["type"] == "progress" else gist


def _trigger(trigger: Record) -> str:
    return f"{trigger.get('task_id') or trigger.get('workflow_id')} on {trigger['event_name']}"


def _confirmation(text: str) -> Show:
    return lambda indicator: print(text.format(indicator["title"], _value(indicator)))


def _counter(name: str, run: Callable[[Args], object], help_text: str) -> Command:
    example = f"belvedere indicator {name} 'Open orders'"
    return Command(name, run, help_text, example, _confirmation("{}: {}"), options=(INDICATOR,))


COMMANDS = (
    Command(
        "list",
        list_all,
        "List the indicators that you may see.",
        "belvedere indicator list",
        show_indicators,
    ),
    Command(
        "show",
        get,
        "Show an indicator.",
        "belvedere indicator show 'Open orders'",
        show_indicator,
        options=(INDICATOR,),
    ),
    Command(
        "set",
        push,
        "Push a value or a state, or change other fields. A new title creates an indicator.",
        "belvedere indicator set 'Disk of web-1' 93 --type progress --state failure --ttl 10m",
        _confirmation("{}: {}"),
        options=(
            INDICATOR,
            option(
                "value",
                metavar="VALUE",
                nargs="?",
                help="a text, a number, or JSON, depending on the type",
            ),
            option(
                "--value-file",
                metavar="FILE",
                help="read the value from this file; - is standard input",
            ),
            option("--type", choices=TYPES, help="the type (default for a new indicator: text)"),
            option("--state", choices=("normal", "failure"), help="the state"),
            option(
                "--severity",
                choices=("high", "low"),
                help="severity of a failure: high is red, low is yellow",
            ),
            option(
                "--ttl", metavar="DURATION", help="stale after this time without a push; or `none`"
            ),
            option("--description", metavar="TEXT", help="what it means"),
            option(
                "--read-only",
                action="store_true",
                default=None,
                help="it cannot be dismissed from the dashboard",
            ),
            option(
                "--dismissable",
                dest="read_only",
                action="store_false",
                help="members on its ACL can dismiss it",
            ),
            option(
                "--acl",
                metavar="WHO",
                action="append",
                help="a member or member tag that may see it; can be repeated",
            ),
        ),
    ),
    _counter("increase", increase, "Increment a counter by 1."),
    _counter("decrease", decrease, "Decrement a counter by 1, not below 0."),
    _counter("restart", restart, "Reset a counter to 1."),
    Command(
        "rename",
        rename,
        "Change the title of an indicator.",
        "belvedere indicator rename 'Open orders' 'Orders'",
        _confirmation("The indicator is now named {}."),
        options=(INDICATOR, option("title", metavar="TITLE", help="the new title")),
    ),
    Command(
        "delete",
        delete,
        "Delete or dismiss an indicator.",
        "belvedere indicator delete 'Open orders'",
        _confirmation("{} deleted."),
        options=(INDICATOR,),
    ),
    Command(
        "history",
        history,
        "Show the values of an indicator over time.",
        "belvedere indicator history 'Disk of web-1' --points 20",
        show_points,
        options=(
            INDICATOR,
            option(
                "--points", default="50", metavar="N", help="maximum number of points (default 50)"
            ),
        ),
    ),
    Command(
        "badge",
        badge,
        "Print the badge of an indicator (SVG).",
        "belvedere indicator badge 'Open orders'",
        lambda badge: print(badge["svg"]),
        options=(INDICATOR,),
    ),
    Command(
        "publish",
        publish,
        "Create a public link to the badge; the previous link stops working.",
        "belvedere indicator publish 'Open orders'",
        lambda link: print(link["url"]),
        options=(INDICATOR,),
    ),
    Command(
        "unpublish",
        unpublish,
        "Revoke the public link.",
        "belvedere indicator unpublish 'Open orders'",
        _confirmation("Public link of {} revoked."),
        options=(INDICATOR,),
    ),
)
