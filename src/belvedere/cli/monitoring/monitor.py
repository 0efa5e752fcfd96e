"""`belvedere monitor`: checks of hosts and services."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from belvedere.cli.framework import lookup, rendering, time_words, words
from belvedere.cli.framework.command import Args, Command, CommandError, Record, Show, option
from belvedere.cli.framework.profile import connect
from belvedere.client.http_client import Client
from belvedere.monitors.model import SERVICE_TYPES, TYPE_TITLES, MonitorType

if TYPE_CHECKING:
    from rich.text import Text

MONITOR = option("monitor", metavar="MONITOR", help="the monitor's name or id")
FOR = option(
    "--for",
    dest="span",
    metavar="DURATION",
    help="for how long, for example 30m, 2h or 1d (default: until you end it)",
)
# The monitor of a host comes with the host.
TITLES = {
    type_.value: title for type_, title in TYPE_TITLES.items() if type_ is not MonitorType.HOST
}
TYPES = tuple(TITLES)
# Options that are sent as fields of the same name.
TEXT_OPTIONS = (
    ("url", "web check: the address"),
    ("status-code", "web check: regular expression for the expected status"),
    ("pattern", "web check: regular expression that the response must match"),
    ("json-path", "web check: path of a value in the response, such as $.status"),
    ("json-value", "web check: the expected value at that path"),
    ("raw-search", "process: text in the command line"),
    ("path", "file: its path"),
    ("file", "file: the id of a stored file that the agent keeps at the path"),
    ("permissions", "file: its mode, such as 0644"),
    ("os-username", "file: its owner"),
    ("os-groupname", "file: its group"),
    ("script-id", "script: the id of the stored file"),
    ("target", "tcp, ping, dns, tls: the host name or address"),
    ("port", "tcp, tls: the port"),
    ("days", "tls: fail if the certificate expires within this many days"),
    ("description", "a note for people"),
)


def list_all(args: Args) -> object:
    query = {f"where[{name}]": getattr(args, name) for name in ("type", "state")}
    return connect(args).get("/monitor", {name: word for name, word in query.items() if word})


def get(args: Args) -> object:
    client = connect(args)
    return client.get(f"/monitor/{_id(client, args)}")


def create(args: Args) -> object:
    client = connect(args)
    body: Record = {"name": args.name, "type": args.type, **_fields(args)}
    if args.host:
        body["host_id"] = lookup.host(client, args.host)["id"]
    if args.member:
        body["monitors"] = [_lookup(client, name)["id"] for name in args.member]
    return client.post("/monitor", body)


def edit(args: Args) -> object:
    """Change only the given fields, unless the monitor was changed in the meantime."""
    body = _fields(args)
    if args.name is not None:
        body["name"] = args.name
    if not body:
        raise CommandError("Nothing to change. Use an option, for example --every 30s.", 2)
    client = connect(args)
    monitor = _lookup(client, args.monitor)
    headers = {"If-Match": str(monitor["version"])}
    return client.request("PATCH", f"/monitor/{monitor['id']}", body, headers=headers).body


def _fields(args: Args) -> Record:
    names = [name.replace("-", "_") for name, _ in TEXT_OPTIONS]
    body = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    for name, text in (("looptime", args.every), ("timeout", args.timeout)):
        if text:
            body[name] = time_words.duration_ms(text)
    if args.threshold is not None:
        body["fail_threshold"] = args.threshold
    if args.severity:
        body["failure_severity"] = args.severity
    return body


def _switch(action: str, *, has_end: bool = False) -> Callable[[Args], object]:
    def put(args: Args) -> object:
        client = connect(args)
        body = {"until": time_words.from_now(args.span)} if has_end and args.span else {}
        return client.put(f"/monitor/{_id(client, args)}/{action}", body if has_end else None)

    return put


def delete(args: Args) -> object:
    client = connect(args)
    return client.delete(f"/monitor/{_id(client, args)}")


def history(args: Args) -> object:
    client = connect(args)
    query = {"from": time_words.from_now(args.last, back=True)}
    return client.get(f"/monitor/{_id(client, args)}/history", query)


def push_url(args: Args) -> object:
    client = connect(args)
    path = f"/monitor/{_id(client, args)}/credentials"
    return client.post(f"{path}/rotate", {}) if args.rotate else client.get(path)


def _lookup(client: Client, text: str) -> Record:
    return lookup.monitor(client, text)


def _id(client: Client, args: Args) -> str:
    return str(_lookup(client, args.monitor)["id"])


def state_cell(monitor: Record) -> "Text":
    return words.monitor_state(monitor, is_service=monitor["type"] in SERVICE_TYPES)


def show_monitors(monitors: list[Record]) -> None:
    rendering.table(
        ("id", "state", "monitor*", "kind", "host*", "every", "last check", "message*"),
        (
            (
                monitor["id"],
                state_cell(monitor),
                monitor["name"],
                TYPE_TITLES.get(monitor["type"], monitor["type"]),
                monitor["hostname"],
                time_words.span(monitor["looptime"] / 1_000),
                time_words.age(monitor["last_check"]),
                monitor["last_event"].get("message", ""),
            )
            for monitor in monitors
        ),
        "No monitors. Admins create one with: belvedere monitor create NAME --host HOST --url URL",
    )


def show_monitor(monitor: Record) -> None:
    rendering.fields(
        (
            ("id", monitor["id"]),
            ("monitor", monitor["name"]),
            ("description", monitor["description"]),
            ("kind", TYPE_TITLES.get(monitor["type"], monitor["type"])),
            ("host", monitor["hostname"]),
            ("state", state_cell(monitor)),
            ("since", time_words.when(monitor["state_since"])),
            ("last check", time_words.when(monitor["last_check"])),
            ("message", monitor["last_event"].get("message")),
            ("data", monitor["last_event"].get("data")),
            ("failed checks in a row", monitor["fails_count"]),
            ("failure after", f"{monitor['fail_threshold']} failed checks"),
            ("severity", monitor["failure_severity"]),
            ("every", time_words.span(monitor["looptime"] / 1_000)),
            ("checks", monitor["config"]),
            ("paused until", time_words.when(monitor["paused_until"])),
            ("notifications", monitor["alerts"]),
            ("muted until", time_words.when(monitor["muted_until"])),
            ("who may see it", monitor["acl"] or "everyone"),
            ("version", monitor["version"]),
        )
    )


def show_history(history: Record) -> None:
    uptime = "no checks" if history["uptime"] is None else f"{history['uptime']:g} %"
    coverage = f"data for {history['known']:g} % of the time"
    print(f"Uptime {uptime} of {history['checks']} checks; {coverage}.")
    rendering.table(
        ("time", "checks", "up", "values*"),
        (
            (
                time_words.local(point["at"]),
                point["checks"],
                f"{100 * point['up']:g} %",
                ", ".join(f"{name} {value['avg']:.4g}" for name, value in point["values"].items()),
            )
            for point in history["points"]
        ),
        "No data for this period.",
    )


def _confirmation(text: str) -> Show:
    return lambda monitor: print(text.format(monitor["name"]))


def _confirmation_until(word: str, field: str) -> Show:
    ending = {"paused": "resumed", "muted": "unmuted"}[word]
    return lambda monitor: print(
        f"Monitor {monitor['name']} is {word} {time_words.pause_end(monitor[field], ending)}."
    )


_DEFINITION_OPTIONS = (
    *(option(f"--{name}", metavar="TEXT", help=text) for name, text in TEXT_OPTIONS),
    option("--every", metavar="DURATION", help="interval between checks (default 60s)"),
    option("--timeout", metavar="DURATION", help="timeout of a check (default 10s)"),
    option(
        "--threshold",
        type=int,
        metavar="N",
        help="consecutive failed checks before the state is failure",
    ),
    option("--severity", choices=("LOW", "HIGH", "CRITICAL"), help="severity of a failure"),
)

COMMANDS = (
    Command(
        "list",
        list_all,
        "List the monitors that you may see.",
        "belvedere monitor list --state failure",
        show_monitors,
        options=(
            option("--type", choices=(*TYPES, "host"), help="only monitors of this type"),
            option("--state", metavar="STATE", help="only monitors in this state"),
        ),
    ),
    Command(
        "show",
        get,
        "Show a monitor.",
        "belvedere monitor show shop",
        show_monitor,
        options=(MONITOR,),
    ),
    Command(
        "create",
        create,
        "Create a monitor.",
        "belvedere monitor create shop --host web-1 --url https://shop.example --status-code 200",
        _confirmation("Monitor {} created."),
        options=(
            option("name", metavar="NAME", help="its name"),
            option(
                "--type",
                default="scraper",
                choices=TYPES,
                help=words.type_help("scraper", TITLES),
            ),
            option("--host", metavar="HOST", help="the host that runs the checks"),
            option(
                "--member",
                action="append",
                metavar="MONITOR",
                help="nested: a monitor in the group; can be repeated",
            ),
            *_DEFINITION_OPTIONS,
        ),
    ),
    Command(
        "edit",
        edit,
        "Change a monitor. Fields that you omit are unchanged.",
        "belvedere monitor edit shop --every 30s",
        _confirmation("Monitor {} updated."),
        options=(
            MONITOR,
            option("--name", metavar="NAME", help="the new name"),
            *_DEFINITION_OPTIONS,
        ),
    ),
    Command(
        "pause",
        _switch("pause", has_end=True),
        "Pause a monitor: stop its checks.",
        "belvedere monitor pause shop --for 2h",
        _confirmation_until("paused", "paused_until"),
        options=(MONITOR, FOR),
    ),
    Command(
        "resume",
        _switch("resume"),
        "Resume a paused monitor.",
        "belvedere monitor resume shop",
        _confirmation("Monitor {} resumed."),
        options=(MONITOR,),
    ),
    Command(
        "mute",
        _switch("mute", has_end=True),
        "Mute a monitor: checks continue without notifications.",
        "belvedere monitor mute shop --for 1d",
        _confirmation_until("muted", "muted_until"),
        options=(MONITOR, FOR),
    ),
    Command(
        "unmute",
        _switch("unmute"),
        "Send notifications for a muted monitor again.",
        "belvedere monitor unmute shop",
        _confirmation("Monitor {} unmuted."),
        options=(MONITOR,),
    ),
    Command(
        "history",
        history,
        "Show the uptime and the measured values of a monitor.",
        "belvedere monitor history shop --last 6h",
        show_history,
        options=(
            MONITOR,
            option("--last", default="1d", metavar="DURATION", help="how far back (default 1d)"),
        ),
    ),
    Command(
        "push-url",
        push_url,
        "Print the URL of a push monitor; reading it is audited.",
        "belvedere monitor push-url backup",
        lambda credentials: print(credentials["url"]),
        options=(MONITOR, option("--rotate", action="store_true", help="rotate it first")),
    ),
    Command(
        "delete",
        delete,
        "Delete a monitor.",
        "belvedere monitor delete shop",
        _confirmation("Monitor {} deleted."),
        options=(MONITOR,),
    ),
)
