"""`belvedere schedule`: when tasks run by themselves."""

from datetime import datetime
from typing import Any

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Stop, Verb, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.jobs import arguments
from belvedere.client.http_client import Client

SCHEDULE = option("schedule", metavar="SCHEDULE", help="its name or id")
COUNT = option("--count", default="10", metavar="N", help="how many (default 10)")
REPEAT = option(
    "--repeat", metavar="WHEN", help="a cron text ('30 2 * * mon-fri') or an interval ('every 15m')"
)
DATE = option("--date", metavar="DATE", help="the one or the first run, such as 2026-03-01T09:00")
ZONE = option("--zone", metavar="ZONE", help="an IANA time zone such as Europe/Berlin")
OVERLAP = option(
    "--overlap",
    choices=("skip", "queue"),
    help="while an earlier job is open: leave the run out, or queue it",
)
MISSED = option(
    "--missed",
    choices=("skip", "once"),
    help="runs missed while no server ran: leave them out, or run once",
)


def listed(args: Args) -> Any:
    client = connect(args)
    if args.task:
        return client.get(f"/task/{lookup.task(client, args.task)['id']}/schedule")
    return client.get("/schedule")


def one(args: Args) -> Any:
    return _found(connect(args), args)


def create(args: Args) -> Any:
    client = connect(args)
    task = lookup.task(client, args.task, args.host)
    body = _said(args)
    if not body.keys() & {"repeatEvery", "runDate"}:
        raise Stop("Say when: with --repeat, --date or both.", 2)
    if args.values:
        body["task_arguments"] = arguments.sent(task["task_arguments"], args.values)
    return client.post(f"/task/{task['id']}/schedule", body)


def edit(args: Args) -> Any:
    """Change what was said and nothing else, unless somebody changed it meanwhile."""
    client = connect(args)
    found = _found(client, args)
    body = _said(args)
    if args.enable is not None:
        body["enable"] = args.enable
    if not body:
        raise Stop("Nothing to change; say what, for example with --repeat.", 2)
    headers = {"If-Match": str(found["version"])}
    return client.request("PATCH", f"/schedule/{found['id']}", body, headers=headers).body


def _said(args: Args) -> dict[str, Any]:
    said = {
        "name": args.name,
        "repeatEvery": args.repeat,
        "runDate": args.date,
        "timezone": args.zone,
        "overlap": args.overlap,
        "missed": args.missed,
    }
    return {name: value for name, value in said.items() if value is not None}


def pause(args: Args) -> Any:
    client = connect(args)
    body: dict[str, Any] = {"note": args.note}
    if args.for_:
        body["until"] = time_words.from_now(args.for_)
    return client.put(f"{_path(client, args)}/pause", body)


def resume(args: Args) -> Any:
    client = connect(args)
    return client.put(f"{_path(client, args)}/resume")


def delete(args: Args) -> Any:
    client = connect(args)
    return client.delete(_path(client, args))


def preview(args: Args) -> Any:
    client = connect(args)
    if args.schedule:
        return client.get(f"{_path(client, args)}/preview", {"count": args.count})
    body = {"repeatEvery": args.repeat, "runDate": args.date, "timezone": args.zone}
    said = {name: value for name, value in body.items() if value is not None}
    if not said.keys() & {"repeatEvery", "runDate"}:
        raise Stop("Name a schedule, or say when with --repeat or --date.", 2)
    return client.post("/schedule/preview", {**said, "count": args.count})


def runs(args: Args) -> Any:
    client = connect(args)
    query = {"limit": args.limit}
    if args.state:
        query["where[state]"] = args.state
    return client.get(f"{_path(client, args)}/run", query)


def _found(client: Client, args: Args) -> dict[str, Any]:
    return lookup.schedule(client, args.schedule)


def _path(client: Client, args: Args) -> str:
    return f"/schedule/{_found(client, args)['id']}"


def show_schedules(found: Any) -> None:
    rendering.table(
        ("id", "state", "schedule*", "when*", "zone", "next", "last"),
        (
            (
                each["id"],
                _state(each),
                each["name"],
                _when(each),
                each["timezone"],
                time_words.age(each["nextRunAt"]),
                time_words.age(each["lastRunAt"]),
            )
            for each in found
        ),
        "No schedule that you may see. Admins make one with:"
        " belvedere schedule create TASK --repeat '30 2 * * *'",
    )


def show_schedule(found: Any) -> None:
    pause = found["pause"] or {}
    rendering.fields(
        (
            ("id", found["id"]),
            ("schedule", found["name"]),
            ("state", _state(found)),
            (found["target"], found["task_id"] or found["workflow_id"]),
            ("repeats", found["repeatEvery"]),
            ("date", time_words.when(found["runDate"])),
            ("zone", found["timezone"]),
            ("arguments", found["task_arguments"]),
            ("while a job is open", found["overlap"]),
            ("what was missed", found["missed"]),
            ("paused until", time_words.when(pause.get("until")) if pause.get("until") else None),
            ("because", pause.get("note")),
            ("next", time_words.when(found["nextRunAt"])),
            ("last", time_words.when(found["lastRunAt"])),
            ("last job", found["last_job_id"]),
            ("version", found["version"]),
        )
    )


def show_fires(fires: Any) -> None:
    rendering.table(
        ("in its zone", "here", "clock change"),
        ((_plain(each["local"]), time_words.local(each["date"]), _change(each)) for each in fires),
        "It never runs again.",
    )


def show_runs(found: Any) -> None:
    rendering.table(
        ("instant", "state", "count", "reason", "job", "message*"),
        (
            (
                time_words.local(each["nominal"]),
                each["state"],
                each["count"],
                each["reason"],
                each["job_id"],
                each["message"],
            )
            for each in found
        ),
        "Nothing was due yet.",
    )


def _state(found: Any) -> str:
    if not found["enable"]:
        return "disabled"
    return "paused" if found["pause"] else "active"


def _when(found: Any) -> str:
    return str(found["repeatEvery"] or time_words.local(found["runDate"]))


def _plain(local: str) -> str:
    moment = datetime.fromisoformat(local)
    return moment.strftime("%a %Y-%m-%d %H:%M:%S ") + local[19:]


def _change(fire: Any) -> str:
    told = {
        None: "",
        "moved": f"the clocks skip {str(fire['meant'])[11:16]}",
        "repeated": "the clocks show it twice; it runs at the first",
        "changed": "the clocks changed since the run before",
    }[fire["clock_change"]]
    return f"{told}{', ' if told else ''}paused" if fire["paused"] else told


def _say(text: str) -> Any:
    return lambda found: print(text.format(found["name"], time_words.local(found["nextRunAt"])))


VERBS = (
    Verb(
        "list",
        listed,
        "List the schedules of what you may see.",
        "belvedere schedule list",
        show_schedules,
        options=(option("--task", metavar="TASK", help="only those of this task"),),
    ),
    Verb(
        "show",
        one,
        "Show one schedule.",
        "belvedere schedule show backup",
        show_schedule,
        options=(SCHEDULE,),
    ),
    Verb(
        "create",
        create,
        "Let a task run by itself.",
        "belvedere schedule create backup --repeat '30 2 * * *' --zone Europe/Berlin",
        _say("Schedule {} is made; it runs next at {}."),
        options=(
            option("task", metavar="TASK", help="the task's name or id"),
            option("values", metavar="VALUE", nargs="*", help="the task's arguments, in order"),
            option("--host", metavar="HOST", help="which, where several tasks share the name"),
            option("--name", metavar="NAME", help="its name (default: the task's)"),
            REPEAT,
            DATE,
            ZONE,
            OVERLAP,
            MISSED,
        ),
    ),
    Verb(
        "edit",
        edit,
        "Change a schedule. What is not named stays as it is.",
        "belvedere schedule edit backup --repeat '0 4 * * *'",
        _say("Schedule {} is changed."),
        options=(
            SCHEDULE,
            option("--name", metavar="NAME", help="another name"),
            REPEAT,
            DATE,
            ZONE,
            OVERLAP,
            MISSED,
            option("--enable", action="store_true", default=None, help="switch it on"),
            option("--disable", dest="enable", action="store_false", help="switch it off"),
        ),
    ),
    Verb(
        "pause",
        pause,
        "Start nothing for a while; what falls into it is written down as missed.",
        "belvedere schedule pause backup --for 2d --note 'the disks move'",
        _say("Schedule {} is paused."),
        options=(
            SCHEDULE,
            option("--for", dest="for_", metavar="DURATION", help="default: until it is resumed"),
            option("--note", default="", metavar="TEXT", help="why"),
        ),
    ),
    Verb(
        "resume",
        resume,
        "End a pause.",
        "belvedere schedule resume backup",
        _say("Schedule {} goes on."),
        options=(SCHEDULE,),
    ),
    Verb(
        "preview",
        preview,
        "Tell when it runs next, and what clock changes do to it.",
        "belvedere schedule preview --repeat '30 2 * * *' --zone Europe/Berlin",
        show_fires,
        options=(
            option("schedule", metavar="SCHEDULE", nargs="?", help="its name or id"),
            REPEAT,
            DATE,
            ZONE,
            COUNT,
        ),
    ),
    Verb(
        "runs",
        runs,
        "Tell what became of its instants: a job, or why it was missed.",
        "belvedere schedule runs backup --state missed",
        show_runs,
        options=(
            SCHEDULE,
            option("--state", choices=("started", "missed"), help="only these"),
            option("--limit", default="20", metavar="N", help="at most so many (default 20)"),
        ),
    ),
    Verb(
        "delete",
        delete,
        "Delete a schedule; its jobs go on.",
        "belvedere schedule delete backup",
        _say("Schedule {} is deleted."),
        options=(SCHEDULE,),
    ),
)
