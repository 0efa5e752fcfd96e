"""Measurements that can be run on small databases, and what they count."""

import urllib.request
from pathlib import Path

import pytest

from belvedere.bench.environment.web_target import web_page
from belvedere.bench.measure import event_budget


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


def test_the_page_for_checks_is_served_until_the_end() -> None:
    with web_page() as url:
        for _ in range(3):
            with urllib.request.urlopen(url) as response:
                assert (response.status, response.read()) == (200, b"ok")
    with pytest.raises(OSError):
        urllib.request.urlopen(url)
