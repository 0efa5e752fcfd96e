"""Checks start in small groups, and their results are passed on together: few wake-ups."""

import asyncio
import os
from collections import Counter
from pathlib import Path
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
    MAX_GROUP_S,
    group_interval,
    next_start,
    phase,
)
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
def test_checks_start_in_groups_of_about_four(count: int, looptime_ms: int) -> None:
    groups = starts(checks(count, looptime_ms), now=1_000.0)
    assert len(groups) <= 1.1 * count / GROUP_SIZE + 1
    # A group is never large: its checks would delay each other.
    assert max(groups.values()) <= 5 * GROUP_SIZE


def test_few_checks_keep_their_own_times() -> None:
    [monitor] = checks(1, 60_000)
    own_at = 1_020.0 + phase(monitor.id) * 60
    [start_at] = starts([monitor], now=1_020.0)
    assert own_at <= start_at <= own_at + MAX_GROUP_S
    assert group_interval([]) == MAX_GROUP_S


@pytest.mark.parametrize("share", [0.0, 0.3, 0.999])
@pytest.mark.parametrize("group_s", [0.1, 0.08, 0.007])
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
