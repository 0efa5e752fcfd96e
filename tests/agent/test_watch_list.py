"""How an agent assembles the list of its monitors."""

from collections.abc import Sequence
from typing import Any

import pytest

from belvedere.agent.monitoring.monitor_list import MonitorList
from belvedere.agent.monitoring.sample_buffer import SampleBuffer
from belvedere.agent.monitoring.scheduler import CheckScheduler
from belvedere.protocol import MonitorCheck, MonitorConfig


def check(name: str, version: int = 1) -> MonitorCheck:
    return MonitorCheck(name, "tcp", version, 60_000, {"target": "127.0.0.1", "port": 1})


class Checks:
    """What would be checked."""

    def __init__(self) -> None:
        self.now: dict[str, int] = {}

    def configure(self, monitors: Sequence[MonitorCheck]) -> None:
        self.now = {monitor.id: monitor.version for monitor in monitors}

    def change(self, monitors: Sequence[MonitorCheck], removed: Sequence[str]) -> None:
        for monitor_id in removed:
            self.now.pop(monitor_id, None)
        self.now.update({monitor.id: monitor.version for monitor in monitors})


@pytest.fixture
def checks() -> Checks:
    return Checks()


@pytest.fixture
def requests() -> list[int]:
    return []


@pytest.fixture
def watch_list(checks: Checks, requests: list[int]) -> MonitorList:
    return MonitorList(checks, requests.append)


def test_changes_of_the_monitor_list_are_applied(
    watch_list: MonitorList, checks: Checks, requests: list[int]
) -> None:
    watch_list.take(MonitorConfig(3, [check("a"), check("b")]))
    watch_list.take(
        MonitorConfig(5, [check("b", 2), check("c")], since=3, removed=["a", "never seen"])
    )
    assert checks.now == {"b": 2, "c": 1}
    assert (watch_list.number, requests) == (5, [])


def test_a_lost_difference_is_noticed_and_healed_by_a_list(
    watch_list: MonitorList, checks: Checks, requests: list[int]
) -> None:
    watch_list.take(MonitorConfig(1, [check("a")]))
    watch_list.take(MonitorConfig(3, [check("c")], since=2))
    watch_list.take(MonitorConfig(4, [check("d")], since=3))
    # Requested once, and nothing was applied that the missing message might contradict.
    assert (requests, checks.now) == ([1], {"a": 1})
    watch_list.take(MonitorConfig(4, [check("c"), check("d")]))
    assert (watch_list.number, checks.now) == (4, {"c": 1, "d": 1})
    watch_list.take(MonitorConfig(9, [], since=8))
    assert requests == [1, 4]


def test_differences_in_the_wrong_order_end_in_the_right_list(
    watch_list: MonitorList, checks: Checks, requests: list[int]
) -> None:
    watch_list.take(MonitorConfig(1, [check("a")]))
    watch_list.take(MonitorConfig(3, [], since=2, removed=["b"]))
    watch_list.take(MonitorConfig(2, [check("b")], since=1))
    watch_list.take(MonitorConfig(3, [check("a")]))
    # Neither a repeated nor an older list changes anything.
    watch_list.take(MonitorConfig(2, [check("b")], since=1))
    watch_list.take(MonitorConfig(2, [check("a"), check("b")]))
    assert (checks.now, requests) == ({"a": 1}, [1])


def test_a_list_in_parts_counts_when_it_is_complete(
    watch_list: MonitorList, checks: Checks, requests: list[int]
) -> None:
    watch_list.take(MonitorConfig(1, [check("old")]))
    watch_list.take(MonitorConfig(5, [check("a")], part=0, more=True))
    watch_list.take(MonitorConfig(5, [check("b")], part=1, more=True))
    assert checks.now == {"old": 1}
    watch_list.take(MonitorConfig(5, [], part=2))
    assert (checks.now, requests) == ({"a": 1, "b": 1}, [])


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_lost_part_is_noticed(
    watch_list: MonitorList, checks: Checks, requests: list[int], lost: int
) -> None:
    parts = [MonitorConfig(5, [check(f"m{n}")], part=n, more=n < 2) for n in range(3)]
    for part in parts[:lost] + parts[lost + 1 :]:
        watch_list.take(part)
    watch_list.take(MonitorConfig(6, [check("new")], since=5))
    assert (checks.now, requests) == ({}, [-1])
    for part in parts:
        watch_list.take(part)
    assert set(checks.now) == {"m0", "m1", "m2"}


def test_a_server_of_the_previous_version_sends_complete_lists(
    watch_list: MonitorList, checks: Checks, requests: list[int]
) -> None:
    for number, names in ((1, "a"), (2, "ab"), (1, ""), (3, "b")):
        watch_list.take(MonitorConfig(number, [check(name) for name in names]))
    assert (checks.now, requests) == ({"b": 1}, [])


@pytest.mark.parametrize("count", [10, 1_000])
async def test_the_comparisons_of_a_change_do_not_grow_with_the_list(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    compared = 0
    equal: Any = MonitorCheck.__eq__

    def count_equal(monitor_check: MonitorCheck, other: object) -> Any:
        nonlocal compared
        compared += 1
        return equal(monitor_check, other)

    scheduler = CheckScheduler(SampleBuffer())
    watch_list = MonitorList(scheduler, lambda number: None)
    watch_list.take(MonitorConfig(1, [check(f"m{n}") for n in range(count)]))
    monkeypatch.setattr(MonitorCheck, "__eq__", count_equal)
    watch_list.take(MonitorConfig(2, [check("new"), check("m1", 2)], since=1, removed=["m2"]))
    assert compared == 1
    assert len(scheduler._tasks) == count
    scheduler.close()
