"""`belvedere indicator`: what the dashboard shows on top."""

import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

from belvedere.base.ids import is_id
from belvedere.cli.framework import rendering, time_words
from belvedere.cli.framework.command import Args, Stop, Verb, option
from belvedere.cli.framework.profile import connect
from belvedere.client.errors import Problem

INDICATOR = option("indicator", metavar="INDICATOR", help="its title or id")
NEW = "indicator_not_found"
TYPES = ("text", "progress", "counter", "chart", "html", "file")


def listed(args: Args) -> Any:
    return connect(args).get("/indicator")


def one(args: Args) -> Any:
    return connect(args).get(_path(args))


def push(args: Args) -> Any:
    """Change what was said; the first push of a title makes the indicator."""
    body = _body(args)
    client = connect(args)
    if not body:
        raise Stop("Nothing to set; give a value, or for example --state failure.", 2)
    try:
        return client.patch(_path(args), body)
    except Problem as problem:
        if problem.code != NEW or is_id(args.indicator):
            raise
    return client.post("/indicator", {"title": args.indicator, "type": "text", **body})


def _body(args: Args) -> dict[str, Any]:
    given = {
        "value": _given(args),
        "type": args.type,
        "state": args.state,
        "severity": args.severity,
        "description": args.description,
        "read_only": args.read_only,
        "acl": args.acl,
    }
    body = {name: value for name, value in given.items() if value is not None}
    if args.ttl is not None:
        body["ttl"] = None if args.ttl == "none" else time_words.duration_ms(args.ttl)
    return body


def _given(args: Args) -> str | None:
    """The value as it is written; a chart is JSON."""
    if args.value_file is None:
        value: str | None = args.value
        return value
    if args.value is not None:
        raise Stop("Give the value, or a file with --value-file, not both.", 2)
    try:
        return sys.stdin.read() if args.value_file == "-" else Path(args.value_file).read_text()
    except (OSError, UnicodeDecodeError) as fault:
        raise Stop(f"The value cannot be read: {fault}", 2) from None


def increase(args: Args) -> Any:
    return connect(args).patch(_path(args, "/increase"))


def decrease(args: Args) -> Any:
    return connect(args).patch(_path(args, "/decrease"))


def restart(args: Args) -> Any:
    return connect(args).patch(_path(args, "/restart"))


def rename(args: Args) -> Any:
    return connect(args).patch(_path(args), {"title": args.title})


def delete(args: Args) -> Any:
    return connect(args).delete(_path(args))


def history(args: Args) -> Any:
    client = connect(args)
    query = {"points": args.points}
    return client.get(f"/indicator/{client.get(_path(args))['id']}/history", query)


def badge(args: Args) -> Any:
    client = connect(args)
    return {"svg": client.get(f"/indicator/{client.get(_path(args))['id']}/badge.svg")}


def publish(args: Args) -> Any:
    client = connect(args)
    return client.post(f"/indicator/{client.get(_path(args))['id']}/public")


def unpublish(args: Args) -> Any:
    client = connect(args)
    return client.delete(f"/indicator/{client.get(_path(args))['id']}/public")


def _path(args: Args, rest: str = "") -> str:
    named: str = args.indicator
    if is_id(named):
        return f"/indicator/{named}{rest}"
    return f"/indicator/title/{quote(named, safe='')}{rest}"


def show_indicators(indicators: Any) -> None:
    rendering.table(
        ("id", "state", "title*", "value*", "type", "pushed"),
        (
            (
                each["id"],
                _state(each),
                each["title"],
                _value(each),
                each["type"],
                time_words.age(each["last_push"]),
            )
            for each in indicators
        ),
        "No indicator that you may see. Admins make one with: belvedere indicator set TITLE VALUE",
    )


def show_indicator(indicator: Any) -> None:
    rendering.fields(
        (
            ("id", indicator["id"]),
            ("title", indicator["title"]),
            ("state", _state(indicator)),
            ("value", _value(indicator)),
            ("type", indicator["type"]),
            ("severity", indicator["severity"].lower()),
            ("description", indicator["description"]),
            (
                "stale after",
                time_words.span(indicator["ttl"] / 1_000) if indicator["ttl"] else None,
            ),
            ("may be dismissed", not indicator["read_only"]),
            ("who may see it", indicator["acl"] or "managers"),
            ("starts", [_trigger(each) for each in indicator["triggers"]]),
            ("tags", indicator["tags"]),
            ("pushed", time_words.when(indicator["last_push"])),
            ("version", indicator["version"]),
        )
    )


def show_points(points: Any) -> None:
    rendering.table(
        ("when", "state", "value*"),
        ((time_words.local(each["date"]), each["state"], each["value"]) for each in points),
    )


def _state(indicator: Any) -> str:
    return "stale" if indicator["stale"] else str(indicator["state"])


def _value(indicator: Any) -> str:
    gist = " ".join(str(indicator["gist"]).split())
    return f"{gist}%" if indicator["type"] == "progress" else gist


def _trigger(trigger: Any) -> str:
    return f"{trigger.get('task_id') or trigger.get('workflow_id')} on {trigger['event_name']}"


def _say(text: str) -> Any:
    return lambda one: print(text.format(one["title"], _value(one)))


def _counter(name: str, ask: Any, help_text: str) -> Verb:
    example = f"belvedere indicator {name} 'Open orders'"
    return Verb(name, ask, help_text, example, _say("{} is at {}."), options=(INDICATOR,))


VERBS = (
    Verb(
        "list",
        listed,
        "List the indicators that you may see.",
        "belvedere indicator list",
        show_indicators,
    ),
    Verb(
        "show",
        one,
        "Show one indicator.",
        "belvedere indicator show 'Open orders'",
        show_indicator,
        options=(INDICATOR,),
    ),
    Verb(
        "set",
        push,
        "Push a value or a state, or change anything else. A title that is new is made.",
        "belvedere indicator set 'Disk of web-1' 93 --type progress --state failure --ttl 10m",
        _say("{} is at {}."),
        options=(
            INDICATOR,
            option(
                "value", metavar="VALUE", nargs="?", help="a text, a number, or what the type takes"
            ),
            option(
                "--value-file",
                metavar="FILE",
                help="the value stands in this file; - reads standard input",
            ),
            option("--type", choices=TYPES, help="text when it is new"),
            option("--state", choices=("normal", "failure"), help="green, or red or yellow"),
            option("--severity", choices=("high", "low"), help="a failure is red, or yellow"),
            option("--ttl", metavar="DURATION", help="silent for so long it is stale; or `none`"),
            option("--description", metavar="TEXT", help="what it means"),
            option(
                "--read-only",
                action="store_true",
                default=None,
                help="nobody can dismiss it from the dashboard",
            ),
            option(
                "--dismissable",
                dest="read_only",
                action="store_false",
                help="members whom its ACL names can dismiss it",
            ),
            option(
                "--acl",
                metavar="WHO",
                action="append",
                help="a member or member tag that may see it; repeat it for more",
            ),
        ),
    ),
    _counter("increase", increase, "Count a counter up by one."),
    _counter("decrease", decrease, "Count a counter down by one, not below 0."),
    _counter("restart", restart, "Start a counter again at 1."),
    Verb(
        "rename",
        rename,
        "Give an indicator another title.",
        "belvedere indicator rename 'Open orders' 'Orders'",
        _say("The indicator is called {} now."),
        options=(INDICATOR, option("title", metavar="TITLE", help="the new title")),
    ),
    Verb(
        "delete",
        delete,
        "Delete or dismiss an indicator.",
        "belvedere indicator delete 'Open orders'",
        _say("{} is gone."),
        options=(INDICATOR,),
    ),
    Verb(
        "history",
        history,
        "Show its values over time.",
        "belvedere indicator history 'Disk of web-1' --points 20",
        show_points,
        options=(
            INDICATOR,
            option("--points", default="50", metavar="N", help="at most so many (default 50)"),
        ),
    ),
    Verb(
        "badge",
        badge,
        "Print the indicator as a small picture (SVG).",
        "belvedere indicator badge 'Open orders'",
        lambda answer: print(answer["svg"]),
        options=(INDICATOR,),
    ),
    Verb(
        "publish",
        publish,
        "Make a link that shows its picture to anybody; the link before is dead.",
        "belvedere indicator publish 'Open orders'",
        lambda link: print(link["url"]),
        options=(INDICATOR,),
    ),
    Verb(
        "unpublish",
        unpublish,
        "Revoke that link.",
        "belvedere indicator unpublish 'Open orders'",
        _say("Nobody sees {} by a link any more."),
        options=(INDICATOR,),
    ),
)
