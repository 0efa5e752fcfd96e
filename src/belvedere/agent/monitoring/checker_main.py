"""The program of the checker process, which checker_process.py starts.

Standard input has the configuration, standard output the results, one JSON object per line. The
process ends with its standard input, and it is killed if it does not report that it is alive.
"""

import asyncio
import logging
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter

from belvedere.agent import wire
from belvedere.agent.checks.outcome import Outcome
from belvedere.agent.messages import watch
from belvedere.agent.monitoring.scheduler import MAX_CONCURRENT_CHECKS, CheckScheduler
from belvedere.base import log_format
from belvedere.protocol import MonitorConfig

log = logging.getLogger("belvedere.agent")


HEARTBEAT_S = 5.0
# Longer than the local checks of a group take.
GATHER_S = 0.05
_read_fields = attrgetter(*Outcome.__slots__)


class StdoutSamples:
    """Writes the results of a short time to standard output together: each write wakes the
    agent."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []

    def add(self, monitor_id: str, version: int, outcome: Outcome) -> None:
        fields = dict(zip(Outcome.__slots__, _read_fields(outcome), strict=True))
        if not self._lines:
            asyncio.get_running_loop().call_later(GATHER_S, self._flush)
        self._lines.append(wire.pack({"id": monitor_id, "version": version, "outcome": fields}))

    def _flush(self) -> None:
        lines, self._lines = self._lines, []
        _write(b"".join(lines))


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


class StdinConfig(asyncio.Protocol):
    def __init__(self) -> None:
        self._lines = wire.JsonLines()
        self._scheduler = CheckScheduler(StdoutSamples())

    def data_received(self, data: bytes) -> None:
        try:
            for message in self._lines.feed(data):
                self._configure(watch(message))
        except Exception:
            # The agent then starts another process; this one would check nothing.
            log.exception("monitor configuration cannot be read; checker process exits")
            os._exit(1)

    def _configure(self, watch: MonitorConfig) -> None:
        if watch.since is None:
            self._scheduler.configure(watch.monitors)
        else:
            self._scheduler.change(watch.monitors, watch.removed)

    def connection_lost(self, exc: Exception | None) -> None:
        # A normal exit would wait for threads.
        os._exit(0)


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    # Names are resolved on threads: one for each concurrent check.
    loop.set_default_executor(ThreadPoolExecutor(MAX_CONCURRENT_CHECKS))
    await loop.connect_read_pipe(StdinConfig, sys.stdin)
    while True:
        # Sent from the event loop: a check that blocks it also stops the heartbeats.
        await asyncio.sleep(HEARTBEAT_S)
        _write(wire.pack({"alive": True}))


def main() -> None:
    is_json = os.environ.get(log_format.VARIABLE) == "json"
    log_format.configure("WARNING", as_json=is_json)
    asyncio.run(_serve())
