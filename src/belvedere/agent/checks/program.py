"""The checks of a host in a process of their own: see agent/outpost.py, which starts it.

Standard input says what to check, standard output what was seen, each one JSON object per line. It
ends with its standard input, whatever its checks are stuck in.
"""

import asyncio
import logging
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from belvedere.agent import wire
from belvedere.agent.checks.outcome import Outcome
from belvedere.agent.lookout import AT_ONCE, Lookout
from belvedere.agent.speech import watch
from belvedere.base import log_lines
from belvedere.protocol import Watch

log = logging.getLogger("belvedere.agent")


class Told:
    """What was seen leaves at once."""

    def add(self, monitor_id: str, version: int, outcome: Outcome) -> None:
        seen = {name: getattr(outcome, name) for name in Outcome.__slots__}
        told = {"id": monitor_id, "version": version, "outcome": seen}
        data = memoryview(wire.pack(told))
        while data:
            data = data[os.write(1, data) :]


class Orders(asyncio.Protocol):
    def __init__(self) -> None:
        self._lines = wire.Lines()
        self._lookout = Lookout(Told())

    def data_received(self, data: bytes) -> None:
        try:
            for message in self._lines.feed(data):
                self._hear(watch(message))
        except Exception:
            # Better none than one that checks nothing: another is started.
            log.exception("What shall be checked could not be understood.")
            os._exit(1)

    def _hear(self, said: Watch) -> None:
        if said.since is None:
            self._lookout.configure(said.monitors)
        else:
            self._lookout.change(said.monitors, said.removed)

    def connection_lost(self, exc: Exception | None) -> None:
        # Not by the usual way, which waits for threads.
        os._exit(0)


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    # Names are looked up on threads: as many as there are checks at once.
    loop.set_default_executor(ThreadPoolExecutor(AT_ONCE))
    await loop.connect_read_pipe(Orders, sys.stdin)
    await loop.create_future()


def main() -> None:
    log_lines.configure("WARNING")
    asyncio.run(_serve())
