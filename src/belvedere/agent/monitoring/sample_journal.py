"""The journal of samples that the server does not have yet, for the next agent process.

One JSON line for each change of the buffer: a sample was added, samples became a batch, a batch was
acknowledged. It is not synced: a power failure may lose some samples, a restart none.
"""

import contextlib
import json
import logging
import os
import secrets
from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from belvedere.agent.json_lines import to_json
from belvedere.protocol import Sample

log = logging.getLogger("belvedere.agent")

# The file is rewritten after this growth, and given up above this size.
MAX_GROWTH = 4 * 1024 * 1024
MAX_SIZE = 32 * 1024 * 1024

Line = dict[str, Any]
_read_fields = attrgetter(*Sample.__slots__)


class SampleJournal:
    """A journal without a path stores nothing."""

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._fd = -1
        self._size = 0
        self._rewritten_size = 0

    def load(self) -> list[Line]:
        """The lines that can be read; afterwards the journal is open for appending."""
        if not self._path:
            return []
        try:
            lines = _read(self._path)
            self._open()
        except OSError as fault:
            self._give_up(fault)
            return []
        return lines

    def _open(self) -> None:
        self._fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._size = self._rewritten_size = os.fstat(self._fd).st_size

    def append(self, *lines: Line) -> None:
        """Append the lines with one write."""
        if self._fd < 0:
            return
        if self._size > MAX_SIZE:
            self._give_up("the journal is too large")
            return
        data = b"".join(map(_encode, lines))
        try:
            self._size += os.write(self._fd, data)
        except OSError as fault:
            self._give_up(fault)

    @property
    def is_long(self) -> bool:
        return self._fd >= 0 and self._size > self._rewritten_size + MAX_GROWTH

    def renew(self, lines: Iterable[Line]) -> None:
        """Rewrite the file with these lines only."""
        if self._fd < 0:
            return
        try:
            with open(f"{self._path}.new", "wb", opener=_private) as file:
                for line in lines:
                    file.write(_encode(line))
            os.replace(f"{self._path}.new", self._path)
            os.close(self._fd)
            self._open()
        except OSError as fault:
            self._give_up(fault)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def _give_up(self, fault: object) -> None:
        """A broken disk must not stop the checks. The journal is deleted: an incomplete one would
        use numbers again that the server has seen."""
        log.warning("sample journal is off until a restart path=%s error=%s", self._path, fault)
        self.close()
        with contextlib.suppress(OSError):
            os.unlink(self._path)


def _encode(line: Line) -> bytes:
    return to_json(line).encode() + b"\n"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _read(path: str) -> list[Line]:
    lines: list[Line] = []
    try:
        with open(path, "rb") as file:
            for line in file:
                lines.append(json.loads(line))
    except FileNotFoundError:
        pass
    except (ValueError, RecursionError):
        # Cut off during a write: the lines before are valid.
        log.warning("sample journal ends in the middle of a line; its end is dropped")
    return lines


def stream_line() -> Line:
    """A new journal is a new stream: its numbers start at 1."""
    return {"stream": secrets.token_hex(8)}


def sample_line(at_ms: int, sample: Sample) -> Line:
    fields = zip(Sample.__slots__, _read_fields(sample), strict=True)
    return {"at": at_ms, "sample": dict(fields)}
