"""The journal of samples that the server does not have yet: another agent process goes on with it.

One JSON line for each thing that happened to the buffer: a sample was taken, so many of them became
a batch, a batch was noted. It is not synced: a power cut may cost some samples, a restart none.
"""

import contextlib
import json
import logging
import os
import secrets
from collections.abc import Iterable
from typing import Any

from belvedere.protocol import Sample

log = logging.getLogger("belvedere.agent")

# Rewritten when it has grown by this much since; given up where even that leaves it larger.
MAX_GROWTH = 4 * 1024 * 1024
MAX_SIZE = 32 * 1024 * 1024

Line = dict[str, Any]


class SampleJournal:
    """Without a path it remembers nothing."""

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._fd = -1
        self._size = 0
        self._rewritten_size = 0

    def load(self) -> list[Line]:
        """What happened, as far as it can be read; then it is written on."""
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

    def append(self, line: Line) -> None:
        if self._fd < 0:
            return
        if self._size > MAX_SIZE:
            self._give_up("there are too many")
            return
        data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        try:
            self._size += os.write(self._fd, data)
        except OSError as fault:
            self._give_up(fault)

    @property
    def is_long(self) -> bool:
        return self._fd >= 0 and self._size > self._rewritten_size + MAX_GROWTH

    def renew(self, lines: Iterable[Line]) -> None:
        """Only what still counts."""
        if self._fd < 0:
            return
        try:
            with open(f"{self._path}.new", "wb", opener=_private) as file:
                for line in lines:
                    file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
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
        """A disk in trouble must not end the checks. The journal goes: one that stops in the middle
        would give numbers again that the server has seen."""
        log.warning("Samples do not survive a restart any more: %s: %s", self._path, fault)
        self.close()
        with contextlib.suppress(OSError):
            os.unlink(self._path)


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
        # Cut short while it was written: what came before counts.
        log.warning("The journal of samples ends in the middle of a line; the rest is dropped.")
    return lines


def stream_line() -> Line:
    """Another journal is another stream: its numbers begin anew."""
    return {"stream": secrets.token_hex(8)}


def sample_line(at_ms: int, sample: Sample) -> Line:
    return {"at": at_ms, "sample": {name: getattr(sample, name) for name in Sample.__slots__}}
