"""A simulated agent: it connects, says hello, sends heartbeats and pings, and reconnects like an
agent. It has no journal and runs nothing."""

import asyncio
import random
import socket
from dataclasses import dataclass

import msgspec

from belvedere.agent.connection.server_link import (
    FIRST_PAUSE_S,
    HANDSHAKE_S,
    MAX_PAUSE_S,
    OPEN_S,
)
from belvedere.base import websocket_frames
from belvedere.protocol import Heartbeat, Hello

UPGRADE = (
    "GET /-/agent HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n"
    "upgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\n"
    "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
# Simulated agents that share an address of the loopback network, as behind a router.
PER_ADDRESS = 250
MAX_FRAME = 1 << 20


@dataclass(slots=True)
class FleetCounts:
    connected: int = 0
    # Attempts that failed although the server was running when they began.
    refused: int = 0
    is_server_running: bool = False


class SimulatedAgent(asyncio.Protocol):
    """One agent over all of its connections."""

    __slots__ = (
        *("_number", "_token", "_server", "_counts", "_loop", "_transport", "_reader", "_ended"),
        *("_greeting", "_failures", "_is_welcome", "_is_counted", "_timers", "_watch"),
    )

    def __init__(
        self, number: int, token: str, server: tuple[str, int], counts: FleetCounts
    ) -> None:
        self._number, self._token, self._server, self._counts = number, token, server, counts
        self._loop = asyncio.get_running_loop()
        self._greeting = self._failures = 0

    async def run(self) -> None:
        """Connect again and again, with the pauses of an agent."""
        while True:
            self._reader: websocket_frames.Reader | None = None
            self._is_welcome, self._watch = False, -1
            # Not at the end of the attempt: this process may read it seconds later.
            self._is_counted = self._counts.is_server_running
            self._timers: list[asyncio.TimerHandle] = []
            self._ended: asyncio.Future[None] = self._loop.create_future()
            try:
                await self._connect()
                await self._ended
            except OSError:
                pass
            self._leave()
            ceiling = min(MAX_PAUSE_S, FIRST_PAUSE_S * 2**self._failures)
            self._failures = min(self._failures + 1, 16)
            await asyncio.sleep(random.uniform(0, ceiling))

    async def _connect(self) -> None:
        plain = socket.socket()
        plain.setblocking(False)
        network, host = divmod(self._number // PER_ADDRESS, 250)
        plain.bind((f"127.1.{network}.{host + 1}", 0))
        try:
            async with asyncio.timeout(OPEN_S):
                await self._loop.sock_connect(plain, self._server)
        except OSError:
            plain.close()
            raise
        await self._loop.create_connection(lambda: self, sock=plain)
        self._timers.append(self._loop.call_later(OPEN_S, self._give_up))

    def _stop_timers(self) -> None:
        for timer in self._timers:
            timer.cancel()

    def _leave(self) -> None:
        self._stop_timers()
        if self._is_welcome:
            self._counts.connected -= 1
        elif self._is_counted:
            self._counts.refused += 1

    def _give_up(self) -> None:
        if not self._is_welcome:
            self._transport.abort()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        text = UPGRADE.format(host=self._server[0], token=self._token)
        transport.write(text.encode())

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timers()
        if not self._ended.done():
            self._ended.set_result(None)

    def data_received(self, data: bytes) -> None:
        if self._reader is None:
            if not data.startswith(b"HTTP/1.1 101"):
                self._transport.abort()
                return
            self._reader = websocket_frames.Reader(masked=False, max_size=MAX_FRAME)
            self._say_hello()
            self._stop_timers()
            self._timers[:] = [self._loop.call_later(HANDSHAKE_S, self._give_up)]
            data = data.partition(b"\r\n\r\n")[2]
        for opcode, payload in self._reader.feed(data):
            self._receive(opcode, payload)

    def _receive(self, opcode: int, payload: bytes) -> None:
        if opcode == websocket_frames.CLOSE:
            self._stop_timers()
            self._transport.close()
        elif opcode == websocket_frames.TEXT:
            for message in msgspec.json.decode(payload):
                if message["kind"] == "welcome":
                    self._start(message["beat_ms"] / 1_000)
                elif message["kind"] == "watch":
                    self._watch = message["number"]

    def _say_hello(self) -> None:
        self._greeting += 1
        name = f"fleet-{self._number}"
        hello = Hello(
            *(name, "1", name, name, name),
            slots=1,
            entries=[],
            keeper_id=name,
            greeting=self._greeting,
            takes_changes=True,
            os_name="Linux",
            os_version="simulated",
            info={"containment": "cgroup", "python": "3.11", "machine": "x"},
        )
        self._transport.write(_packed(hello))

    def _start(self, beat_s: float) -> None:
        self._is_welcome = True
        self._counts.connected += 1
        self._failures = 0
        self._timers[:] = [self._loop.call_later(beat_s, self._beat, beat_s)]

    def _beat(self, beat_s: float) -> None:
        """An agent sends its PING with the heartbeat."""
        ping = websocket_frames.pack(websocket_frames.PING, b"", masked=True)
        self._transport.write(_packed(Heartbeat([], self._watch)) + ping)
        self._timers[0] = self._loop.call_later(beat_s, self._beat, beat_s)


def _packed(message: Hello | Heartbeat) -> bytes:
    text = msgspec.json.encode([message])
    return websocket_frames.pack(websocket_frames.TEXT, text, masked=True)
