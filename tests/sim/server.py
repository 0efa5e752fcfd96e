"""A simulated server: the real connections, loops and operations, over a virtual database."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from belvedere.access.actor import Actor, Level
from belvedere.base.clock import ObservedDurations, SharedClock
from belvedere.db.signals import Signal, SignalBus
from belvedere.server import clock as server_clock
from belvedere.server import wiring
from belvedere.server.agents import endpoint
from belvedere.server.agents.handshakes import Handshakes
from belvedere.server.agents.registry import AgentRegistry
from belvedere.server.background import history, loops
from belvedere.server.runtime import ServerRuntime
from belvedere.server.transport.agent_websocket import encode
from belvedere.server.transport.interface import OnEnd
from belvedere.settings import Settings
from sim.agent import PING, PONG
from sim.database import Store, VirtualSqlite
from sim.loop import VirtualLoop
from sim.network import Connection, ConnectionEnd
from sim.world import EPOCH_MS, MS, Process, World

# The loops that affect jobs and hosts; others would only cost time.
LOOPS = [
    loop
    for loop in loops.LOOPS
    if loop.work
    in (
        *(
            loops.signal_waiting_hosts,
            loops.send_cancels,
            loops.close_unconfirmed,
            loops.record_seen,
            loops.end_silent,
        ),
        *(loops.mark_silent, loops.mark_overdue_lost, loops.expire, history.purge_old),
        *(server_clock.follow,),
    )
]


class Credentials:
    """Replaces server/http/authentication.py: an agent's token is its host's id."""

    async def actor(self, token: str, _: int) -> Actor:
        return Actor("", "", Level.AGENT, "agent", host_id=token)

    def take_used(self) -> dict[str, int]:
        return {}


class ServerProcess(Process):
    def __init__(self, world: World, number: int, jobs: Store, logs: Store, slow: float) -> None:
        super().__init__(world, f"server {number}")
        self.number = number
        self.loop: VirtualLoop = VirtualLoop(world, self)  # type: ignore[abstract]
        self.stores = jobs, logs
        unused: Any = None
        clock = SharedClock(self.clock, lambda: int(self.loop.time() * 1_000))
        self.db = VirtualSqlite(self, jobs, clock)
        runtime = ServerRuntime(
            Settings(),
            self.db,
            VirtualSqlite(self, logs, clock),
            unused,
            SignalBus(),
            unused,
            unused,
            clock,
        )
        runtime.silent, runtime.overdue = (
            ObservedDurations(self.loop.time),
            ObservedDurations(self.loop.time),
        )
        runtime.handshakes = Handshakes(lambda: int(self.loop.time() * 1_000))
        runtime.agents = AgentRegistry("http://belvedere.test", unused)
        runtime.credentials = Credentials()  # type: ignore[assignment]
        self.runtime = runtime
        self._connections: list[Connection] = []
        self.peers: list[ServerProcess] = []
        self.deaf = 0.0
        self.db.before_commit = runtime.agents.claim_for_signalled_hosts
        self.db.on_signals = self._emit
        for loop in LOOPS:
            slowed = replace(loop, every_s=loop.every_s * slow)
            self.loop.create_task(loops.run(slowed, runtime))
        world.note("server", number)

    def clock(self) -> int:
        return EPOCH_MS + self.world.now // MS + self.world.off_ms

    def kill(self) -> None:
        if not self.is_alive:
            return
        super().kill()
        for store in self.stores:
            store.lose(self)
        for connection in self._connections:
            connection.lose_owner(self)

    # Signals

    def _emit(self, signals: set[Signal]) -> None:
        if not self.is_alive:
            return
        self.runtime.signals.emit(signals)
        for peer in self.peers:
            if not self.world.chance(self.deaf):
                delay = self.world.long_tail(100, 50 * MS)
                self.world.after(delay, wiring.receive_signals, peer.runtime, signals, of=peer)

    # Agents

    def accept(self, connection: Connection) -> None:
        self._connections.append(connection)
        self.world.push(
            self.world.now, self, (self._accept, (connection.server_end, connection.host.id))
        )

    def _accept(self, end: ConnectionEnd, token: str) -> None:
        self.loop.create_task(self._serve(end, token))

    async def _serve(self, end: ConnectionEnd, token: str) -> None:
        wire = ServerWire(end)
        app: Any = SimpleNamespace(runtime=self.runtime, address=lambda *_: "192.0.2.8")
        scope = {
            "raw_path": endpoint.PATH,
            "headers": [(b"authorization", f"Bearer {token}".encode())],
            "extensions": {"agent_socket": wire},
        }
        # The web server logs these and closes the connection.
        with contextlib.suppress(OSError):
            await endpoint.serve(app, scope, wire.receive, wire.send)
        if not wire.is_kept:
            end.close(1011, "")

    # People

    def request(
        self, work: Callable[[ServerRuntime], Awaitable[Any]], answered: Callable[[Any], None]
    ) -> None:
        """Run a request; the result, or the exception that refused it."""
        self.loop.create_task(self._answer(work, answered))

    async def _answer(
        self, work: Callable[[ServerRuntime], Awaitable[Any]], answered: Callable[[Any], None]
    ) -> None:
        try:
            result = await work(self.runtime)
        except Exception as refusal:
            result = refusal
        answered(result)


class ServerWire:
    """The two calls of an ASGI websocket, and the two that save an iteration of the loop."""

    def __init__(self, end: ConnectionEnd) -> None:
        self._end = end
        self._waiting: list[dict[str, Any] | Exception] = [{"type": "websocket.connect"}]
        self._take: Callable[[str | bytes], None] | None = None
        self._wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        # What runs at the end of a connection that the server keeps without a task.
        self._on_end: OnEnd | None = None
        self.is_kept = False
        end.hear, end.hear_close = self._hear, self._hear_close

    def _hear(self, frame: Any) -> None:
        if frame is PING:
            self._end.send(PONG)
            return
        kind = "text" if isinstance(frame, str) else "bytes"
        if self._take is None or self._waiting:
            self._put({"type": "websocket.receive", kind: frame})
            return
        try:
            self._take(frame)
        except Exception as fault:
            self._take = None
            self._put(fault)

    def _put(self, message: dict[str, Any] | Exception) -> None:
        self._waiting.append(message)
        self._wake.set()
        if self._on_end is not None:
            self._loop.call_soon(self._handle_waiting)

    def keep(self, on_end: OnEnd) -> bool:
        self.is_kept, self._on_end = True, on_end
        self._loop.call_soon(self._handle_waiting)
        return True

    def end(self, fault: Exception | None) -> None:
        on_end, self._on_end, self._take = self._on_end, None, None
        if on_end is not None:
            self._loop.create_task(self._finish(on_end, fault))

    async def _finish(self, on_end: OnEnd, fault: Exception | None) -> None:
        # The web server logs these and closes the connection.
        with contextlib.suppress(OSError):
            await on_end(fault)
        self._end.close(1011, "")

    def _handle_waiting(self) -> None:
        while self._waiting and self._on_end is not None:
            message = self._waiting.pop(0)
            if isinstance(message, Exception) or message["type"] == "websocket.disconnect":
                self.end(message if isinstance(message, Exception) else None)
            elif self._take is not None:
                try:
                    self._take(message.get("text") or message["bytes"])
                except Exception as fault:
                    self.end(fault)

    def _hear_close(self, *_: Any) -> None:
        self._put({"type": "websocket.disconnect", "code": 1006})

    async def receive(self) -> dict[str, Any]:
        while not self._waiting:
            self._wake.clear()
            await self._wake.wait()
        message = self._waiting.pop(0)
        if isinstance(message, Exception):
            raise message
        return message

    @property
    def is_gone(self) -> bool:
        return not self._end.is_open

    def send_now(self, messages: Any) -> bool:
        if self._end.is_open:
            self._end.send(encode(messages).decode())
        return self._end.is_open

    def deliver_to(
        self,
        take: Callable[[str | bytes], None] | None,
        _: Callable[[bytes], bool] | None = None,
    ) -> None:
        self._take = take

    async def send(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "websocket.send":
                if not self._end.is_open:
                    raise ConnectionResetError("the agent is gone")
                self._end.send(message.get("text") or message["bytes"])
            case "websocket.close":
                self._end.close(message["code"], message.get("reason", ""))
