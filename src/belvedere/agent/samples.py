"""What checks saw, until the server has it: numbered batches, bounded, in order."""

import itertools
import secrets
import time
from collections import deque
from collections.abc import Callable

from belvedere.agent.checks.outcome import Outcome
from belvedere.protocol import Sample, Samples

# As many as one host gathers in hours; beyond that the oldest go, and are counted.
MOST = 10_000
BATCH = 200
# Batches that may be on their way without an answer.
IN_FLIGHT = 4

Taken = tuple[float, Sample]


class Buffer:
    """Lives as long as the agent; connections come and go."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        # Another process starts another stream: its numbers begin anew.
        self.stream = secrets.token_hex(8)
        self.listener: Callable[[], None] | None = None
        self._clock = clock
        self._fresh: deque[Taken] = deque()
        self._numbers = itertools.count(1)
        # Batches without an answer, and how many of the first of them this connection has said.
        self._open: deque[tuple[int, list[Taken], int]] = deque()
        self._said = 0
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._fresh) + sum(len(taken) for _, taken, _ in self._open)

    def add(self, monitor_id: str, version: int, outcome: Outcome) -> None:
        if len(self) >= MOST and self._fresh:
            self._fresh.popleft()
            self._dropped += 1
        sample = Sample(
            monitor_id,
            version,
            0,
            outcome.state,
            outcome.event,
            outcome.message,
            outcome.data,
            outcome.measured,
        )
        self._fresh.append((self._clock(), sample))
        if self.listener is not None:
            self.listener()

    def reopen(self) -> None:
        """A new connection: whatever has no answer is said again."""
        self._said = 0

    def next(self) -> Samples | None:
        """The next batch to be sent, if there is one and it may go."""
        if self._said >= IN_FLIGHT:
            return None
        if self._said == len(self._open) and not self._gather():
            return None
        number, taken, dropped = self._open[self._said]
        self._said += 1
        now = self._clock()
        for at, sample in taken:
            sample.ago_ms = max(0, round((now - at) * 1_000))
        return Samples(self.stream, number, [sample for _, sample in taken], dropped)

    def _gather(self) -> bool:
        taken = [self._fresh.popleft() for _ in range(min(BATCH, len(self._fresh)))]
        if not taken:
            return False
        self._open.append((next(self._numbers), taken, self._dropped))
        self._dropped = 0
        return True

    def noted(self, stream: str, number: int) -> None:
        while stream == self.stream and self._open and self._open[0][0] <= number:
            self._open.popleft()
            self._said = max(0, self._said - 1)
