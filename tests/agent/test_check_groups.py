"""Checks start in groups, and their results are passed on together: few wake-ups."""

import asyncio
import os
from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from belvedere.agent.checks.outcome import Outcome
from belvedere.agent.json_lines import from_json
from belvedere.agent.monitoring import checker_main
from belvedere.agent.monitoring.checker_main import StdoutSamples
from belvedere.agent.monitoring.sample_buffer import SampleBuffer
from belvedere.agent.monitoring.sample_journal import SampleJournal
from belvedere.agent.monitoring.scheduler import (
    GROUP_SIZE,
    MAX_CONCURRENT_CHECKS,
    MAX_GROUP_S,
    group_interval,
    next_start,
    phase,
)
from belvedere.agent.monitoring.start_groups import STEP, StartGroups
from belvedere.protocol import MonitorCheck


def checks(count: int, looptime_ms: int) -> list[MonitorCheck]:
    return [MonitorCheck(f"monitor-{n}", "scraper", 1, looptime_ms, {}) for n in range(count)]


def starts(monitors: list[MonitorCheck], now: float) -> Counter[float]:
    """How many checks start at which time."""
    group_s = group_interval(monitors)
    return Counter(
        next_start(now, monitor.looptime_ms / 1_000, phase(monitor.id), group_s)
        for monitor in monitors
    )


@pytest.mark.parametrize(("count", "looptime_ms"), [(50, 1_000), (500, 1_000), (2_000, 40_000)])
def test_checks_start_in_groups(count: int, looptime_ms: int) -> None:
    groups = starts(checks(count, looptime_ms), now=1_000.0)
    size = min(GROUP_SIZE, MAX_GROUP_S * count / (looptime_ms / 1_000))
    assert len(groups) <= 1.1 * count / size + 1
    # Not many more than may run at once.
    assert max(groups.values()) <= 2 * MAX_CONCURRENT_CHECKS


def test_few_checks_keep_their_own_times() -> None:
    [monitor] = checks(1, 60_000)
    own_at = 1_020.0 + phase(monitor.id) * 60
    [start_at] = starts([monitor], now=1_020.0)
    assert own_at <= start_at <= own_at + MAX_GROUP_S
    assert group_interval([]) == MAX_GROUP_S


@pytest.mark.parametrize("share", [0.0, 0.3, 0.999])
@pytest.mark.parametrize("group_s", [MAX_GROUP_S, 0.08, 0.007])
def test_each_period_has_one_check(share: float, group_s: float) -> None:
    now, times = 1_000.0, []
    for _ in range(100):
        # The check itself takes a millisecond.
        now = next_start(now, 1.0, share, group_s) + 0.001
        times.append(now)
    gaps = [later - earlier for earlier, later in zip(times, times[1:], strict=False)]
    assert all(abs(gap - 1.0) <= group_s + 0.01 for gap in gaps)


async def test_results_of_a_group_are_written_together(monkeypatch: pytest.MonkeyPatch) -> None:
    written: asyncio.Queue[bytes] = asyncio.Queue()
    monkeypatch.setattr(checker_main, "_write", written.put_nowait)
    samples = StdoutSamples()
    for n in range(3):
        samples.add(f"m{n}", 1, Outcome("normal"))
    first = await written.get()
    samples.add("m3", 1, Outcome("normal"))
    second = await written.get()
    ids = [
        [from_json(line)["id"] for line in data.decode().splitlines()] for data in (first, second)
    ]
    assert ids == [["m0", "m1", "m2"], ["m3"]]


def test_results_that_arrive_together_are_one_write_of_the_journal(tmp_path: Path) -> None:
    path = str(tmp_path / "samples")
    buffer = SampleBuffer(journal=SampleJournal(path))
    with mock.patch("os.write", wraps=os.write) as write:
        buffer.add_all([(f"m{n}", 1, Outcome("normal")) for n in range(5)])
    assert write.call_count == 1
    buffer.close()
    restored = SampleBuffer(journal=SampleJournal(path)).next()
    assert restored is not None
    assert [sample.monitor_id for sample in restored.samples] == [f"m{n}" for n in range(5)]


def test_one_changed_result_of_a_group_counts_as_a_change() -> None:
    calls: list[bool] = []
    buffer = SampleBuffer()
    group = [(f"m{n}", 1, Outcome("normal")) for n in range(3)]
    buffer.add_all(group)
    buffer.listener = calls.append
    buffer.add_all(group)
    buffer.add_all([("m0", 1, Outcome("failure")), *group[1:]])
    assert calls == [False, True]


async def test_checks_of_one_time_share_a_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    loop: Any = asyncio.get_running_loop()
    call_later = mock.Mock(wraps=loop.call_later)
    monkeypatch.setattr(loop, "call_later", call_later)
    groups, start_at = StartGroups(), 0.0
    await asyncio.gather(*(groups.until(start_at) for _ in range(50)))
    assert call_later.call_count == 1
    await groups.until(start_at)
    assert call_later.call_count == 2


async def test_a_group_starts_in_small_steps() -> None:
    """The event loop reads responses between them."""
    groups, started = StartGroups(), 0

    async def start() -> None:
        nonlocal started
        await groups.until(0.0)
        started += 1

    tasks = [asyncio.create_task(start()) for _ in range(5 * STEP)]
    steps = []
    while not all(task.done() for task in tasks):
        before = started
        await asyncio.sleep(0)
        steps.append(started - before)
    assert max(steps) == STEP and sum(steps) == 5 * STEP


async def test_a_removed_check_leaves_no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have been due in a day."""
    loop, timer = asyncio.get_running_loop(), mock.Mock()
    monkeypatch.setattr(loop, "call_later", lambda *_: timer)
    groups, start_at = StartGroups(), 86_400.0
    tasks = [asyncio.create_task(groups.until(start_at)) for _ in range(2)]
    await asyncio.sleep(0)
    for task, is_last in zip(tasks, (False, True), strict=True):
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled() and timer.cancel.called == is_last
    assert groups._groups == {}


@pytest.mark.parametrize("removed", [0, 2 * STEP])
async def test_a_removed_check_does_not_delay_its_group(removed: int) -> None:
    """Also if it is removed while its group starts."""
    groups, started = StartGroups(), list[int]()

    async def start(number: int) -> None:
        await groups.until(0.0)
        started.append(number)
        if number == STEP:
            tasks[removed].cancel()

    tasks = [asyncio.create_task(start(number)) for number in range(3 * STEP)]
    await asyncio.sleep(0)
    if not removed:
        tasks[0].cancel()
    await asyncio.wait(tasks)
    assert started == [number for number in range(3 * STEP) if number != removed]
