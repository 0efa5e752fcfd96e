"""Checks in a separate process: slow or blocked checks and hostile responses cannot stop the agent,
nor a server in the same process. A process that reports nothing for `STUCK_S` is killed and
replaced."""

import asyncio
import contextlib
import logging
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict
from time import monotonic
from typing import Any, Protocol

from belvedere.agent import wire
from belvedere.agent.boot import command
from belvedere.agent.checks.outcome import Outcome
from belvedere.agent.monitoring.scheduler import CheckScheduler, SampleSink
from belvedere.agent.monitoring.script_checks import ScriptChecks
from belvedere.base import log_format
from belvedere.protocol import MonitorCheck, MonitorConfig

log = logging.getLogger("belvedere.agent")

# Time for the process to exit by itself after its input was closed.
EXIT_TIMEOUT_S = 1.0
BACK_OFF_S = (0.5, 1.0, 2.0, 5.0, 10.0)
# Variables of the environment that are passed on; others may contain secrets.
PASSED_ON = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("RES_OPTIONS", "LOCALDOMAIN"),
)
# A process that ran this long resets the back-off.
STABLE_AFTER_S = 60.0
# The process reports at least every HEARTBEAT_S (checker_main.py); a busy machine may delay that,
# but not for this long.
STUCK_S = 60.0


class BatchSink(SampleSink, Protocol):
    def add_all(self, results: Sequence[tuple[str, int, Outcome]]) -> None: ...


class CheckerProcess:
    """Runs the process while there are monitors. Scripts are run by the keeper, not by it."""

    def __init__(self, state: str, samples: BatchSink, scripts: ScriptChecks) -> None:
        self._state = state
        self._samples = samples
        self._scripts = CheckScheduler(samples, scripts)
        self._scripts_user = scripts.scripts_user
        self._monitors: dict[str, MonitorCheck] = {}
        # Whether the process has the list of monitors, except for `_changed`.
        self._is_configured = False
        self._changed: dict[str, None] = {}
        # Set when the list changes, and when the process ends.
        self._changed_event = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def configure(self, monitors: Sequence[MonitorCheck]) -> None:
        self._scripts.configure([monitor for monitor in monitors if monitor.type == "script"])
        self._monitors = self._others(monitors)
        self._is_configured = False
        self._wake()

    def change(self, monitors: Sequence[MonitorCheck], removed: Sequence[str]) -> None:
        self._scripts.change([monitor for monitor in monitors if monitor.type == "script"], removed)
        others = self._others(monitors)
        for monitor_id in removed:
            self._monitors.pop(monitor_id, None)
        self._monitors.update(others)
        self._changed.update(dict.fromkeys([*removed, *others]))
        self._wake()

    def _others(self, monitors: Sequence[MonitorCheck]) -> dict[str, MonitorCheck]:
        """The checks that are not scripts. Where scripts have a user of their own, nobody may write
        files as the agent's user."""
        others = {monitor.id: monitor for monitor in monitors if monitor.type != "script"}
        for monitor in others.values():
            if monitor.type == "maintained_file" and self._scripts_user:
                text = "Files are not maintained on a host whose scripts run as a separate user."
                monitor.config = {**monitor.config, "problem": text}
        return others

    def _wake(self) -> None:
        self._changed_event.set()
        if self._monitors and self._task is None:
            self._task = asyncio.create_task(self._keep_running(), name="checks")

    async def _keep_running(self) -> None:
        tries = 0
        while self._monitors:
            began = monotonic()
            try:
                is_healthy = await self._run()
            except Exception:
                log.exception("checker process failed")
                is_healthy = False
            if self._monitors and not is_healthy:
                log.warning("checker process ended; starting another")
                tries = 0 if monotonic() - began > STABLE_AFTER_S else tries
                await self._back_off(BACK_OFF_S[min(tries, len(BACK_OFF_S) - 1)])
                tries += 1
        self._task = None

    async def _back_off(self, seconds: float) -> None:
        """Wait until the list changes, at most this long."""
        self._changed_event.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed_event.wait(), seconds)

    async def _run(self) -> bool:
        """Run one process until there is nothing to check; False if it ended by itself."""
        transport, child = await self._start()
        child.over.add_done_callback(self._note_end)
        self._is_configured = False
        try:
            while self._monitors and not child.over.done():
                self._changed_event.clear()
                self._send_config(child)
                await self._wait(child)
            is_healthy = not child.over.done()
            await child.end()
        finally:
            # Also kills the process if it is still running.
            transport.close()
        if not is_healthy:
            child.over.result()
        return is_healthy

    def _send_config(self, child: "CheckerChild") -> None:
        changed, self._changed = self._changed, {}
        if not self._is_configured:
            self._is_configured = True
            child.send(wire.pack(asdict(MonitorConfig(0, list(self._monitors.values())))))
        elif changed:
            changed_monitors = [self._monitors[id_] for id_ in changed if id_ in self._monitors]
            removed = [id_ for id_ in changed if id_ not in self._monitors]
            child.send(wire.pack(asdict(MonitorConfig(0, changed_monitors, 0, removed))))

    async def _wait(self, child: "CheckerChild") -> None:
        """Wait until something changes; kill a process that reports nothing for too long."""
        left_s = child.heard_at + STUCK_S - monotonic()
        if left_s <= 0:
            log.warning("checker process is stuck; killing it silent_s=%g", STUCK_S)
            child.kill()
            await self._changed_event.wait()
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left_s):
                await self._changed_event.wait()

    def _note_end(self, over: "asyncio.Future[None]") -> None:
        # Retrieve the exception, so that asyncio does not log it during shutdown.
        over.exception()
        self._changed_event.set()

    async def _start(self) -> "tuple[asyncio.SubprocessTransport, CheckerChild]":
        return await asyncio.get_running_loop().subprocess_exec(
            lambda: CheckerChild(self._receive),
            *command("belvedere.agent.monitoring.checker_main"),
            self._state,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            env=_environment(),
            # Ctrl-C in a terminal is for the server.
            start_new_session=True,
        )

    def _receive(self, messages: Sequence[dict[str, Any]]) -> None:
        # Others are heartbeats.
        results = [
            (message["id"], message["version"], Outcome(**message["outcome"]))
            for message in messages
            if "id" in message
        ]
        if results:
            self._samples.add_all(results)

    def close(self) -> None:
        self._scripts.close()
        self._monitors = {}
        self._changed_event.set()

    async def closed(self) -> None:
        """Wait until the process has ended."""
        if self._task is not None:
            await asyncio.wait([self._task])


def _environment() -> dict[str, str]:
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {**passed_on, **log_format.environment()}


class CheckerChild(asyncio.SubprocessProtocol):
    """The agent's end of the pipes to the process."""

    def __init__(self, receive: Callable[[Sequence[dict[str, Any]]], None]) -> None:
        loop = asyncio.get_running_loop()
        self._receive = receive
        self._lines = wire.JsonLines()
        # Set before any other call; the class is that of the event loop (asyncio or uvloop).
        self._transport: Any = None
        # By the monotonic clock.
        self.heard_at = monotonic()
        # Done when there is no more output (with or without an error), and when the process ended.
        self.over: asyncio.Future[None] = loop.create_future()
        self._exit: asyncio.Future[None] = loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.heard_at = monotonic()
        try:
            self._receive(self._lines.feed(data))
        except Exception as fault:
            if not self.over.done():
                self.over.set_exception(fault)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1 and not self.over.done():
            self.over.set_result(None)

    def process_exited(self) -> None:
        if not self._exit.done():
            self._exit.set_result(None)
        self.pipe_connection_lost(1, None)

    def send(self, line: bytes) -> None:
        pipe = self._transport.get_pipe_transport(0)
        if not pipe.is_closing():
            pipe.write(line)

    def kill(self) -> None:
        self._transport.kill()

    async def end(self) -> None:
        """Close the input, so that the process exits; kill it if it does not."""
        self._transport.get_pipe_transport(0).close()
        await asyncio.wait([self._exit], timeout=EXIT_TIMEOUT_S)
        if not self._exit.done():
            self._transport.kill()
            await self._exit
