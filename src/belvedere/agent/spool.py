"""Output on disk until the server holds it: one folder per fence, one file per segment.

Segments begin at fixed offsets (the first is 1 MiB, the others 4 MiB), so that reader and writer
need no list of them. Each file begins with the number of newlines before it. A segment that is
missing or short is a hole; readers jump over it.
"""

from __future__ import annotations

import os

FIRST = 1024 * 1024
LATER = 4 * 1024 * 1024
# Per fence; beyond it the oldest segments go, but never the first.
LIMIT = 100 * 1024 * 1024
HEAD = 8


def segment(offset: int) -> tuple[int, int]:
    """Where the segment that holds this byte begins and where the next one does."""
    if offset < FIRST:
        return 0, FIRST
    start = FIRST + (offset - FIRST) // LATER * LATER
    return start, start + LATER


class Place:
    """A byte of the output and the number of newlines before it; -1 when that is to be found."""

    __slots__ = ("line", "offset")

    def __init__(self, offset: int, line: int) -> None:
        self.offset = offset
        self.line = line


def read(spool: str, fence: int, place: Place, end: int, size: int) -> bytes:
    """The next bytes, with `place` moved to where they begin; empty when nothing is left."""
    while place.offset < end:
        start, following = segment(place.offset)
        want = min(size, end - place.offset, following - place.offset)
        try:
            data = _read(f"{spool}/{fence}/{start}.seg", place, start, want)
        except OSError:
            data = b""
        if data:
            return data
        place.offset, place.line = min(following, end), -1
    return b""


def _read(path: str, place: Place, start: int, size: int) -> bytes:
    ahead = place.offset - start
    fd = os.open(path, os.O_RDONLY)
    try:
        data = os.pread(fd, size, HEAD + ahead)
        if data and place.line < 0:
            before = int.from_bytes(os.pread(fd, HEAD, 0), "big")
            place.line = before + os.pread(fd, ahead, HEAD).count(b"\n")
        return data
    finally:
        os.close(fd)


def found(spool: str) -> dict[int, int]:
    """The fences with spooled output, and where the output of each ends on disk."""
    return {int(name): _end(f"{spool}/{name}") for name in os.listdir(spool) if name.isdigit()}


def _end(folder: str) -> int:
    starts = [int(name[:-4]) for name in os.listdir(folder) if name.endswith(".seg")]
    if not starts:
        return 0
    return max(starts) + max(0, os.stat(f"{folder}/{max(starts)}.seg").st_size - HEAD)


def clear(spool: str, fence: int) -> None:
    folder = f"{spool}/{fence}"
    try:
        for name in os.listdir(folder):
            os.unlink(f"{folder}/{name}")
        os.rmdir(folder)
    except OSError:
        # Gone already, or a disk in trouble: what stays is removed at the keeper's next start.
        return


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        # A disk in trouble must not end the keeper; clear comes by again.
        return


def trim(spool: str, fence: int, offset: int) -> None:
    """The server holds everything below: whole segments below it may go."""
    folder = f"{spool}/{fence}"
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if segment(int(name[:-4]))[1] <= offset:
            _unlink(f"{folder}/{name}")


class Spool:
    """The writing end for one fence."""

    __slots__ = ("_fd", "_folder", "_limit", "_skip_to", "_starts", "_until", "end")

    def __init__(self, spool: str, fence: int, limit: int = LIMIT) -> None:
        self._folder = f"{spool}/{fence}"
        self._limit = limit
        self._starts: list[int] = []
        self._fd = -1
        self._until = 0
        # After a failed write the rest of its segment is skipped: a hole, not a shifted stream.
        self._skip_to = 0
        self.end = 0

    def write(self, data: bytes, line: int) -> None:
        """`line` is the number of newlines before it."""
        left = memoryview(data)
        while left:
            if self.end >= self._until:
                self._next_segment(line + data.count(b"\n", 0, len(data) - len(left)))
            piece = left[: self._until - self.end]
            self._put(piece)
            self.end += len(piece)
            left = left[len(piece) :]

    def trim(self, offset: int) -> None:
        """The same while it is still being written."""
        for start in [start for start in self._starts if segment(start)[1] <= offset]:
            if start != self._starts[-1]:
                self._drop(start)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _next_segment(self, line: int) -> None:
        self.close()
        start, self._until = segment(self.end)
        # One segment of room, so that the one that now begins fits below the limit.
        while len(self._starts) > 2 and self._size() > self._limit - LATER:
            self._drop(self._starts[1] if self._starts[0] == 0 else self._starts[0])
        try:
            os.makedirs(self._folder, 0o700, exist_ok=True)
            path = f"{self._folder}/{start}.seg"
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
            self._starts.append(start)
            os.write(self._fd, line.to_bytes(HEAD, "big"))
        except OSError:
            self._skip_to = self._until

    def _put(self, piece: memoryview) -> None:
        try:
            while piece and self.end >= self._skip_to:
                piece = piece[os.write(self._fd, piece) :]
        except OSError:
            self._skip_to = self._until

    def _size(self) -> int:
        return sum(segment(start)[1] - start for start in self._starts)

    def _drop(self, start: int) -> None:
        self._starts.remove(start)
        _unlink(f"{self._folder}/{start}.seg")
