"""Starts the process of the simulated agents, and reads its counts."""

import contextlib
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from belvedere.base.errors import Refused
from belvedere.bench.environment import private_server
from belvedere.bench.fleet.simulated_agent import FleetCounts


class Fleet:
    """The running process."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def set_server_running(self, *, is_running: bool) -> None:
        """Failed attempts to connect are counted while the server is running."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"running\n" if is_running else b"stopped\n")
        self._process.stdin.flush()

    def await_connected(self, agents: int, timeout_s: float) -> FleetCounts:
        """The counts once this many agents are connected."""
        give_up_at = time.monotonic() + timeout_s
        counts = FleetCounts()
        while (rest_s := give_up_at - time.monotonic()) > 0:
            counts = self._read(rest_s) or counts
            if counts.connected == agents:
                return counts
        raise Refused(
            f"Only {counts.connected} of {agents} simulated agents connected within"
            f" {timeout_s:.0f} s; {counts.refused} attempts failed."
        )

    def _read(self, timeout_s: float) -> FleetCounts | None:
        assert self._process.stdout is not None
        waiting, _, _ = select.select([self._process.stdout], [], [], timeout_s)
        line = self._process.stdout.readline() if waiting else b""
        if waiting and not line:
            raise Refused("The process of the simulated agents ended.")
        return msgspec.json.decode(line, type=FleetCounts) if line else None


@contextmanager
def running(server: str, tokens: list[str]) -> Iterator[Fleet]:
    process = subprocess.Popen(
        [sys.executable, "-m", "belvedere.bench.fleet.program"],
        env=private_server.clean_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Lines are read one by one, after `select`: nothing may wait in a buffer of this process.
        bufsize=0,
        start_new_session=True,
    )
    assert process.stdin is not None
    try:
        process.stdin.write(msgspec.json.encode({"server": server, "tokens": tokens}) + b"\n")
        process.stdin.flush()
        yield Fleet(process)
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
