"""Output on disk until the server has it: one folder per fence, one file per segment.

Segments begin at fixed offsets (the first is 1 MiB, the others 4 MiB), so that reader and writer
need no list of them. Each file begins with the number of newlines before it. A segment that is
missing or short is a hole; readers jump over it.

When a write fails (no space, a quota, an I/O error), a bounded amount of what follows stays in
memory, and each later write tries the disk again: what fits then begins a file of its own, named
after the byte at which it begins. Everything between is a hole.
"""

from __future__ import annotations

import os

from belvedere.agent.output.memory_buffer import MemoryBudget, MemoryBuffer, OutputPiece

FIRST = 1024 * 1024
LATER = 4 * 1024 * 1024
# Per fence; above it the oldest segments are deleted, but never the first.
LIMIT = 100 * 1024 * 1024
HEAD = 8
# Files of one segment: a disk that is full again and again cannot fill the folder with them.
MAX_PARTS = 64


def segment(offset: int) -> tuple[int, int]:
    """Start of the segment with this byte, and start of the next one."""
    if offset < FIRST:
        return 0, FIRST
    start = FIRST + (offset - FIRST) // LATER * LATER
    return start, start + LATER


class SpoolPosition:
    """A byte of the output and the number of newlines before it; -1 if that is not known yet."""

    __slots__ = ("line", "offset")

    def __init__(self, offset: int, line: int) -> None:
        self.offset = offset
        self.line = line


def read(
    spool: str,
    fence: int,
    position: SpoolPosition,
    end: int,
    size: int,
    pieces: list[OutputPiece] | None = None,
) -> bytes:
    """The next bytes, with `place` moved to where they begin; empty when nothing is left. What is
    not on disk may be among `pieces`."""
    folder = f"{spool}/{fence}"
    while position.offset < end:
        start, following = segment(position.offset)
        want = min(size, end - position.offset, following - position.offset)
        data = _read(f"{folder}/{start}.seg", position, start, want)
        if data:
            return data
        parts = [part for part in _starts(folder) if start < part < following]
        data = _from_part(folder, parts, position, want) or _from_memory(
            pieces or [], position, want
        )
        if data:
            return data
        later = [part for part in parts if part > position.offset]
        later += [piece.at for piece in pieces or [] if piece.at > position.offset]
        position.offset, position.line = min([*later, following, end]), -1
    return b""


def _from_part(folder: str, parts: list[int], position: SpoolPosition, size: int) -> bytes:
    """From the file that was started after a failed write."""
    start = max([part for part in parts if part <= position.offset], default=-1)
    return b"" if start < 0 else _read(f"{folder}/{start}.seg", position, start, size)


def _from_memory(pieces: list[OutputPiece], position: SpoolPosition, size: int) -> bytes:
    for piece in pieces:
        if piece.at <= position.offset < piece.end:
            skip = position.offset - piece.at
            position.line = piece.line + piece.data.count(b"\n", 0, skip)
            return piece.data[skip : skip + size]
    return b""


def _read(path: str, position: SpoolPosition, start: int, size: int) -> bytes:
    """Empty where the file has nothing at this place, or cannot be read."""
    ahead = position.offset - start
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        data = os.pread(fd, size, HEAD + ahead)
        if data and position.line < 0:
            before = int.from_bytes(os.pread(fd, HEAD, 0), "big")
            position.line = before + os.pread(fd, ahead, HEAD).count(b"\n")
        return data
    except OSError:
        return b""
    finally:
        os.close(fd)


def _starts(folder: str) -> list[int]:
    """Where the files of this folder begin."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [int(name[:-4]) for name in names if name.endswith(".seg")]


def list_spools(spool: str) -> dict[int, int]:
    """The fences with spooled output, and where the output of each ends on disk."""
    return {int(name): _end(f"{spool}/{name}") for name in os.listdir(spool) if name.isdigit()}


def _end(folder: str) -> int:
    starts = _starts(folder)
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
        # Already deleted, or a broken disk: the keeper's next start deletes what is left.
        return


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        # A broken disk must not end the keeper; `clear` tries again.
        return


def trim(spool: str, fence: int, offset: int) -> None:
    """The server has everything below the offset: delete complete segments below it."""
    folder = f"{spool}/{fence}"
    for start in _starts(folder):
        if segment(start)[1] <= offset:
            _unlink(f"{folder}/{start}.seg")


class Spool:
    """The writing end for one fence."""

    __slots__ = ("_fd", "_folder", "_limit", "_parts", "_starts", "_until", "end", "memory")

    def __init__(
        self, spool: str, fence: int, limit: int = LIMIT, budget: MemoryBudget | None = None
    ) -> None:
        self._folder = f"{spool}/{fence}"
        self._limit = limit
        self._starts: list[int] = []
        self._fd = -1
        self._until = 0
        # Files that were begun in the present segment.
        self._parts = 0
        self.memory = MemoryBuffer(budget or MemoryBudget())
        self.end = 0

    def write(self, data: bytes, line: int) -> None:
        """`line` is the number of newlines before it."""
        at = 0
        while at < len(data):
            if self.end >= self._until:
                self._next_segment()
            following = min(len(data), at + self._until - self.end)
            self._put(data, at, following, line)
            at = following

    def trim(self, offset: int) -> None:
        """The same while it is still being written."""
        self.memory.drop_below(offset)
        for start in [start for start in self._starts if segment(start)[1] <= offset]:
            if start != self._starts[-1]:
                self._drop(start)

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        try:
            if fd >= 0:
                os.close(fd)
        except OSError:
            # Network file systems report failed writes here; the reader finds a hole.
            return

    def _next_segment(self) -> None:
        self.close()
        self._until, self._parts = segment(self.end)[1], 0
        # Space for one segment, so that the new one fits below the limit.
        while len(self._starts) > 2 and self._size() > self._limit - LATER:
            self._drop(self._starts[1] if self._starts[0] == 0 else self._starts[0])

    def _put(self, data: bytes, at: int, following: int, line: int) -> None:
        """Write these bytes to disk, and what cannot be written to memory."""
        is_open = self._fd >= 0 or self._begin(line + data.count(b"\n", 0, at))
        stored = at + (self._store(memoryview(data)[at:following]) if is_open else 0)
        if stored < following:
            before = line + data.count(b"\n", 0, stored)
            self.memory.add(self.end + stored - at, before, data[stored:following])
        self.end += following - at

    def _store(self, piece: memoryview) -> int:
        """How many of these bytes are on disk now."""
        size = 0
        try:
            while size < len(piece):
                size += os.write(self._fd, piece[size:])
        except OSError:
            # The next write starts a new file, behind the hole.
            self.close()
        return size

    def _begin(self, line: int) -> bool:
        """Start a file for the next bytes; False if there is no space for it."""
        if self._parts == MAX_PARTS:
            return False
        path = f"{self._folder}/{self.end}.seg"
        try:
            os.makedirs(self._folder, 0o700, exist_ok=True)
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
            is_begun = os.write(self._fd, line.to_bytes(HEAD, "big")) == HEAD
        except OSError:
            is_begun = False
        if not is_begun:
            self.close()
            _unlink(path)
            return False
        self._starts.append(self.end)
        self._parts += 1
        return True

    def _size(self) -> int:
        return sum(segment(start)[1] - start for start in self._starts)

    def _drop(self, start: int) -> None:
        self._starts.remove(start)
        _unlink(f"{self._folder}/{start}.seg")
