"""A host's disk: files whose unsynced bytes a power cut may take back, in part or all.

It stands in for `os` in agent/journal/journal.py, so that the real journal writes to it.
"""

import errno
import os
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING

from sim.world import World

if TYPE_CHECKING:
    from sim.spools import SpooledOutput


class File:
    """Bytes as processes see them, how many of them are on stable storage, and where the next write
    begins: the bytes after it are zeros."""

    def __init__(self) -> None:
        self.data = b""
        self.synced = 0
        self.at = 0

    def put(self, data: bytes, at: int) -> None:
        self.data = self.data[:at] + data + self.data[at + len(data) :]


class Disk:
    O_WRONLY, O_CREAT, O_TRUNC, O_RDONLY = os.O_WRONLY, os.O_CREAT, os.O_TRUNC, os.O_RDONLY
    path = os.path

    def __init__(self, world: World) -> None:
        self.world = world
        self.files: dict[str, File] = {}
        # The names that would remain after a power cut.
        self._kept_names: dict[str, File] = {}
        self._open: dict[int, File | None] = {}
        self._next = 100
        self.is_full = False
        # Called before each step: here a crash may happen between any two of them.
        self.before: Callable[[], None] = lambda: None
        # Output that scripts wrote, by fence.
        self.spooled: dict[int, SpooledOutput] = {}
        # Ranges of it that were dropped because the disk was full.
        self.dropped: dict[int, list[tuple[int, int]]] = {}

    # The calls of the journal.

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        self.before()
        self._next += 1
        if flags == os.O_RDONLY:
            self._open[self._next] = None
            return self._next
        self._may_write()
        self.files[path] = File()
        self._open[self._next] = self.files[path]
        return self._next

    def write(self, fd: int, data: bytes | memoryview) -> int:
        file = self._open[fd]
        assert file is not None
        size = self.pwrite(fd, data, file.at)
        file.at += size
        return size

    def pwrite(self, fd: int, data: bytes | memoryview, at: int) -> int:
        self.before()
        self._may_write()
        file = self._open[fd]
        assert file is not None
        # Sometimes a write stores only a part, as the system call may.
        size = self.world.between(1, len(data)) if self.world.chance(0.02) else len(data)
        file.put(bytes(data[:size]), at)
        return size

    def fsync(self, fd: int) -> None:
        self.before()
        self._may_write()
        file = self._open[fd]
        if file is None:
            self._kept_names = dict(self.files)
        else:
            file.synced = file.at

    def rename(self, source: str, target: str) -> None:
        self.before()
        self.files[target] = self.files.pop(source)

    replace = rename

    def close(self, fd: int) -> None:
        self._open.pop(fd, None)

    def read(self, path: str, mode: str = "rb") -> BytesIO:
        if path not in self.files:
            raise FileNotFoundError(path)
        return BytesIO(self.files[path].data)

    def _may_write(self) -> None:
        if self.is_full:
            raise OSError(errno.ENOSPC, "No space left on device")

    # Faults.

    def lose_power(self) -> None:
        """Names and bytes that were not made durable are lost, or still there by chance."""
        if self.world.chance(0.5):
            self.files = dict(self._kept_names)
        self._kept_names = dict(self.files)
        for file in self.files.values():
            number = self.world.between(file.synced, file.at)
            if number > file.synced and self.world.chance(0.2):
                number -= 1
            # The zeros after the last write are there or not.
            ahead = self.world.between(0, len(file.data) - number)
            file.data = file.data[:number] + bytes(ahead)
            file.synced = file.at = number
        self._open.clear()

    def snapshot(self) -> dict[str, bytes]:
        """What a backup of the machine would contain now."""
        return {name: file.data for name, file in self.files.items()}

    def restore(self, snapshot: dict[str, bytes]) -> None:
        self.files = {}
        for name, data in snapshot.items():
            file = self.files[name] = File()
            file.data = data
            file.at = file.synced = len(data.rstrip(b"\0"))
        self._kept_names = dict(self.files)
        self._open.clear()

    def lose(self, path: str) -> None:
        """It was deleted."""
        self.files.pop(path, None)
        self._kept_names.pop(path, None)

    def damage(self, path: str) -> None:
        """A bit flips (not in the last newline: that is what a torn write looks like)."""
        file = self.files.get(path)
        if file is not None and file.at > 1:
            at = self.world.between(0, file.at - 2)
            flipped = bytes([file.data[at] ^ 1])
            file.data = file.data[:at] + flipped + file.data[at + 1 :]
