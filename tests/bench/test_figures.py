"""From times to figures, ratios and goals."""

import pytest

from belvedere.base.errors import Refused
from belvedere.bench import results
from belvedere.bench.measure import agents
from belvedere.bench.results import (
    AgentsResult,
    BareCost,
    HistoryResult,
    Idle,
    OperationCost,
    QueueResult,
    Result,
)
from belvedere.server.transport import connections

MS = 1e-3
BARE = BareCost(runs=1, p50_us=500.0, mean_us=500.0, rounds_us=[500.0])


def result(latency_ms: float, seconds: float, engine: str = "sqlite") -> Result:
    return Result(
        version="0",
        engine=engine,
        system="",
        cores=2,
        python="",
        bare=BARE,
        latency=results.latency([[latency_ms * MS]], [0.5 * MS]),
        throughput=results.throughput(16, [(1_000, seconds)], [0.5 * MS]),
    )


def goals_met(measured: Result) -> dict[str, bool]:
    return {goal.name: goal.is_met for goal in results.goals(measured)}


def test_ratios_and_goals_are_computed() -> None:
    measured = result(latency_ms=1.5, seconds=0.5)
    assert measured.latency.ratio == pytest.approx(3.0)
    assert measured.throughput.per_second == pytest.approx(2_000)
    assert measured.throughput.ratio == pytest.approx(1.0)
    assert goals_met(measured) == {"latency": True, "throughput": True}


def test_a_machine_that_becomes_slower_changes_no_ratio() -> None:
    rounds = [[1 * MS], [1 * MS], [2 * MS], [4 * MS], [4 * MS]]
    bare_s = results.bare_per_block(rounds)
    assert bare_s == [1 * MS, 1.5 * MS, 3 * MS, 4 * MS]
    measured = results.latency([[4 * bare] * 10 for bare in bare_s], bare_s)
    assert measured.ratio == pytest.approx(4)
    blocks = [(100, 100 * bare / 0.8) for bare in bare_s]
    assert results.throughput(16, blocks, bare_s).ratio == pytest.approx(0.8)


def test_a_percentile_is_a_value_that_was_measured() -> None:
    times = [float(n) for n in range(100, 0, -1)]
    assert results.percentile(times, 0.50) == 51
    assert results.percentile(times, 0.99) == 100
    assert results.percentile([7.0], 0.99) == 7


def test_the_bare_cost_is_the_median_of_its_rounds() -> None:
    measured = results.bare([[1 * MS, 1 * MS], [2 * MS, 2 * MS, 2 * MS], [9 * MS]])
    assert measured.p50_us == pytest.approx(2_000)
    assert measured.runs == 6


@pytest.mark.parametrize(("longest_ms", "is_disturbed"), [(3, False), (30, True)])
def test_a_machine_on_which_many_runs_are_interrupted_is_busy(
    longest_ms: int, is_disturbed: bool
) -> None:
    measured = results.bare([[1 * MS] * 9 + [longest_ms * MS]] * 3)
    assert measured.is_disturbed is is_disturbed


def test_a_slow_response_misses_its_goal() -> None:
    assert goals_met(result(latency_ms=2.6, seconds=0.5)) == {"latency": False, "throughput": True}


@pytest.mark.parametrize(("engine", "is_met"), [("sqlite", False), ("postgres", True)])
def test_postgres_may_take_longer(engine: str, is_met: bool) -> None:
    assert goals_met(result(1.0, seconds=1.0, engine=engine))["throughput"] is is_met


def test_idle_and_history_have_goals_where_they_were_measured() -> None:
    measured = result(1.0, 0.5)
    measured.idle = Idle(10, [], rss_bytes=149_000_000, pss_bytes=1, cpu_percent=0.6)
    measured.history = HistoryResult(
        9, 1.0, [OperationCost("create", 100, 151, 1.51), OperationCost("claim", 9, 9, 1.0)]
    )
    measured.history.idle = Idle(10, [], rss_bytes=1, pss_bytes=1, cpu_percent=0.4)
    further = {name: is_met for name, is_met in goals_met(measured).items() if " " in name}
    assert further == {
        "idle memory": True,
        "idle cpu": False,
        "history: create": False,
        "history: claim": True,
        "history: idle cpu": True,
    }


@pytest.mark.parametrize(("cpu_percent", "is_met"), [(0.4, True), (0.6, False)])
def test_an_idle_server_with_a_long_queue_has_a_goal(cpu_percent: float, is_met: bool) -> None:
    measured = result(1.0, 0.5)
    assert "queue: idle cpu" not in goals_met(measured)
    usage = Idle(10, [], rss_bytes=1, pss_bytes=1, cpu_percent=cpu_percent)
    measured.queue = QueueResult(50_000, [], usage)
    assert goals_met(measured)["queue: idle cpu"] is is_met


@pytest.mark.parametrize(("count", "is_met"), [(1_000, True), (1_001, False)])
def test_kept_events_may_not_exceed_their_budget(count: int, is_met: bool) -> None:
    measured = result(1.0, 0.5)
    measured.rooms = [results.feature_cost("event budget", "events", count, 1_000)]
    assert goals_met(measured)["event budget"] is is_met


def test_connected_agents_have_goals() -> None:
    measured = result(1.0, 0.5)
    measured.agents = AgentsResult(10_000, 251_000_000, 4.9, reconnect_s=19.0, refused=1)
    assert {name: is_met for name, is_met in goals_met(measured).items() if ":" in name} == {
        "agents: memory": False,
        "agents: idle cpu": True,
        "agents: reconnect": True,
        "agents: refused": False,
    }


@pytest.mark.parametrize(("engine", "limit"), [("sqlite", 4.0), ("postgres", 7.0)])
def test_the_limits_are_those_of_the_engine(engine: str, limit: float) -> None:
    goals = {goal.name: goal.limit for goal in results.goals(result(1.0, 0.5, engine))}
    assert goals == {"latency": limit, "throughput": {"sqlite": 0.8, "postgres": 0.4}[engine]}


@pytest.mark.parametrize(("full_us", "is_met"), [(99_000, True), (101_000, False)])
def test_a_search_has_a_limit_in_milliseconds(full_us: float, is_met: bool) -> None:
    measured = result(1.0, 0.5)
    cost = OperationCost(results.SEARCH_STEP, full_us, full_us, 1.0)
    measured.history = HistoryResult(9, 1.0, [cost])
    assert goals_met(measured)["history: search time"] is is_met


def test_fewer_agents_and_figures_without_a_goal_are_shown() -> None:
    measured = result(1.0, 0.5)
    measured.fewer_agents = AgentsResult(1_000, 1, 1.0, reconnect_s=21.0, refused=0)
    measured.rooms = [results.feature_cost("job of a separate agent", "times", 1.0, 1.0)]
    further = {name: is_met for name, is_met in goals_met(measured).items() if " " in name}
    assert further == {"fewer agents: reconnect": False, "fewer agents: refused": True}


def test_a_machine_with_too_few_open_files_is_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "capacity", lambda: 4_096)
    agents.check_limit(3_000)
    with pytest.raises(Refused, match="3996 agents"):
        agents.check_limit(4_000)
