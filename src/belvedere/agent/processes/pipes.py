"""The reading ends of the output pipes of scripts, read in turns of equal size."""

from __future__ import annotations

import os
import select

from belvedere.agent.processes.script import RunningScript

PIECE = 64 * 1024
# Pieces read from one script before the others get their turn.
PIECES = 4
# A pipe holds at most this much unless root enlarged it: enough to empty it at the end.
MAX_PIPE = 1024 * 1024


class Pipes:
    __slots__ = ("_poll", "_spool", "_watched", "sinks")

    def __init__(self, poll: select.poll, spool: str) -> None:
        self._poll = poll
        self._spool = spool
        self._watched: dict[int, RunningScript] = {}
        # Output of processes that stay after the end of their script: it is read, so that they do
        # not end with SIGPIPE, and discarded.
        self.sinks: set[int] = set()

    def watch(self, script: RunningScript) -> None:
        self._watched[script.pipe] = script
        self._poll.register(script.pipe, select.POLLIN)

    def read(self, fd: int) -> RunningScript | None:
        """Read a limited amount from one pipe; returns its script."""
        if fd in self.sinks:
            self._empty(fd)
            return None
        # None if its script ended earlier in the same iteration.
        script = self._watched.get(fd)
        if script is not None:
            for _ in range(PIECES):
                data = self._read_piece(script)
                if data == b"":
                    self._unwatch(script)
                    self.close(script)
                if not data:
                    break
        return script

    def _read_piece(self, script: RunningScript) -> bytes | None:
        """One piece; empty at the end of the output, None if there is nothing yet."""
        try:
            data = os.read(script.pipe, PIECE)
        except BlockingIOError:
            return None
        if data:
            script.output.feed(data, self._spool, script.fence)
        return data

    def drain(self, script: RunningScript) -> None:
        """Read what is there at the end of the script, but no endless output of other processes."""
        end = script.output.received_total + MAX_PIPE
        while script.pipe >= 0 and script.output.received_total < end and self._read_piece(script):
            pass
        self._unwatch(script)
        script.output.finish(self._spool, script.fence)

    def _unwatch(self, script: RunningScript) -> None:
        if self._watched.pop(script.pipe, None) is not None:
            self._poll.unregister(script.pipe)

    def close(self, script: RunningScript) -> None:
        """Close the pipe of a script that was drained."""
        if script.pipe >= 0:
            os.close(script.pipe)
            script.pipe = -1

    def sink(self, script: RunningScript) -> None:
        if script.pipe >= 0:
            self.sinks.add(script.pipe)
            self._poll.register(script.pipe, select.POLLIN)

    def _empty(self, fd: int) -> None:
        try:
            is_open = bool(os.read(fd, PIECE))
        except BlockingIOError:
            return
        if not is_open:
            self.sinks.discard(fd)
            self._poll.unregister(fd)
            os.close(fd)
