"""Output and files that an agent sends: under credit, into the log store."""

import asyncio
from typing import TYPE_CHECKING

from belvedere.db.signals import log_written
from belvedere.jobs.output import artifacts
from belvedere.jobs.output import log_store as joblog
from belvedere.protocol import (
    CHUNK,
    FILE,
    OUTPUT,
    Credit,
    FromServer,
    Kept,
    unpack_file,
    unpack_output,
)
from belvedere.server.agents.close_reasons import Goodbye, check_numbers

if TYPE_CHECKING:
    from belvedere.server.agents.connection import Link

# Bytes that an agent may send before the server grants more.
CREDIT = 4 * 1024 * 1024


class Intake:
    def __init__(self, link: "Link") -> None:
        self._link = link
        # What the agent may still send, and what it will be granted with the next frame.
        self._credit = CREDIT
        self._granted = 0
        # Up to which byte the output of a fence is durable, where the agent was not told yet.
        self._kept: dict[int, int] = {}
        # Up to which byte the output of a fence has come, stored or not, on this connection.
        self._reached: dict[int, int] = {}
        # The newest unfinished write of a fence's output.
        self._writing: dict[int, asyncio.Future[int]] = {}

    # What goes out

    @property
    def has_news(self) -> bool:
        return bool(self._granted or self._kept)

    def tell(self, outbox: list[FromServer]) -> None:
        """One message per fence and one credit, however many frames they are for."""
        if self._kept:
            outbox.extend([Kept(fence, offset) for fence, offset in self._kept.items()])
            self._kept.clear()
        if self._granted:
            outbox.append(Credit(self._granted))
            self._credit += self._granted
            self._granted = 0

    def _grant(self, size: int) -> None:
        self._granted += size
        self._link.wake()

    # What comes in

    def resume(self, reached: dict[str, int]) -> None:
        self._reached.update({int(fence): at for fence, at in reached.items()})

    def forget(self, fence: int) -> None:
        self._reached.pop(fence, None)

    async def stored(self, fence: int) -> None:
        """Until everything that came of this fence is durable."""
        writing = self._writing.pop(fence, None)
        if writing is not None:
            await writing

    def receive(self, frame: bytes) -> None:
        if frame and frame[0] == OUTPUT:
            fence, at_byte, at_line, data = unpack_output(frame)
            check_numbers(fence, at_byte, at_line)
            if self._may_have(fence, data):
                self._keep(fence, at_byte, at_line, data)
        elif frame and frame[0] == FILE:
            fence, number, at_byte, data = unpack_file(frame)
            check_numbers(fence, at_byte)
            if self._may_have(fence, data):
                self._keep_file(fence, number, at_byte, data)
        else:
            raise Goodbye(4400, "An unknown frame.")

    def _may_have(self, fence: int, data: bytes) -> bool:
        """Whether the attempt is open here; what comes for others is dropped."""
        self._credit -= len(data)
        if self._credit < 0 or len(data) > CHUNK:
            raise Goodbye(4400, "More output than the server granted, or too much in one frame.")
        if fence in self._link.jobs:
            return True
        self._grant(len(data))
        return False

    def _keep(self, fence: int, at_byte: int, at_line: int, data: bytes) -> None:
        link = self._link
        after = self._reached.get(fence, 0)
        self._reached[fence] = max(after, at_byte + len(data))
        job_id = link.jobs[fence]
        dropped = not link.runtime.storage.take(link.customer_id, len(data))
        piece = joblog.Output(
            fence, job_id, at_byte, at_line, data, after, link.customer_id, dropped
        )
        future = link.runtime.logs.write_batched(joblog.append, piece)
        self._writing[fence] = future
        future.add_done_callback(lambda done: self._stored(piece, done))

    def _stored(self, piece: joblog.Output, done: "asyncio.Future[int]") -> None:
        if self._has_failed(piece.fence, done):
            return
        self._kept[piece.fence] = done.result()
        self._grant(len(piece.data))
        self._link.runtime.signals.emit((log_written(piece.job_id),))

    def _keep_file(self, fence: int, number: int, at_byte: int, data: bytes) -> None:
        if number >= artifacts.MOST_FILES or at_byte + len(data) > artifacts.MOST_BYTES:
            raise Goodbye(4400, "More files than one job may leave.")
        link = self._link
        if not link.runtime.storage.take(link.customer_id, len(data)):
            # The end shows that the file is not complete.
            self._grant(len(data))
            return
        piece = artifacts.Piece(fence, link.jobs[fence], number, at_byte, data, link.customer_id)
        future = link.runtime.logs.write_batched(artifacts.append, piece)
        self._writing[fence] = future
        future.add_done_callback(lambda done: self._filed(piece, done))

    def _filed(self, piece: artifacts.Piece, done: "asyncio.Future[int]") -> None:
        if not self._has_failed(piece.fence, done):
            self._grant(len(piece.data))

    def _has_failed(self, fence: int, done: "asyncio.Future[int]") -> bool:
        if done.cancelled() or done.exception() is not None:
            self._link.close(4503, "the server could not store output; come back")
            return True
        if self._writing.get(fence) is done:
            del self._writing[fence]
        return False
