"""Monitors on a connection: the configuration is sent, samples are received."""

import asyncio

import msgspec

from belvedere.db.signals import Signal
from belvedere.monitors import agent_config, watch_changes
from belvedere.monitors.agent_config import ListPosition
from belvedere.monitors.evaluation import samples
from belvedere.protocol import MonitorConfig, Samples, SamplesAck
from belvedere.rest.request import Send
from belvedere.server.agents.message_limits import (
    MAX_BATCHES,
    MAX_WAITING,
    AgentPeer,
    CloseConnection,
)
from belvedere.server.storage import SAMPLE_BYTES

# Changes within this time are sent in one frame.
GATHER_S = 0.1
# Full lists that an agent may request on one connection.
MAX_LISTS = 20
encode = msgspec.json.Encoder().encode


class MonitorSync:
    """Sends one agent its configuration, and stores its samples in order."""

    __slots__ = (
        *("takes_changes", "_connection", "_send", "_position", "_has_changes", "_is_sending"),
        *("_needs_list", "_lists", "_behind", "_waiting", "_waiting_bytes", "_is_busy", "_agreed"),
        "_quiet_beat",
    )

    def __init__(self, connection: AgentPeer, send: Send) -> None:
        self._connection = connection
        # Waits while the agent does not read. Each list, part or change is a separate frame.
        self._send = send
        # From the hello; an older agent gets the full list in one frame.
        self.takes_changes = False
        # The configuration that was sent last.
        self._position = ListPosition()
        self._has_changes = self._is_sending = self._needs_list = False
        self._lists = 0
        # What the agent had at the last heartbeat, if it was not what it was sent.
        self._behind: tuple[int, ListPosition] | None = None
        # The position that the agent has confirmed in its last heartbeat.
        self._agreed: ListPosition | None = None
        # A heartbeat that changed nothing, and the position at that time.
        self._quiet_beat: tuple[bytes, ListPosition] | None = None
        self._waiting: list[Samples] = []
        self._waiting_bytes = 0
        self._is_busy = False

    @property
    def number(self) -> int:
        """Number of the configuration that was sent; 0: none was sent, or there is none."""
        return max(self._position.number, 0)

    @property
    def agreed_position(self) -> ListPosition | None:
        """The position, if the agent has confirmed it and nothing is being sent."""
        is_current = self._agreed is self._position and not self._is_sending
        return self._agreed if is_current else None

    def remember_beat(self, frame: str) -> None:
        """The same heartbeat need not be read again until something changes."""
        position = self.agreed_position
        self._quiet_beat = None if position is None else (frame.encode(), position)

    def forget_beat(self) -> None:
        self._quiet_beat = None

    def is_quiet_beat(self, frame: bytes) -> bool:
        quiet = self._quiet_beat
        return quiet is not None and frame == quiet[0] and self.agreed_position is quiet[1]

    def on_signal(self, _: Signal | None = None) -> None:
        """The configuration may have changed."""
        self._has_changes = True
        if not self._is_sending:
            self._is_sending = True
            self._connection.spawn(self._send_changes())

    async def _send_changes(self) -> None:
        """One at a time, so that the numbers are sent in order."""
        try:
            while self._has_changes:
                if self._position.number >= 0:
                    await asyncio.sleep(GATHER_S)
                self._has_changes = False
                if self._needs_list:
                    self._position, self._needs_list = ListPosition(), False
                await (self._send_parts() if self.takes_changes else self._send_full_list())
        finally:
            self._is_sending = False

    async def _send_parts(self) -> None:
        runtime, host_id = self._connection.runtime, self._connection.host_id
        if not self._position.part:
            number, _ = await runtime.db.read_inline(watch_changes.state, host_id)
            # Most agents have no monitors, or the ones that they were sent.
            if number == self.number:
                return
        has_more = True
        while has_more:
            message = await runtime.db.read(
                agent_config.next_message, host_id, self._position, runtime.keyring
            )
            if message is None:
                return
            watch, self._position = message
            await self._send_frame(watch)
            # Later changes have signalled again and are sent in the next round.
            has_more = watch.more

    async def _send_full_list(self) -> None:
        runtime = self._connection.runtime
        watch = await runtime.db.read(
            agent_config.full_list, self._connection.host_id, runtime.keyring
        )
        if watch.number > self.number:
            self._position = ListPosition(watch.number)
            await self._send_frame(watch)

    async def _send_frame(self, watch: MonitorConfig) -> None:
        await self._send({"type": "websocket.send", "text": encode([watch]).decode()})

    def send_list(self) -> None:
        """The agent lacks a message: send the full list."""
        self._lists += 1
        if self._lists > MAX_LISTS:
            raise CloseConnection(4400, f"More than {MAX_LISTS} lists of monitors were requested.")
        self._needs_list, self._behind = True, None
        self.on_signal()

    def compare(self, number: int | None) -> None:
        """Compare with the number in a heartbeat. The last message may still be on its way; a
        difference that is the same in the next heartbeat is a lost message."""
        if number is None or self._is_sending or number == self._position.number:
            self._behind = None
            self._agreed = None if self._is_sending else self._position
        elif self._behind == (number, self._position):
            self.send_list()
        else:
            # Without this, the next heartbeat would be the same as this one and not be read.
            self._behind, self._agreed = (number, self._position), None

    def take(self, batch: Samples, size: int) -> None:
        """One write at a time, so that batches are stored in the order in which they were sent."""
        if len(self._waiting) >= MAX_BATCHES:
            raise CloseConnection(4400, f"More than {MAX_BATCHES} batches of samples at once.")
        self._waiting_bytes += size
        if self._waiting_bytes > MAX_WAITING:
            raise CloseConnection(4400, f"More than {MAX_WAITING} bytes of samples at once.")
        self._waiting.append(batch)
        if not self._is_busy:
            self._is_busy = True
            self._connection.spawn(self._store())

    async def _store(self) -> None:
        try:
            while self._waiting:
                batches, self._waiting, self._waiting_bytes = self._waiting, [], 0
                count = sum(len(batch.samples) for batch in batches)
                has_room = self._connection.runtime.storage.take(
                    self._connection.customer_id, count * SAMPLE_BYTES
                )
                await self._connection.runtime.db.write(
                    samples.record_batches,
                    self._connection.host_id,
                    batches,
                    keeps_history=has_room,
                )
                last = batches[-1]
                self._connection.push(SamplesAck(last.stream, last.number))
        finally:
            # A failed write closes the connection; the agent repeats unacknowledged batches.
            self._is_busy = False
