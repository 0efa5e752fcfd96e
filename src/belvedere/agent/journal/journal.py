"""The journal on disk: lines of JSON behind a checksum, appended and made durable in groups.

Zeros lie ahead of the last line: a write that only changes bytes that are there already can be made
durable without a commit of the file system's own journal.

The ledger in memory is always ahead of the file, so writing the file afresh from the ledger is
both how it is kept short and how it is mended after a failed write.
"""

from __future__ import annotations

import json
import os
from binascii import crc32

from belvedere.agent.journal.state import JournalState, records, replay
from belvedere.agent.json_lines import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from belvedere.agent.journal.state import Record

VERSION = 1
# How far the file may grow beyond what a fresh one would need.
SLACK = 4 * 1024 * 1024
# So much is laid out ahead at a time.
PREALLOCATED = 64 * 1024

sync_data = getattr(os, "fdatasync", os.fsync)


def line(record: Record) -> bytes:
    text = to_json(record).encode()
    return b"%08x %s\n" % (crc32(text), text)


def parse(text: bytes) -> Record | None:
    """The record of one line, or None when its checksum does not fit."""
    try:
        if int(text[:8], 16) != crc32(text[9:]):
            return None
        record: Record = json.loads(text[9:])
    except ValueError:
        return None
    return record


def read(data: bytes, new_id: str) -> tuple[JournalState, bool]:
    """The ledger that these bytes tell, and whether they are whole.

    What follows the last newline is what a crash left of the last write, whose steps were never
    taken: it is cut off. Any whole line that is broken is damage: the entries that can be read are
    kept, but under a new identity, because a damaged journal proves nothing about the fences it
    lacks, and the last line may well be the one that accepted a script.
    """
    parsed = [parse(text) for text in data.split(b"\n")[:-1]]
    head = parsed[0] if parsed else None
    if head is None or head[0] != "journal":
        state, is_complete = JournalState(new_id), not data
    elif head[1] > VERSION:
        raise ValueError("The journal was written by a newer agent; start that version again.")
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
        "_room",
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
        # Where the zeros end.
        self._room = 0
        # Something is written that a power cut could still take back.
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

    def commit(self, state: JournalState) -> None:
        """Write what waits; OSError when it could not be made as durable as asked."""
        if not self._pending:
            return
        if not self.is_sound or self._size > self._base + SLACK:
            self.renew(state)
            return
        data = b"".join(self._pending)
        must_sync = self._must_sync
        self._forget_pending()
        self.is_sound = False
        if self._size + len(data) > self._room:
            self._preallocate(len(data) + PREALLOCATED)
        _write(self._fd, data)
        self._size += len(data)
        if must_sync:
            sync_data(self._fd)
        # Left false by any failure above: the file's end is then unknown, only a new file will do.
        self.is_sound = True
        self.unsynced = not must_sync

    def sync(self) -> None:
        self.unsynced = False
        self.is_sound = False
        sync_data(self._fd)
        self.is_sound = True

    def renew(self, state: JournalState) -> None:
        """Replace the file by the shortest one that tells the same, all or nothing."""
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
        self._base = self._size = self._room = len(data)
        self.is_sound = True
        self.unsynced = False

    def _preallocate(self, size: int) -> None:
        # Without room to spare some of what was written may lie behind the zeros.
        start = max(self._room, self._size)
        try:
            self._room = start + os.pwrite(self._fd, bytes(size), start)
        except OSError:
            # There may still be enough for what must be written.
            return

    def _forget_pending(self) -> None:
        self._pending.clear()
        self._must_sync = False


def _write(fd: int, data: bytes) -> None:
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[os.write(fd, remaining) :]


def _sync_folder(path: str) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
