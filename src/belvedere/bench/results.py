"""Measured figures, what they are compared with, and whether they meet their goals. No I/O."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import mean, median

import msgspec

MICRO, MILLI, MEGA = 1e-6, 1e-3, 1e6
# Average to median of the bare cost: about 1.1 on a quiet machine, 2.9 with five programs per core.
BUSY_RATIO = 1.5


class BareCost(msgspec.Struct):
    """Starting the script from Python and waiting for it: the baseline of the other figures.

    It is measured in rounds before, between and after the other measurements, and the median of
    the rounds counts, because a machine is seldom equally busy for a minute.
    """

    runs: int
    p50_us: float
    mean_us: float
    rounds_us: list[float]

    @property
    def is_disturbed(self) -> bool:
        """Other programs interrupt many runs, so the other figures cannot be judged."""
        return self.mean_us > BUSY_RATIO * self.p50_us


class Latency(msgspec.Struct):
    """From POST to the response that says finished, one job at a time.

    The jobs run in blocks, and so do those of the throughput. The ratio is the median of the ratios
    of the blocks to the bare cost just before and after each: a shared machine may become a third
    slower within a minute."""

    runs: int
    p50_ms: float
    p90_ms: float
    p99_ms: float
    ratio: float


class Throughput(msgspec.Struct):
    """From the first job's creation to the last job's end, by the server's timestamps."""

    jobs: int
    callers: int
    seconds: float
    per_second: float
    # Jobs per second times the bare seconds, the median of the blocks: 1 is as quick as starting
    # them one after another.
    ratio: float


class ProcessUsage(msgspec.Struct):
    name: str
    rss_bytes: int
    # Memory that processes share counts for each of them in part (proportional set size).
    pss_bytes: int
    cpu_percent: float


class Idle(msgspec.Struct):
    """Server, agent and keeper with nothing to do, after the load."""

    seconds: float
    processes: list[ProcessUsage]
    rss_bytes: int
    pss_bytes: int
    cpu_percent: float


class OperationCost(msgspec.Struct):
    """The cost of an operation in an empty database and in one full of history."""

    name: str
    empty_us: float
    full_us: float
    ratio: float


class HistoryResult(msgspec.Struct):
    jobs: int
    fill_s: float
    verbs: list[OperationCost]
    # An idle server with that history.
    idle: Idle | None = None


class QueueResult(msgspec.Struct):
    """Operations while this many jobs of a task at its concurrency limit wait."""

    jobs: int
    verbs: list[OperationCost]
    # An idle server with these jobs.
    idle: Idle | None = None


class AgentsResult(msgspec.Struct):
    """The server with this many connected agents that have nothing to do."""

    agents: int
    rss_bytes: int
    cpu_percent: float
    # From the start of the next server until all are connected again.
    reconnect_s: float
    # Attempts to connect that failed while that server was running.
    refused: int


class FeatureCost(msgspec.Struct):
    """The cost of a feature, in units of something simple that was measured at the same time."""

    name: str
    unit: str
    value: float
    ratio: float


class ServersResult(msgspec.Struct):
    """CPU time per job of one server, and of several on the same database."""

    servers: int
    jobs: int
    single_us: float
    several_us: float
    ratio: float


class QueueFigures(msgspec.Struct):
    """A job queue with the same workload: one job at a time, and many from several callers."""

    name: str
    p50_ms: float
    per_second: float
    is_durable: bool


class Goal(msgspec.Struct):
    """A figure and the limit that it has to meet."""

    name: str
    value: float
    limit: float
    is_most: bool
    is_met: bool


class Result(msgspec.Struct):
    """One run of the bench."""

    version: str
    engine: str
    system: str
    cores: int
    python: str
    bare: BareCost
    latency: Latency
    throughput: Throughput
    idle: Idle | None = None
    history: HistoryResult | None = None
    queue: QueueResult | None = None
    agents: AgentsResult | None = None
    # The same with a tenth of them.
    fewer_agents: AgentsResult | None = None
    # Memory of PostgreSQL; shared memory counts once. None: SQLite, or a server of its own.
    postgres_bytes: int | None = None
    rooms: list[FeatureCost] = []
    servers: ServersResult | None = None
    # Belvedere and other job queues, if they were compared.
    queues: list[QueueFigures] = []
    goals: list[Goal] = []
    # Too busy to judge: the goals are not compared.
    is_machine_busy: bool = False


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def bare(rounds: Sequence[Sequence[float]]) -> BareCost:
    medians = [median(times) for times in rounds]
    everything = [time for times in rounds for time in times]
    return BareCost(
        runs=len(everything),
        p50_us=median(medians) / MICRO,
        mean_us=median(mean(times) for times in rounds) / MICRO,
        rounds_us=[value / MICRO for value in medians],
    )


def bare_per_block(rounds: Sequence[Sequence[float]]) -> list[float]:
    """The bare seconds of each block, from the rounds before and after it."""
    return [mean(pair) for pair in pairwise(median(times) for times in rounds)]


def latency(blocks: Sequence[Sequence[float]], bare_s: Sequence[float]) -> Latency:
    times = [time for block in blocks for time in block]
    ratios = [median(block) / bare for block, bare in zip(blocks, bare_s, strict=True)]
    return Latency(
        runs=len(times),
        p50_ms=percentile(times, 0.50) / MILLI,
        p90_ms=percentile(times, 0.90) / MILLI,
        p99_ms=percentile(times, 0.99) / MILLI,
        ratio=median(ratios),
    )


def throughput(
    callers: int, blocks: Sequence[tuple[int, float]], bare_s: Sequence[float]
) -> Throughput:
    """`blocks`: jobs and seconds."""
    jobs, seconds = sum(count for count, _ in blocks), sum(span_s for _, span_s in blocks)
    ratios = [count / span_s * bare for (count, span_s), bare in zip(blocks, bare_s, strict=True)]
    return Throughput(jobs, callers, seconds, jobs / seconds, median(ratios))


def operation_cost(name: str, empty: Sequence[float], full: Sequence[float]) -> OperationCost:
    before, after = median(empty), median(full)
    return OperationCost(name, before / MICRO, after / MICRO, after / before)


def feature_cost(name: str, unit: str, value: float, plain: float) -> FeatureCost:
    return FeatureCost(name, unit, value, value / plain)


# Times the bare cost; other servers are judged as PostgreSQL.
LATENCY_GOAL = {"sqlite": 4.0, "postgres": 7.0}
THROUGHPUT_GOAL = {"sqlite": 0.8, "postgres": 0.4}
# Milliseconds of a search by index with a long history.
SEARCH_STEP, SEARCH_GOAL_MS = "one step of a search by index", 100.0
# The list examines up to a limit how many jobs are open.
QUEUE_GOALS = {"list of waiting jobs": 5.0}
FEATURE_GOALS = {
    "webhook trigger": 1.3,
    "counter rate": 0.5,
    "monitor list": 50.0,
    "indicator list": 50.0,
    "scraper check": 0.5,
    "scraper check in the server": 0.2,
    "dstat check": 2.0,
    "dstat check in the server": 0.2,
    "check of many monitors": 0.5,
    "check of many monitors in the server": 0.2,
    "event budget": 1.0,
}


def goals(result: Result) -> list[Goal]:
    """The promises of the product; memory and idle load only where they were measured."""
    engine = result.engine
    most = LATENCY_GOAL.get(engine, LATENCY_GOAL["postgres"])
    targets = [_at_most("latency", result.latency.ratio, most)]
    least = THROUGHPUT_GOAL.get(engine, 0.4)
    ratio = result.throughput.ratio
    targets.append(Goal("throughput", ratio, least, False, ratio >= least))
    if result.idle is not None:
        targets.append(_at_most("idle memory", result.idle.rss_bytes / MEGA, 150.0))
        targets.append(_at_most("idle cpu", result.idle.cpu_percent, 0.5))
    for cost in result.rooms:
        limit = FEATURE_GOALS.get(cost.name)
        if limit is None:
            continue
        least = cost.name == "counter rate"
        # PostgreSQL commits each increment on its own; no rate is promised there.
        if least and engine == "postgres":
            continue
        is_met = cost.ratio >= limit if least else cost.ratio <= limit
        targets.append(Goal(cost.name, cost.ratio, limit, not least, is_met))
    if result.servers is not None:
        targets.append(_at_most("servers", result.servers.ratio, 1.3))
    if result.queue is not None:
        targets += [
            _at_most(f"queue: {verb.name}", verb.ratio, QUEUE_GOALS.get(verb.name, 1.5))
            for verb in result.queue.verbs
        ]
        if result.queue.idle is not None:
            targets.append(_at_most("queue: idle cpu", result.queue.idle.cpu_percent, 0.5))
    if result.agents is not None:
        targets += [
            _at_most("agents: memory", result.agents.rss_bytes / MEGA, 250.0),
            _at_most("agents: idle cpu", result.agents.cpu_percent, 5.0),
            _at_most("agents: reconnect", result.agents.reconnect_s, 20.0),
            _at_most("agents: refused", result.agents.refused, 0.0),
        ]
    if result.fewer_agents is not None:
        targets += [
            _at_most("fewer agents: reconnect", result.fewer_agents.reconnect_s, 20.0),
            _at_most("fewer agents: refused", result.fewer_agents.refused, 0.0),
        ]
    if result.history is not None:
        targets += [
            _at_most(f"history: {verb.name}", verb.ratio, 1.5) for verb in result.history.verbs
        ]
        targets += [
            _at_most("history: search time", verb.full_us / 1e3, SEARCH_GOAL_MS)
            for verb in result.history.verbs
            if verb.name == SEARCH_STEP
        ]
        if result.history.idle is not None:
            targets.append(_at_most("history: idle cpu", result.history.idle.cpu_percent, 0.5))
    return targets


def _at_most(name: str, value: float, limit: float) -> Goal:
    return Goal(name, value, limit, True, value <= limit)
