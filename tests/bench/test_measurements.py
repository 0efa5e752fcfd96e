"""Measurements that can be run on small databases, and what they count."""

import urllib.request
from pathlib import Path

import pytest

from belvedere.bench.environment.web_target import web_page
from belvedere.bench.measure import event_budget
from belvedere.bench.measure.features import check_costs
from belvedere.bench.results import Idle, ProcessUsage


def test_retention_keeps_events_up_to_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_budget, "BUDGET", 20)
    monkeypatch.setattr(event_budget, "CALLS", 50)
    cost = event_budget.measure("", tmp_path)
    assert (cost.name, cost.value, cost.ratio) == ("event budget", 20, 1.0)


def test_fewer_events_than_the_budget_are_all_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_budget, "BUDGET", 100)
    monkeypatch.setattr(event_budget, "CALLS", 50)
    assert event_budget.measure("", tmp_path).ratio == 0.5


def test_an_idle_server_is_not_counted_as_the_cost_of_checks() -> None:
    usage = processes_with(server=1.5, agent=0.5, checks=1.0, keeper=0.1)
    idle = processes_with(server=0.5, keeper=0.1)
    assert check_costs(usage, idle, 50.0) == pytest.approx(
        {"agent": 300e-6, "server": 200e-6, "keeper": 20e-6}
    )
    assert check_costs(usage, None, 50.0)["server"] == pytest.approx(300e-6)


def processes_with(**cpu_percent: float) -> Idle:
    usage = [ProcessUsage(name, 0, 0, percent) for name, percent in cpu_percent.items()]
    return Idle(10.0, usage, 0, 0, sum(cpu_percent.values()))


def test_the_page_for_checks_is_served_until_the_end() -> None:
    with web_page() as url:
        for _ in range(3):
            with urllib.request.urlopen(url) as response:
                assert (response.status, response.read()) == (200, b"ok")
    with pytest.raises(OSError):
        urllib.request.urlopen(url)
