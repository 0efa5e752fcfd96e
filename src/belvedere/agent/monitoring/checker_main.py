"""The program of the checker process, which checker_process.py starts.

Standard input has the configuration, standard output the results, one JSON object per line. The
process ends with its standard input, and it is killed if it does not report that it is alive.
"""

import asyncio
import logging
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from belvedere.agent import wire
from belvedere.agent.checks.outcome import Outcome
from belvedere.agent.messages import watch
from belvedere.agent.monitoring.scheduler import MAX_CONCURRENT_CHECKS, CheckScheduler
from belvedere.base import log_format
from belvedere.protocol import MonitorConfig

log = logging.getLogger("belvedere.agent")


HEARTBEAT_S = 5.0


class StdoutSamples:
    """Writes each result to standard output at once."""

    def add(self, monitor_id: str, version: int, outcome: Outcome) -> None:
        fields = {name: getattr(outcome, name) for name in Outcome.__slots__}
        _report({"id": monitor_id, "version": version, "outcome": fields})


def _report(message: dict[str, Any]) -> None:
    data = memoryview(wire.pack(message))
    while data:
        data = data[os.write(1, data) :]


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
        _report({"alive": True})


def main() -> None:
    is_json = os.environ.get(log_format.VARIABLE) == "json"
    log_format.configure("WARNING", as_json=is_json)
    asyncio.run(_serve())
