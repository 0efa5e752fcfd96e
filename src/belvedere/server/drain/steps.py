"""From the signal to the end: what a server does, in which order, and for how long at most.

1. `/-/ready` is 503 and each response closes its connection, until load balancers have noticed.
2. Background work stops, and nothing is claimed for agents. They are asked to connect elsewhere.
3. Streams end with the id from which their readers continue. Requests that have arrived are
   answered; then the connections are closed.
"""

import asyncio
import logging
import os
import random
import threading
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from belvedere.base.errors import Refused
from belvedere.protocol import Reconnect
from belvedere.server.runtime import ServerRuntime
from belvedere.server.transport.interface import AsgiServer

log = logging.getLogger("belvedere.server")

POLL_S = 0.02
# Balancers have this share of the time to notice that the server stops.
NOTICE_SHARE = 0.5
# Agents connect elsewhere at this rate, and have this much longer to leave.
AGENTS_PER_S, LEAVE_S = 2_000, 1.0
# A second signal within this time is the first one again: a terminal sends it to make and server.
REPEATED_S = 0.5
# How long the last message may take.
LOG_S = 0.2
# Records are written and the database is closed after the last response.
CLOSE_S = 5.0


def other_servers(setting: str) -> list[str]:
    """The addresses in BELVEDERE_OTHER_SERVERS."""
    addresses = [text.strip().rstrip("/") for text in setting.split(",") if text.strip()]
    for address in addresses:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Refused(f"BELVEDERE_OTHER_SERVERS: {address!r} is not http://HOST:PORT.")
    return addresses


class Shutdown:
    """`work` are the tasks that start something by themselves."""

    def __init__(
        self,
        runtime: ServerRuntime,
        server: AsgiServer,
        work: Sequence["asyncio.Task[None]"],
        leave: Callable[[int], None] = os._exit,
    ) -> None:
        self._runtime = runtime
        self._server = server
        self._work = work
        self._leave = leave
        self._loop = asyncio.get_running_loop()
        self._began_at = 0.0
        self._steps: asyncio.Task[None] | None = None
        self._timer: threading.Timer | None = None

    def on_signal(self, number: int) -> None:
        now = self._loop.time()
        if self._steps is None:
            self._began_at = now
            self._runtime.drain.is_draining = True
            log.info("shutting down; send the signal again to exit immediately")
            self._start_timer()
            self._steps = self._loop.create_task(self._run())
        elif now - self._began_at > REPEATED_S:
            log.warning("second signal; exiting at once")
            self._leave(128 + number)

    def _start_timer(self) -> None:
        """A thread, so that a blocked event loop cannot keep the process alive."""
        limit_s = self._runtime.settings.drain + CLOSE_S
        self._timer = threading.Timer(limit_s, self._give_up, (limit_s,))
        self._timer.daemon = True
        self._timer.start()

    def _give_up(self, limit_s: float) -> None:
        # On a thread: a log that nobody reads may block, perhaps the event loop as well.
        text = "the server could not stop in time; exiting limit_s=%.0f"
        report = threading.Thread(target=log.error, args=(text, limit_s), daemon=True)
        report.start()
        report.join(LOG_S)
        self._leave(1)

    def close(self) -> None:
        """The server has stopped."""
        if self._timer is not None:
            self._timer.cancel()

    def _left_s(self) -> float:
        return self._began_at + self._runtime.settings.drain - self._loop.time()

    async def _run(self) -> None:
        try:
            await self._until_balancers_know()
            for task in self._work:
                task.cancel()
            await self._move_agents()
        except Exception:
            log.exception("notifying agents and load balancers of the shutdown failed")
        finally:
            self._runtime.stopping.set()
            self._server.stop_within(self._left_s())

    async def _until_balancers_know(self) -> None:
        until = self._began_at + self._runtime.settings.drain * NOTICE_SHARE
        while self._runtime.drain.is_expected() and self._loop.time() < until:
            await asyncio.sleep(POLL_S)

    async def _move_agents(self) -> None:
        """Ask them to connect elsewhere, one after the other; results that they send until then are
        stored as usual. Agents of earlier versions reconnect when their connection is closed."""
        registry = self._runtime.agents
        self._runtime.drain.refuses_agents = registry.is_stopped = True
        agents = [agent for agent in registry.connections() if agent.moves]
        window_s = max(0.0, min(len(agents) / AGENTS_PER_S, self._left_s() / 2))
        servers = other_servers(self._runtime.settings.other_servers) or [""]
        for agent in agents:
            after_ms = int(random.uniform(0, window_s) * 1_000)
            agent.push(Reconnect(after_ms, random.choice(servers)))
        until = self._loop.time() + window_s + LEAVE_S
        while self._loop.time() < until and any(
            registry.for_host(agent.host_id) is agent for agent in agents
        ):
            await asyncio.sleep(POLL_S)
