"""Makes the checks of this host: each in its own rhythm, never two of one monitor at once."""

import asyncio
import hashlib
import logging
import time
from collections.abc import Sequence
from typing import Any, Protocol

from belvedere.agent.checks import Check, check_of
from belvedere.agent.checks.outcome import Outcome, explain, sound
from belvedere.agent.monitoring.script_checks import ScriptChecks
from belvedere.protocol import Watched

log = logging.getLogger("belvedere.agent")

AT_ONCE = 32
# A new monitor is looked at soon, though not together with a hundred others.
FIRST_S = 2.0
DEFAULT_TIMEOUT_MS = 10_000


class Notes(Protocol):
    def add(self, monitor_id: str, version: int, outcome: Outcome) -> None: ...


class Lookout:
    """Lives as long as the agent, and goes on while there is no connection."""

    def __init__(self, notes: Notes, scripts: ScriptChecks | None = None) -> None:
        self._notes = notes
        self._scripts = scripts
        self._tasks: dict[str, tuple[Watched, asyncio.Task[None]]] = {}
        self._room = asyncio.Semaphore(AT_ONCE)

    def configure(self, monitors: Sequence[Watched]) -> None:
        """Exactly these from now on; one that stays the same is not disturbed."""
        wanted = {one.id for one in monitors}
        self.change(monitors, [id_ for id_ in self._tasks if id_ not in wanted])

    def change(self, monitors: Sequence[Watched], removed: Sequence[str]) -> None:
        """These are new or different, and those are checked no longer; the others go on."""
        for monitor_id in removed:
            self._drop(monitor_id)
        for one in monitors:
            held = self._tasks.get(one.id)
            if held is None or held[0] != one:
                self._drop(one.id)
                self._start(one)

    def _drop(self, monitor_id: str) -> None:
        held = self._tasks.pop(monitor_id, None)
        if held is not None:
            held[1].cancel()

    def _start(self, one: Watched) -> None:
        check = self._check_of(one.type)
        if check is not None:
            task = asyncio.create_task(self._repeat(one, check), name=f"check {one.id}")
            self._tasks[one.id] = (one, task)

    def _check_of(self, kind: str) -> Check | None:
        if kind == "script":
            return None if self._scripts is None else self._scripts.check
        return check_of(kind)

    async def _repeat(self, one: Watched, check: Check) -> None:
        memory: dict[str, Any] = {}
        period_s = one.looptime_ms / 1_000
        share = phase(one.id)
        await asyncio.sleep(share * min(FIRST_S, period_s))
        while True:
            async with self._room:
                outcome = sound(await perform(one, check, memory))
            self._notes.add(one.id, one.version, outcome)
            # The next beat of its own rhythm: beats that passed meanwhile are not made up for.
            now = time.monotonic()
            beat = (now // period_s) * period_s + share * period_s
            await asyncio.sleep(beat - now if beat > now else beat + period_s - now)

    def close(self) -> None:
        for _, task in self._tasks.values():
            task.cancel()
        self._tasks = {}

    async def closed(self) -> None:
        """Nothing of it is left to be waited for."""


def phase(monitor_id: str) -> float:
    """Where in its period a monitor is checked, 0 to 1: spread evenly, always the same."""
    return int.from_bytes(hashlib.sha256(monitor_id.encode()).digest()[:4]) / 2**32


async def perform(one: Watched, check: Check, memory: dict[str, Any]) -> Outcome:
    """One check within its deadline, which covers all of it: names, connection, answer."""
    limit_ms = one.config.get("timeout") or DEFAULT_TIMEOUT_MS
    try:
        async with asyncio.timeout(limit_ms / 1_000):
            return await check(one.config, memory)
    except TimeoutError:
        return Outcome("failure", f"{one.type}:timeout", f"Nothing within {limit_ms / 1_000:g} s.")
    except Exception as fault:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # Its monitor is gone or another by now: no reason to go on.
            raise
        # A host that lacks what a check needs, or our own mistake: said, and tried again.
        log.warning("The check of monitor %s failed: %s", one.id, explain(fault), exc_info=True)
        return Outcome("failure", "agent:worker:error", explain(fault))
