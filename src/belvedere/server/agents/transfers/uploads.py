"""Output and files that an agent sends, limited by credit, written to the log store."""

import asyncio

from belvedere.db.signals import log_written
from belvedere.jobs.output import artifacts, log_store
from belvedere.protocol import (
    CHUNK,
    FILE,
    OUTPUT,
    Credit,
    FromServer,
    OutputAck,
    unpack_file,
    unpack_output,
)
from belvedere.server.agents.message_limits import AgentPeer, CloseConnection, check_numbers

# Bytes that an agent may send before the server grants more.
CREDIT = 4 * 1024 * 1024


class Uploads:
    """What one agent uploads."""

    __slots__ = ("_connection", "_credit", "_granted", "_durable", "_reached", "_writing")

    def __init__(self, connection: AgentPeer) -> None:
        self._connection = connection
        # Bytes that the agent may still send, and bytes to grant with the next frame.
        self._credit = CREDIT
        self._granted = 0
        # Offset up to which the output of a fence is durable, where not acknowledged yet.
        self._durable: dict[int, int] = {}
        # Offset up to which the output of a fence was received on this connection, stored or not.
        self._reached: dict[int, int] = {}
        # The latest unfinished write of a fence's output.
        self._writing: dict[int, asyncio.Future[int]] = {}

    # Sending

    @property
    def has_messages(self) -> bool:
        return bool(self._granted or self._durable)

    def add_messages(self, outbox: list[FromServer]) -> None:
        """Add one message per fence and one credit, however many frames were received."""
        if self._durable:
            outbox.extend([OutputAck(fence, offset) for fence, offset in self._durable.items()])
            self._durable.clear()
        if self._granted:
            outbox.append(Credit(self._granted))
            self._credit += self._granted
            self._granted = 0

    def _grant(self, size: int) -> None:
        self._granted += size
        self._connection.wake()

    # Receiving

    def resume(self, reached: dict[str, int]) -> None:
        self._reached.update({int(fence): at for fence, at in reached.items()})

    def forget(self, fence: int) -> None:
        self._reached.pop(fence, None)

    async def wait_stored(self, fence: int) -> None:
        """Wait until all output of this fence that was received is durable."""
        writing = self._writing.pop(fence, None)
        if writing is not None:
            await writing

    def receive(self, frame: bytes) -> None:
        if frame and frame[0] == OUTPUT:
            fence, at_byte, at_line, data = unpack_output(frame)
            check_numbers(fence, at_byte, at_line)
            if self._accepts(fence, data):
                self._store(fence, at_byte, at_line, data)
        elif frame and frame[0] == FILE:
            fence, number, at_byte, data = unpack_file(frame)
            check_numbers(fence, at_byte)
            if self._accepts(fence, data):
                self._store_file(fence, number, at_byte, data)
        else:
            raise CloseConnection(4400, "The agent sent an unknown frame.")

    def _accepts(self, fence: int, data: bytes) -> bool:
        """Whether the attempt is open here; data of other attempts is dropped."""
        self._credit -= len(data)
        if self._credit < 0 or len(data) > CHUNK:
            raise CloseConnection(
                4400, "More output than the server granted, or too much in one frame."
            )
        if fence in self._connection.jobs:
            return True
        self._grant(len(data))
        return False

    def _store(self, fence: int, at_byte: int, at_line: int, data: bytes) -> None:
        connection = self._connection
        after = self._reached.get(fence, 0)
        self._reached[fence] = max(after, at_byte + len(data))
        job_id = connection.jobs[fence]
        dropped = not connection.runtime.storage.take(connection.customer_id, len(data))
        piece = log_store.LogPiece(
            fence, job_id, at_byte, at_line, data, after, connection.customer_id, dropped
        )
        future = connection.runtime.logs.write_batched(log_store.append, piece)
        self._writing[fence] = future
        future.add_done_callback(lambda done: self._on_stored(piece, done))

    def _on_stored(self, piece: log_store.LogPiece, done: "asyncio.Future[int]") -> None:
        if self._has_failed(piece.fence, done):
            return
        self._durable[piece.fence] = done.result()
        self._grant(len(piece.data))
        self._connection.runtime.signals.emit((log_written(piece.job_id),))

    def _store_file(self, fence: int, number: int, at_byte: int, data: bytes) -> None:
        if number >= artifacts.MAX_FILES or at_byte + len(data) > artifacts.MAX_BYTES:
            raise CloseConnection(4400, "More or larger files than one job may have.")
        connection = self._connection
        if not connection.runtime.storage.take(connection.customer_id, len(data)):
            # The report of the end shows that the file is incomplete.
            self._grant(len(data))
            return
        piece = artifacts.ArtifactPiece(
            fence, connection.jobs[fence], number, at_byte, data, connection.customer_id
        )
        future = connection.runtime.logs.write_batched(artifacts.append, piece)
        self._writing[fence] = future
        future.add_done_callback(lambda done: self._on_file_stored(piece, done))

    def _on_file_stored(self, piece: artifacts.ArtifactPiece, done: "asyncio.Future[int]") -> None:
        if not self._has_failed(piece.fence, done):
            self._grant(len(piece.data))

    def _has_failed(self, fence: int, done: "asyncio.Future[int]") -> bool:
        if done.cancelled() or done.exception() is not None:
            self._connection.close(4503, "the server could not store output; reconnect")
            return True
        if self._writing.get(fence) is done:
            del self._writing[fence]
        return False
