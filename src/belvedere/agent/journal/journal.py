"""The journal on disk: lines of JSON, each after its checksum, appended and made durable in groups.

The file is filled with zeros after the last line: a write that only changes existing bytes can be
made durable without a commit of the file system's own journal.

The state in memory is always ahead of the file. So writing a new file from the state both keeps it
short and repairs it after a failed write.
"""

from __future__ import annotations

import json
import os
from binascii import crc32

from belvedere.agent.journal.state import JournalState, records, replay
from belvedere.agent.json_lines import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from belvedere.agent.journal.state import Record

VERSION = 1
# How far the file may grow beyond the size of a new one.
SLACK = 4 * 1024 * 1024
# Bytes of zeros that are written ahead at a time.
PREALLOCATED = 64 * 1024

sync_data = getattr(os, "fdatasync", os.fsync)


def line(record: Record) -> bytes:
    text = to_json(record).encode()
    return b"%08x %s\n" % (crc32(text), text)


def parse(text: bytes) -> Record | None:
    """The record of one line, or None if its checksum is wrong."""
    try:
        if int(text[:8], 16) != crc32(text[9:]):
            return None
        record: Record = json.loads(text[9:])
    except ValueError:
        return None
    return record


def read(data: bytes, new_id: str) -> tuple[JournalState, bool]:
    """The state that these bytes describe, and whether they are undamaged.

    Bytes after the last newline are an incomplete write before a crash, whose effects were never
    performed: they are dropped. An invalid complete line is damage: readable entries are kept, but
    under a new identity, because a damaged journal cannot prove that it never had a fence, and the
    last line may be the one that accepted a script.
    """
    parsed = [parse(text) for text in data.split(b"\n")[:-1]]
    head = parsed[0] if parsed else None
    if head is None or head[0] != "journal":
        state, is_complete = JournalState(new_id), not data
    elif head[1] > VERSION:
        raise ValueError("The journal was written by a newer agent version; start that version.")
    else:
        is_complete = None not in parsed
        state = JournalState(head[2] if is_complete else new_id, owner=head[3])
    for record in parsed:
        if record is not None:
            replay(state, record)
    return state, is_complete


class Journal:
    __slots__ = (
        "_base",
        "_fd",
        "_must_sync",
        "_path",
        "_pending",
        "_allocated",
        "_size",
        "is_sound",
        "unsynced",
    )

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1
        self._pending: list[bytes] = []
        self._must_sync = False
        self.is_sound = False
        self._size = self._base = 0
        # The end of the zeros.
        self._allocated = 0
        # A power failure could still lose what was written last.
        self.unsynced = False

    def load(self, new_id: str) -> JournalState:
        try:
            with open(self._path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            data = b""
        state, is_complete = read(data, new_id)
        if not is_complete:
            os.replace(self._path, self._path + ".damaged")
        return state

    def append(self, record: Record, *, sync: bool) -> None:
        self._pending.append(line(record))
        self._must_sync = self._must_sync or sync

    def commit(self, state: JournalState, before_sync: Callable[[], None] | None = None) -> None:
        """Write pending records; OSError if they are not as durable as required.
        `before_sync` is called while the disk writes, if there is anything to wait for."""
        if not self._pending:
            return
        if not self.is_sound or self._size > self._base + SLACK:
            self.renew(state)
            return
        data = b"".join(self._pending)
        must_sync = self._must_sync
        self._forget_pending()
        self.is_sound = False
        if self._size + len(data) > self._allocated:
            self._preallocate(len(data) + PREALLOCATED)
        _write(self._fd, data)
        self._size += len(data)
        if must_sync:
            if before_sync is not None:
                _start_writing(self._fd, self._size - len(data), len(data))
                before_sync()
            sync_data(self._fd)
        # Any failure above leaves it false: the end of the file is unknown, a new file is needed.
        self.is_sound = True
        self.unsynced = not must_sync

    def sync(self) -> None:
        self.unsynced = False
        self.is_sound = False
        sync_data(self._fd)
        self.is_sound = True

    def renew(self, state: JournalState) -> None:
        """Replace the file atomically by the shortest one with the same state."""
        head = ["journal", VERSION, state.journal_id, state.owner]
        data = b"".join(line(record) for record in [head, *records(state)])
        self._forget_pending()
        self.is_sound = False
        new_fd = os.open(self._path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            _write(new_fd, data)
            os.fsync(new_fd)
            os.rename(self._path + ".new", self._path)
            _sync_folder(os.path.dirname(self._path))
        except OSError:
            os.close(new_fd)
            raise
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = new_fd
        self._base = self._size = self._allocated = len(data)
        self.is_sound = True
        self.unsynced = False

    def _preallocate(self, size: int) -> None:
        # If preallocation failed before, records may be behind the zeros.
        start = max(self._allocated, self._size)
        try:
            self._allocated = start + os.pwrite(self._fd, bytes(size), start)
        except OSError:
            # There may still be enough space for the records themselves.
            return

    def _forget_pending(self) -> None:
        self._pending.clear()
        self._must_sync = False


def _write(fd: int, data: bytes) -> None:
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[os.write(fd, remaining) :]


def _start_writing(fd: int, start: int, size: int) -> None:
    """Start to write to the disk, so that the sync waits less. On Linux this advice does so; pages
    that are only partly in the range stay cached."""
    try:
        os.posix_fadvise(fd, start, size, os.POSIX_FADV_DONTNEED)
    except (AttributeError, OSError):
        return


def _sync_folder(path: str) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
