"""`belvedere schedule`: tasks that run at set times."""

from datetime import datetime

from belvedere.cli.framework import lookup, rendering, time_words
from belvedere.cli.framework.command import Args, Command, CommandError, Record, Show, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.jobs import run
from belvedere.client.http_client import Client

SCHEDULE = option("schedule", metavar="SCHEDULE", help="its name or id")
COUNT = option("--count", default="10", metavar="N", help="number of runs (default 10)")
REPEAT = option(
    "--repeat",
    metavar="WHEN",
    help="a cron expression ('30 2 * * mon-fri') or an interval ('every 15m')",
)
DATE = option(
    "--date", metavar="DATE", help="date of the only or first run, such as 2026-03-01T09:00"
)
ZONE = option("--zone", metavar="ZONE", help="an IANA time zone such as Europe/Berlin")
OVERLAP = option(
    "--overlap",
    choices=("skip", "queue"),
    help="if an earlier job has not finished: skip the run, or queue it",
)
MISSED = option(
    "--missed",
    choices=("skip", "once"),
    help="runs missed while no server was running: skip them, or run once",
)


def list_all(args: Args) -> object:
    client = connect(args)
    if args.task:
        return client.get(f"/task/{lookup.task(client, args.task)['id']}/schedule")
    return client.get("/schedule")


def get(args: Args) -> object:
    return _lookup(connect(args), args)


def create(args: Args) -> object:
    client = connect(args)
    task = lookup.task(client, args.task, args.host)
    body = _body(args)
    if not body.keys() & {"repeatEvery", "runDate"}:
        raise CommandError("No time given; use --repeat, --date or both.", 2)
    if args.values:
        body["task_arguments"] = run.argument_values(task["task_arguments"], args.values)
    return client.post(f"/task/{task['id']}/schedule", body)


def edit(args: Args) -> object:
    """Change only the given fields, unless the schedule was changed in the meantime."""
    client = connect(args)
    schedule = _lookup(client, args)
    body = _body(args)
    if args.enable is not None:
        body["enable"] = args.enable
    if not body:
        raise CommandError("Nothing to change. Use an option, for example --repeat.", 2)
    headers = {"If-Match": str(schedule["version"])}
    return client.request("PATCH", f"/schedule/{schedule['id']}", body, headers=headers).body


def _body(args: Args) -> Record:
    values = {
        "name": args.name,
        "repeatEvery": args.repeat,
        "runDate": args.date,
        "timezone": args.zone,
        "overlap": args.overlap,
        "missed": args.missed,
    }
    return {name: value for name, value in values.items() if value is not None}


def pause(args: Args) -> object:
    client = connect(args)
    body: Record = {"note": args.note}
    if args.for_:
        body["until"] = time_words.from_now(args.for_)
    return client.put(f"{_path(client, args)}/pause", body)


def resume(args: Args) -> object:
    client = connect(args)
    return client.put(f"{_path(client, args)}/resume")


def delete(args: Args) -> object:
    client = connect(args)
    return client.delete(_path(client, args))


def preview(args: Args) -> object:
    client = connect(args)
    if args.schedule:
        return client.get(f"{_path(client, args)}/preview", {"count": args.count})
    body = {"repeatEvery": args.repeat, "runDate": args.date, "timezone": args.zone}
    values = {name: value for name, value in body.items() if value is not None}
    if not values.keys() & {"repeatEvery", "runDate"}:
        raise CommandError("Specify a schedule, or a time with --repeat or --date.", 2)
    return client.post("/schedule/preview", {**values, "count": args.count})


def runs(args: Args) -> object:
    client = connect(args)
    query = {"limit": args.limit}
    if args.state:
        query["where[state]"] = args.state
    return client.get(f"{_path(client, args)}/run", query)


def _lookup(client: Client, args: Args) -> Record:
    return lookup.schedule(client, args.schedule)


def _path(client: Client, args: Args) -> str:
    return f"/schedule/{_lookup(client, args)['id']}"


def show_schedules(schedules: list[Record]) -> None:
    rendering.table(
        ("id", "state", "schedule*", "when*", "time zone", "next run", "last run"),
        (
            (
                schedule["id"],
                _state(schedule),
                schedule["name"],
                _when(schedule),
                schedule["timezone"],
                time_words.age(schedule["nextRunAt"]),
                time_words.age(schedule["lastRunAt"]),
            )
            for schedule in schedules
        ),
        "No schedules that you may see. Admins create one with:"
        " belvedere schedule create TASK --repeat '30 2 * * *'",
    )


def show_schedule(schedule: Record) -> None:
    pause = schedule["pause"] or {}
    rendering.fields(
        (
            ("id", schedule["id"]),
            ("schedule", schedule["name"]),
            ("state", _state(schedule)),
            (schedule["target"], schedule["task_id"] or schedule["workflow_id"]),
            ("repeats", schedule["repeatEvery"]),
            ("date", time_words.when(schedule["runDate"])),
            ("zone", schedule["timezone"]),
            ("arguments", schedule["task_arguments"]),
            ("overlap", schedule["overlap"]),
            ("missed runs", schedule["missed"]),
            ("paused until", time_words.when(pause.get("until")) if pause.get("until") else None),
            ("note", pause.get("note")),
            ("next", time_words.when(schedule["nextRunAt"])),
            ("last", time_words.when(schedule["lastRunAt"])),
            ("last job", schedule["last_job_id"]),
            ("version", schedule["version"]),
        )
    )


def show_fires(fires: list[Record]) -> None:
    rendering.table(
        ("schedule's time", "your time", "clock change"),
        (
            (_local_text(fire["local"]), time_words.local(fire["date"]), _clock_change(fire))
            for fire in fires
        ),
        "No further runs.",
    )


def show_runs(runs: list[Record]) -> None:
    rendering.table(
        ("time", "state", "count", "reason", "job", "message*"),
        (
            (
                time_words.local(run["nominal"]),
                run["state"],
                run["count"],
                run["reason"],
                run["job_id"],
                run["message"],
            )
            for run in runs
        ),
        "No runs yet.",
    )


def _state(schedule: Record) -> str:
    if not schedule["enable"]:
        return "disabled"
    return "paused" if schedule["pause"] else "active"


def _when(schedule: Record) -> str:
    return str(schedule["repeatEvery"] or time_words.local(schedule["runDate"]))


def _local_text(local: str) -> str:
    moment = datetime.fromisoformat(local)
    return moment.strftime("%a %Y-%m-%d %H:%M:%S ") + local[19:]


def _clock_change(fire: Record) -> str:
    text = {
        None: "",
        "moved": f"the clock skips {str(fire['meant'])[11:16]}",
        "repeated": "this time occurs twice; it runs the first time",
        "changed": "the clock changed since the previous run",
    }[fire["clock_change"]]
    return f"{text}{', ' if text else ''}paused" if fire["paused"] else text


def _confirmation(text: str) -> Show:
    return lambda schedule: print(
        text.format(schedule["name"], time_words.local(schedule["nextRunAt"]))
    )


def show_pause(schedule: Record) -> None:
    end = time_words.pause_end((schedule["pause"] or {}).get("until"))
    print(f"Schedule {schedule['name']} is paused {end}.")


COMMANDS = (
    Command(
        "list",
        list_all,
        "List the schedules that you may see.",
        "belvedere schedule list",
        show_schedules,
        options=(option("--task", metavar="TASK", help="only schedules of this task"),),
    ),
    Command(
        "show",
        get,
        "Show a schedule.",
        "belvedere schedule show backup",
        show_schedule,
        options=(SCHEDULE,),
    ),
    Command(
        "create",
        create,
        "Create a schedule for a task.",
        "belvedere schedule create backup --repeat '30 2 * * *' --zone Europe/Berlin",
        _confirmation("Schedule {} created; the next run is at {}."),
        options=(
            option("task", metavar="TASK", help="the task's name or id"),
            option("values", metavar="VALUE", nargs="*", help="the task's arguments, in order"),
            option("--host", metavar="HOST", help="the host, if several tasks have this name"),
            option("--name", metavar="NAME", help="its name (default: the name of the task)"),
            REPEAT,
            DATE,
            ZONE,
            OVERLAP,
            MISSED,
        ),
    ),
    Command(
        "edit",
        edit,
        "Change a schedule. Fields that you omit are unchanged.",
        "belvedere schedule edit backup --repeat '0 4 * * *'",
        _confirmation("Schedule {} updated."),
        options=(
            SCHEDULE,
            option("--name", metavar="NAME", help="the new name"),
            REPEAT,
            DATE,
            ZONE,
            OVERLAP,
            MISSED,
            option("--enable", action="store_true", default=None, help="enable it"),
            option("--disable", dest="enable", action="store_false", help="disable it"),
        ),
    ),
    Command(
        "pause",
        pause,
        "Pause a schedule; runs during the pause are recorded as missed.",
        "belvedere schedule pause backup --for 2d --note 'disk replacement'",
        show_pause,
        options=(
            SCHEDULE,
            option(
                "--for",
                dest="for_",
                metavar="DURATION",
                help="for how long (default: until resumed)",
            ),
            option("--note", default="", metavar="TEXT", help="why"),
        ),
    ),
    Command(
        "resume",
        resume,
        "Resume a paused schedule.",
        "belvedere schedule resume backup",
        _confirmation("Schedule {} resumed."),
        options=(SCHEDULE,),
    ),
    Command(
        "preview",
        preview,
        "Show the next runs, and how clock changes affect them.",
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
    Command(
        "runs",
        runs,
        "Show past runs: the job, or why a run was missed.",
        "belvedere schedule runs backup --state missed",
        show_runs,
        options=(
            SCHEDULE,
            option("--state", choices=("started", "missed"), help="only runs in this state"),
            option("--limit", default="20", metavar="N", help="maximum number (default 20)"),
        ),
    ),
    Command(
        "delete",
        delete,
        "Delete a schedule; its jobs continue.",
        "belvedere schedule delete backup",
        _confirmation("Schedule {} deleted."),
        options=(SCHEDULE,),
    ),
)
