"""Runs the checks of this host periodically, never two of one monitor at once."""

import asyncio
import hashlib
import logging
import math
import time
from collections.abc import Sequence
from typing import Any, Protocol

from belvedere.agent.checks import Check, check_of
from belvedere.agent.checks.outcome import Outcome, explain, sanitize
from belvedere.agent.monitoring.script_checks import ScriptChecks
from belvedere.agent.monitoring.start_groups import StartGroups
from belvedere.protocol import MonitorCheck

log = logging.getLogger("belvedere.agent")

MAX_CONCURRENT_CHECKS = 32
# A new monitor is checked within this time, spread over it.
FIRST_S = 2.0
DEFAULT_TIMEOUT_MS = 10_000
# Checks start in groups: most of the cost of a single one is waking up for it, with the program no
# longer in the caches of the processor.
GROUP_SIZE = 16
# How much later than at its own time a check may start.
MAX_GROUP_S = 0.25


class SampleSink(Protocol):
    def add(self, monitor_id: str, version: int, outcome: Outcome) -> None: ...


class CheckScheduler:
    """Runs as long as the agent, also without a connection."""

    def __init__(self, samples: SampleSink, scripts: ScriptChecks | None = None) -> None:
        self._samples = samples
        self._scripts = scripts
        self._tasks: dict[str, tuple[MonitorCheck, asyncio.Task[None]]] = {}
        self._slots = asyncio.Semaphore(MAX_CONCURRENT_CHECKS)
        self._groups = StartGroups()
        # The time between two groups.
        self._group_s = MAX_GROUP_S

    def configure(self, monitors: Sequence[MonitorCheck]) -> None:
        """Check exactly these monitors; unchanged ones continue."""
        monitor_ids = {monitor.id for monitor in monitors}
        self.change(monitors, [id_ for id_ in self._tasks if id_ not in monitor_ids])

    def change(self, monitors: Sequence[MonitorCheck], removed: Sequence[str]) -> None:
        """Add or change monitors and remove others; all other monitors continue."""
        for monitor_id in removed:
            self._drop(monitor_id)
        for monitor in monitors:
            running = self._tasks.get(monitor.id)
            if running is None or running[0] != monitor:
                self._drop(monitor.id)
                self._start(monitor)
        self._group_s = group_interval([monitor for monitor, _ in self._tasks.values()])

    def _drop(self, monitor_id: str) -> None:
        running = self._tasks.pop(monitor_id, None)
        if running is not None:
            running[1].cancel()

    def _start(self, monitor: MonitorCheck) -> None:
        check = self._check_of(monitor.type)
        if check is not None:
            task = asyncio.create_task(self._repeat(monitor, check), name=f"check {monitor.id}")
            self._tasks[monitor.id] = (monitor, task)

    def _check_of(self, kind: str) -> Check | None:
        if kind == "script":
            return None if self._scripts is None else self._scripts.check
        return check_of(kind)

    async def _repeat(self, monitor: MonitorCheck, check: Check) -> None:
        memory: dict[str, Any] = {}
        period_s = monitor.looptime_ms / 1_000
        share = phase(monitor.id)
        await asyncio.sleep(share * min(FIRST_S, period_s))
        while True:
            async with self._slots:
                outcome = sanitize(await perform(monitor, check, memory))
            self._samples.add(monitor.id, monitor.version, outcome)
            start_at = next_start(time.monotonic(), period_s, share, self._group_s)
            await self._groups.until(start_at)

    def close(self) -> None:
        for _, task in self._tasks.values():
            task.cancel()
        self._tasks = {}

    async def closed(self) -> None:
        """There is nothing to wait for."""


def phase(monitor_id: str) -> float:
    """When in its period a monitor is checked, 0 to 1: evenly distributed and stable."""
    return int.from_bytes(hashlib.sha256(monitor_id.encode()).digest()[:4]) / 2**32


def group_interval(monitors: Sequence[MonitorCheck]) -> float:
    """The seconds between groups, so that an average group has `GROUP_SIZE` checks."""
    per_second = sum(1_000 / monitor.looptime_ms for monitor in monitors)
    return min(MAX_GROUP_S, GROUP_SIZE / per_second) if per_second else MAX_GROUP_S


def next_start(now: float, period_s: float, share: float, group_s: float) -> float:
    """When the next check starts: with the first group at or after the next time of its own
    schedule. Missed times are skipped."""
    due_at = (now // period_s + share) * period_s
    if due_at <= now:
        due_at += period_s
    return math.ceil(due_at / group_s) * group_s


async def perform(monitor: MonitorCheck, check: Check, memory: dict[str, Any]) -> Outcome:
    """One check within its timeout, which includes name resolution, connection and response."""
    limit_ms = monitor.config.get("timeout") or DEFAULT_TIMEOUT_MS
    try:
        async with asyncio.timeout(limit_ms / 1_000):
            return await check(monitor.config, memory)
    except TimeoutError:
        # A maintained_file is a file for people.
        kind = monitor.type.removeprefix("maintained_")
        return Outcome("failure", f"{kind}:timeout", f"No result within {limit_ms / 1_000:g} s.")
    except Exception as fault:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # The monitor was removed or changed.
            raise
        # The host lacks something that the check needs, or a bug: reported and repeated.
        log.warning("check failed monitor=%s error=%s", monitor.id, explain(fault), exc_info=True)
        return Outcome("failure", "agent:worker:error", explain(fault))
