"""Sending output to the server: fences with output take turns, limited by credit.

The artifacts of a script follow its output, and its report follows the artifacts.
"""

import os
from collections import deque
from dataclasses import dataclass, field

from belvedere.agent.output import spool
from belvedere.agent.output.memory_buffer import OutputPiece
from belvedere.agent.workdir.artifacts import open_file
from belvedere.protocol import CHUNK, AttemptEnded, Report, pack_file, pack_output


@dataclass(slots=True)
class OutputStream:
    # The first byte that is not sent yet.
    position: spool.SpoolPosition
    # Up to this byte the output is on disk.
    total: int = 0
    # Set when the script has ended; it follows the last byte.
    report: Report | None = None
    # The start of the segment up to which the keeper knows that the server has it.
    kept_segment: int = 0
    # Which of its files is being sent, and from which byte on.
    number: int = 0
    at_byte: int = 0
    # Output that the keeper could not write to disk, and whether there ever was some.
    held_pieces: list[OutputPiece] = field(default_factory=list)
    has_held: bool = False


class OutputUpload:
    def __init__(self, root: str, files: str = "") -> None:
        self._root = root
        self._files = files
        self._streams: dict[int, OutputStream] = {}
        # Fences with something to send; each gets one frame before the next gets its own.
        self._turns: deque[int] = deque()
        self.credit = 0
        # An older server does not accept artifacts.
        self.takes_files = True

    def resume(self, fence: int, offset: int) -> None:
        """The server has everything below, from an earlier connection."""
        self._streams[fence] = OutputStream(spool.SpoolPosition(offset, -1))

    def hold(self, fence: int, pieces: list[OutputPiece]) -> None:
        """Add output that is not on disk. Pieces arrive in order and may be repeated."""
        stream = self._stream(fence)
        known_end = stream.held_pieces[-1].end if stream.held_pieces else stream.position.offset
        stream.held_pieces += [piece for piece in pieces if piece.end > known_end]
        stream.has_held = True

    def grow(self, fence: int, total: int) -> None:
        stream = self._stream(fence)
        stream.total = max(stream.total, total)
        if stream.position.offset < stream.total:
            self._queue(fence)

    def end(self, fence: int, report: Report) -> None:
        """Queue the report; it is sent after the last byte, at once if everything was sent."""
        stream = self._stream(fence)
        stream.report = report
        if not self.takes_files:
            report.files = []
        if report.log is None:
            stream.total = max(stream.total, report.bytes_total)
        self._queue(fence)

    def _stream(self, fence: int) -> OutputStream:
        stream = self._streams.get(fence)
        if stream is None:
            stream = self._streams[fence] = OutputStream(spool.SpoolPosition(0, 0))
        return stream

    def _queue(self, fence: int) -> None:
        if fence not in self._turns:
            self._turns.append(fence)

    def drop(self, fence: int) -> None:
        self._streams.pop(fence, None)

    def next(self) -> bytes | AttemptEnded | None:
        """The next frame of output, or a report whose output was sent; None if nothing can go."""
        for _ in range(len(self._turns)):
            fence = self._turns[0]
            stream = self._streams.get(fence)
            if stream is None:
                self._turns.popleft()
                continue
            if stream.position.offset < stream.total or _has_files(stream):
                if self.credit < _min_credit(stream):
                    self._turns.rotate(-1)
                    continue
                frame = self._frame(fence, stream) or self._piece(fence, stream)
                if frame is not None:
                    self._turns.rotate(-1)
                    return frame
            self._turns.popleft()
            if stream.report is not None:
                return AttemptEnded(fence, stream.report)
        return None

    def _frame(self, fence: int, stream: OutputStream) -> bytes | None:
        size = min(CHUNK, self.credit)
        position, held_pieces = stream.position, stream.held_pieces
        data = spool.read(self._root, fence, position, stream.total, size, held_pieces)
        stream.held_pieces = [
            piece for piece in held_pieces if piece.end > position.offset + len(data)
        ]
        if not data:
            return None
        frame = pack_output(fence, stream.position.offset, stream.position.line, data)
        stream.position.offset += len(data)
        stream.position.line += data.count(b"\n")
        self.credit -= len(data)
        return frame

    def _piece(self, fence: int, stream: OutputStream) -> bytes | None:
        """The next piece of the artifacts; a file that cannot be read is left out, and the server
        notices that it is incomplete."""
        while stream.report is not None and _has_files(stream):
            name, _ = stream.report.files[stream.number]
            data = self._read(fence, name, stream.at_byte, min(_min_credit(stream), self.credit))
            if data:
                frame = pack_file(fence, stream.number, stream.at_byte, data)
                stream.at_byte += len(data)
                self.credit -= len(data)
                return frame
            stream.number, stream.at_byte = stream.number + 1, 0
        return None

    def _read(self, fence: int, name: str, at_byte: int, size: int) -> bytes:
        if size <= 0:
            return b""
        try:
            fd = open_file(f"{self._files}/{fence}", name)
        except (OSError, ValueError):
            return b""
        try:
            return os.pread(fd, size, at_byte)
        except OSError:
            return b""
        finally:
            os.close(fd)

    def keep(self, fence: int, offset: int) -> bool:
        """Whether to inform the keeper: the server has another complete segment, or the keeper has
        output in memory."""
        stream = self._streams.get(fence)
        start = spool.segment(offset)[0]
        if stream is None or start <= stream.kept_segment:
            return stream is not None and stream.has_held
        stream.kept_segment = start
        return True


def _has_files(stream: OutputStream) -> bool:
    return stream.report is not None and stream.number < len(stream.report.files)


def _min_credit(stream: OutputStream) -> int:
    """The credit that the next frame needs. Output uses what there is; a file is always cut at the
    same offsets, so that a repeated piece is identical."""
    if stream.position.offset < stream.total or stream.report is None:
        return 1
    size: int = stream.report.files[stream.number][1]
    return max(0, min(CHUNK, size - stream.at_byte))
