"""What was measured, what it is compared with, and whether it meets its goal. Pure."""

from collections.abc import Sequence
from statistics import mean, median

import msgspec

MICRO, MILLI, MEGA = 1e-6, 1e-3, 1e6


class Bare(msgspec.Struct):
    """Starting the script from Python and waiting for it: the floor that others are held against.

    Rounds before, between and after the other measurements; their median counts, because a
    machine is seldom equally busy for a whole minute.
    """

    runs: int
    p50_us: float
    mean_us: float
    rounds_us: list[float]


class Latency(msgspec.Struct):
    """From POST to the answer that says finished, one job at a time."""

    runs: int
    p50_ms: float
    p90_ms: float
    p99_ms: float
    ratio: float


class Throughput(msgspec.Struct):
    """From the first job's creation to the last one's end, as the server's own times tell."""

    jobs: int
    callers: int
    seconds: float
    per_second: float
    # Jobs per second times the bare seconds: 1 is as quick as starting them one after another.
    ratio: float


class Process(msgspec.Struct):
    name: str
    rss_bytes: int
    # What is shared with the others counts for each with its part only.
    pss_bytes: int
    cpu_percent: float


class Idle(msgspec.Struct):
    """Server, agent and keeper with nothing to do, after the load."""

    seconds: float
    processes: list[Process]
    rss_bytes: int
    pss_bytes: int
    cpu_percent: float


class Grown(msgspec.Struct):
    """The cost of one verb in an empty database and in one full of history."""

    name: str
    empty_us: float
    full_us: float
    ratio: float


class History(msgspec.Struct):
    jobs: int
    fill_s: float
    verbs: list[Grown]
    # A server that has it all and nothing to do.
    idle: Idle | None = None


class Room(msgspec.Struct):
    """What something costs, in something plain that was measured beside it."""

    name: str
    unit: str
    value: float
    ratio: float


class Goal(msgspec.Struct):
    """A figure that must not be missed."""

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
    bare: Bare
    latency: Latency
    throughput: Throughput
    idle: Idle | None = None
    history: History | None = None
    rooms: list[Room] = []
    goals: list[Goal] = []


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of all does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def bare(rounds: Sequence[Sequence[float]]) -> Bare:
    medians = [median(times) for times in rounds]
    everything = [time for times in rounds for time in times]
    return Bare(
        runs=len(everything),
        p50_us=median(medians) / MICRO,
        mean_us=median(mean(times) for times in rounds) / MICRO,
        rounds_us=[value / MICRO for value in medians],
    )


def latency(times: Sequence[float], floor: Bare) -> Latency:
    p50 = percentile(times, 0.50)
    return Latency(
        runs=len(times),
        p50_ms=p50 / MILLI,
        p90_ms=percentile(times, 0.90) / MILLI,
        p99_ms=percentile(times, 0.99) / MILLI,
        ratio=p50 / (floor.p50_us * MICRO),
    )


def throughput(jobs: int, callers: int, seconds: float, floor: Bare) -> Throughput:
    rate = jobs / seconds
    return Throughput(jobs, callers, seconds, rate, rate * floor.p50_us * MICRO)


def grown(name: str, empty: Sequence[float], full: Sequence[float]) -> Grown:
    before, after = median(empty), median(full)
    return Grown(name, before / MICRO, after / MICRO, after / before)


def room(name: str, unit: str, value: float, plain: float) -> Room:
    return Room(name, unit, value, value / plain)


THROUGHPUT_GOAL = {"sqlite": 0.6, "postgres": 0.4}
ROOM_GOALS = {
    "webhook trigger": 1.3,
    "counter rate": 0.5,
    "monitor list": 50.0,
    "indicator list": 50.0,
    "scraper check": 1.0,
    "dstat check": 2.0,
}


def goals(result: Result) -> list[Goal]:
    """The promises of the product; a server somewhere else is held to none of its machine's."""
    found = [_most("latency", result.latency.ratio, 5.0)]
    least = THROUGHPUT_GOAL.get(result.engine, 0.4)
    ratio = result.throughput.ratio
    found.append(Goal("throughput", ratio, least, False, ratio >= least))
    if result.idle is not None:
        found.append(_most("idle memory", result.idle.rss_bytes / MEGA, 150.0))
        found.append(_most("idle cpu", result.idle.cpu_percent, 0.5))
    for room in result.rooms:
        limit = ROOM_GOALS[room.name]
        least = room.name == "counter rate"
        # PostgreSQL commits each increment on its own: exact is all that is promised there.
        if least and result.engine == "postgres":
            continue
        is_met = room.ratio >= limit if least else room.ratio <= limit
        found.append(Goal(room.name, room.ratio, limit, not least, is_met))
    if result.history is not None:
        found += [_most(f"history: {verb.name}", verb.ratio, 1.5) for verb in result.history.verbs]
        if result.history.idle is not None:
            found.append(_most("history: idle cpu", result.history.idle.cpu_percent, 0.5))
    return found


def _most(name: str, value: float, limit: float) -> Goal:
    return Goal(name, value, limit, True, value <= limit)
