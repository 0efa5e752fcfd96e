"""`belvedere monitor`: what is watched."""

from typing import Any

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Stop, Verb, option
from belvedere.cli.framework.profile import connect
from belvedere.client.http_client import Client

MONITOR = option("monitor", metavar="MONITOR", help="the monitor's name or id")
FOR = option("--for", dest="span", metavar="DURATION", help="it ends by itself after 30m, 2h, 1d")
TYPES = ("scraper", "dstat", "process", "file", "script", "nested") + (
    "tcp",
    "ping",
    "dns",
    "tls",
    "push",
)
# Options that go into the body under their own name.
TEXTS = (
    ("url", "web check: the address"),
    ("status-code", "web check: the status that is good, a regular expression"),
    ("pattern", "web check: must be in the answer, a regular expression"),
    ("json-path", "web check: such as $.status"),
    ("json-value", "web check: what must be there"),
    ("raw-search", "process: text in the command line"),
    ("path", "file: its path"),
    ("permissions", "file: such as 0644"),
    ("script-id", "script: the id of the stored file"),
    ("target", "tcp, ping, dns, tls: the name or address"),
    ("port", "tcp, tls: the port"),
    ("days", "tls: for how many days it must be good"),
    ("description", "a note for people"),
)


def listed(args: Args) -> Any:
    query = {f"where[{name}]": getattr(args, name) for name in ("type", "state")}
    return connect(args).get("/monitor", {name: word for name, word in query.items() if word})


def one(args: Args) -> Any:
    client = connect(args)
    return client.get(f"/monitor/{_id(client, args)}")


def create(args: Args) -> Any:
    client = connect(args)
    body: dict[str, Any] = {"name": args.name, "type": args.type, **_fields(args)}
    if args.host:
        body["host_id"] = lookup.host(client, args.host)["id"]
    if args.member:
        body["monitors"] = [_find(client, name)["id"] for name in args.member]
    return client.post("/monitor", body)


def edit(args: Args) -> Any:
    """Change what was said and nothing else, unless somebody changed the monitor meanwhile."""
    body = _fields(args)
    if args.name:
        body["name"] = args.name
    if not body:
        raise Stop("Nothing to change; say what, for example with --every 30s.", 2)
    client = connect(args)
    found = _find(client, args.monitor)
    headers = {"If-Match": str(found["version"])}
    return client.request("PATCH", f"/monitor/{found['id']}", body, headers=headers).body


def _fields(args: Args) -> dict[str, Any]:
    names = [name.replace("-", "_") for name, _ in TEXTS]
    body = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    for name, given in (("looptime", args.every), ("timeout", args.timeout)):
        if given:
            body[name] = time_words.duration_ms(given)
    if args.threshold is not None:
        body["fail_threshold"] = args.threshold
    if args.severity:
        body["failure_severity"] = args.severity
    return body


def switch(word: str, *, has_end: bool = False) -> Any:
    def ask(args: Args) -> Any:
        client = connect(args)
        body = {"until": time_words.from_now(args.span)} if has_end and args.span else {}
        return client.put(f"/monitor/{_id(client, args)}/{word}", body if has_end else None)

    return ask


def delete(args: Args) -> Any:
    client = connect(args)
    return client.delete(f"/monitor/{_id(client, args)}")


def history(args: Args) -> Any:
    client = connect(args)
    query = {"from": time_words.from_now(args.last, back=True)}
    return client.get(f"/monitor/{_id(client, args)}/history", query)


def push_url(args: Args) -> Any:
    client = connect(args)
    path = f"/monitor/{_id(client, args)}/credentials"
    return client.post(f"{path}/rotate", {}) if args.rotate else client.get(path)


def _find(client: Client, text: str) -> dict[str, Any]:
    return lookup.monitor(client, text)


def _id(client: Client, args: Args) -> str:
    return str(_find(client, args.monitor)["id"])


def show_monitors(monitors: Any) -> None:
    rendering.table(
        ("id", "state", "monitor*", "type", "host*", "every", "seen", "what it said*"),
        (
            (
                each["id"],
                each["state"],
                each["name"],
                each["type"],
                each["hostname"],
                time_words.span(each["looptime"] / 1_000),
                time_words.age(each["last_check"]),
                each["last_event"].get("message", ""),
            )
            for each in monitors
        ),
        "No monitor yet. Admins make one with: belvedere monitor create NAME --host HOST --url URL",
    )


def show_monitor(found: Any) -> None:
    rendering.fields(
        (
            ("id", found["id"]),
            ("monitor", found["name"]),
            ("description", found["description"]),
            ("type", found["type"]),
            ("host", found["hostname"]),
            ("state", found["state"]),
            ("since", time_words.when(found["state_since"])),
            ("last check", time_words.when(found["last_check"])),
            ("what it said", found["last_event"].get("message")),
            ("data", found["last_event"].get("data")),
            ("misses in a row", found["fails_count"]),
            ("failure after", f"{found['fail_threshold']} misses"),
            ("severity", found["failure_severity"]),
            ("every", time_words.span(found["looptime"] / 1_000)),
            ("checks", found["config"]),
            ("paused until", time_words.when(found["paused_until"])),
            ("people are told", found["alerts"]),
            ("muted until", time_words.when(found["muted_until"])),
            ("who may see it", found["acl"] or "everybody"),
            ("version", found["version"]),
        )
    )


def show_history(found: Any) -> None:
    uptime = "no checks" if found["uptime"] is None else f"{found['uptime']:g} %"
    print(
        f"Uptime {uptime} of {found['checks']} checks; {found['known']:g} % of the time is known."
    )
    rendering.table(
        ("at", "checks", "up", "measured*"),
        (
            (
                time_words.local(each["at"]),
                each["checks"],
                f"{100 * each['up']:g} %",
                ", ".join(f"{name} {value['avg']:.4g}" for name, value in each["values"].items()),
            )
            for each in found["points"]
        ),
        "Nothing was seen in this time.",
    )


def _say(text: str) -> Any:
    return lambda found: print(text.format(found["name"]))


_DEFINITION = (
    *(option(f"--{name}", metavar="TEXT", help=text) for name, text in TEXTS),
    option("--every", metavar="DURATION", help="how often (default 60s)"),
    option("--timeout", metavar="DURATION", help="how long one check may take (default 10s)"),
    option("--threshold", type=int, metavar="N", help="misses in a row until it is a failure"),
    option("--severity", choices=("LOW", "HIGH", "CRITICAL"), help="how bad a failure is"),
)

VERBS = (
    Verb(
        "list",
        listed,
        "List the monitors that you may see.",
        "belvedere monitor list --state failure",
        show_monitors,
        options=(
            option("--type", choices=(*TYPES, "host"), help="only of this type"),
            option("--state", metavar="STATE", help="only in this state"),
        ),
    ),
    Verb(
        "show",
        one,
        "Show one monitor.",
        "belvedere monitor show shop",
        show_monitor,
        options=(MONITOR,),
    ),
    Verb(
        "create",
        create,
        "Make a monitor.",
        "belvedere monitor create shop --host web-1 --url https://shop.example --status-code 200",
        _say("Monitor {} is made."),
        options=(
            option("name", metavar="NAME", help="its name"),
            option("--type", default="scraper", choices=TYPES, help="what it checks (scraper)"),
            option("--host", metavar="HOST", help="the host that checks"),
            option("--member", action="append", metavar="MONITOR", help="nested: one of its own"),
            *_DEFINITION,
        ),
    ),
    Verb(
        "edit",
        edit,
        "Change a monitor. What is not named stays as it is.",
        "belvedere monitor edit shop --every 30s",
        _say("Monitor {} is changed."),
        options=(MONITOR, option("--name", metavar="NAME", help="another name"), *_DEFINITION),
    ),
    Verb(
        "pause",
        switch("pause", has_end=True),
        "Do not check it for a while.",
        "belvedere monitor pause shop --for 2h",
        _say("Monitor {} is paused."),
        options=(MONITOR, FOR),
    ),
    Verb(
        "resume",
        switch("resume"),
        "Check it again.",
        "belvedere monitor resume shop",
        _say("Monitor {} is checked again."),
        options=(MONITOR,),
    ),
    Verb(
        "mute",
        switch("mute", has_end=True),
        "Tell nobody of it for a while; it is checked as before.",
        "belvedere monitor mute shop --for 1d",
        _say("Nobody is told of monitor {}."),
        options=(MONITOR, FOR),
    ),
    Verb(
        "unmute",
        switch("unmute"),
        "Tell people of it again.",
        "belvedere monitor unmute shop",
        _say("People are told of monitor {} again."),
        options=(MONITOR,),
    ),
    Verb(
        "history",
        history,
        "Show what it saw, and its uptime.",
        "belvedere monitor history shop --last 6h",
        show_history,
        options=(
            MONITOR,
            option("--last", default="1d", metavar="DURATION", help="how far back (default 1d)"),
        ),
    ),
    Verb(
        "push-url",
        push_url,
        "Print the URL that a push monitor waits for; reading is audited.",
        "belvedere monitor push-url backup",
        lambda answer: print(answer["url"]),
        options=(MONITOR, option("--rotate", action="store_true", help="change it first")),
    ),
    Verb(
        "delete",
        delete,
        "Delete a monitor.",
        "belvedere monitor delete shop",
        _say("Monitor {} is deleted."),
        options=(MONITOR,),
    ),
)
