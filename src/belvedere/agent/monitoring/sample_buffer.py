"""Results of checks until the server has them: numbered batches, bounded, in order."""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from belvedere.agent.checks.outcome import Outcome
from belvedere.agent.json_lines import to_json
from belvedere.agent.monitoring.sample_journal import Line, SampleJournal, sample_line, stream_line
from belvedere.protocol import Sample, Samples

log = logging.getLogger("belvedere.agent")

# About some hours of samples of one host; above it, the oldest are dropped and counted.
MAX_SAMPLES = 10_000
BATCH_SIZE = 200
# Size of a batch: all that are in flight fit into one frame, which may have 4 MiB.
BATCH_BYTES = 512 * 1024
# Batches that may be sent without an acknowledgement.
IN_FLIGHT = 4

TimedSample = tuple[float, Sample]


def _sample(monitor_id: str, version: int, outcome: Outcome) -> Sample:
    return Sample(
        monitor_id,
        version,
        0,
        outcome.state,
        outcome.event,
        outcome.message,
        outcome.data,
        outcome.measured,
    )


class SampleBuffer:
    """Survives reconnects and, with its journal, restarts of the agent."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        journal: SampleJournal | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.stream = ""
        # Called for new results; whether one differs from the last one of its monitor.
        self.listener: Callable[[bool], None] | None = None
        # Configuration, state and event of the last result of each monitor.
        self._last: dict[str, tuple[int, str, str]] = {}
        self._clock = clock
        self._wall = wall
        self._unbatched: deque[TimedSample] = deque()
        self._number = 0
        # Batches without an acknowledgement, and how many of them this connection has sent.
        self._open: deque[tuple[int, list[TimedSample], int]] = deque()
        self._sent_batches = 0
        self._dropped = 0
        self._journal = journal or SampleJournal()
        self._restore(self._journal.load())

    def __len__(self) -> int:
        return len(self._unbatched) + sum(len(samples) for _, samples, _ in self._open)

    def _restore(self, lines: list[Line]) -> None:
        try:
            for line in lines:
                self._replay(line)
        except (LookupError, TypeError, ValueError, RecursionError):
            log.warning("sample journal is damaged; its end is dropped")
        if not self.stream:
            self.stream = str(stream_line()["stream"])
        self._journal.renew(self._lines())

    def _replay(self, line: Line) -> None:
        if "sample" in line:
            # By the wall clock, which stays valid across processes and reboots.
            ago_s = max(0.0, self._wall() - line["at"] / 1_000)
            self._unbatched.append((self._clock() - ago_s, Sample(**line["sample"])))
        elif "batch" in line:
            self._make_batch(line["batch"], line["size"], line["dropped"])
        elif "noted" in line:
            self._forget(line["noted"])
        elif "lost_since" in line:
            self._dropped = line["lost_since"]
        elif "lost" in line:
            self._unbatched.popleft()
            self._dropped += 1
        else:
            self.stream, self._number = line["stream"], line.get("number", 0)

    def _lines(self) -> Iterator[Line]:
        """The journal lines that restore exactly this buffer."""
        first = self._open[0][0] - 1 if self._open else self._number
        yield {"stream": self.stream, "number": first}
        for number, samples, dropped in self._open:
            yield from map(self._line, samples)
            yield {"batch": number, "size": len(samples), "dropped": dropped}
        yield from map(self._line, self._unbatched)
        yield {"lost_since": self._dropped}

    def _line(self, samples: TimedSample) -> Line:
        at, sample = samples
        return sample_line(round((self._wall() - (self._clock() - at)) * 1_000), sample)

    def add(self, monitor_id: str, version: int, outcome: Outcome) -> None:
        self.add_all([(monitor_id, version, outcome)])

    def add_all(self, results: Sequence[tuple[str, int, Outcome]]) -> None:
        """Add results of monitors, with the versions of their configurations."""
        lines: list[Line] = []
        is_changed = False
        for monitor_id, version, outcome in results:
            lines += self._drop_oldest()
            sample = _sample(monitor_id, version, outcome)
            self._unbatched.append((self._clock(), sample))
            lines.append(self._line(self._unbatched[-1]))
            is_changed |= self._note_result(sample)
        self._journal.append(*lines)
        if self._journal.is_long:
            self._journal.renew(self._lines())
        if self.listener is not None:
            self.listener(is_changed)

    def _drop_oldest(self) -> list[Line]:
        """Make room in a full buffer; the lines about it for the journal."""
        if len(self) < MAX_SAMPLES or not self._unbatched:
            return []
        self._unbatched.popleft()
        self._dropped += 1
        return [{"lost": 1}]

    def _note_result(self, sample: Sample) -> bool:
        """Whether the result differs from the last one of its monitor."""
        result = (sample.version, sample.state, sample.event)
        is_changed = self._last.get(sample.monitor_id) != result or sample.state == "changed"
        if len(self._last) >= MAX_SAMPLES:
            # Monitors that were deleted long ago; the next result of each counts as changed.
            self._last.clear()
        self._last[sample.monitor_id] = result
        return is_changed

    def close(self) -> None:
        self._journal.close()

    def reopen(self) -> None:
        """A new connection: batches without an acknowledgement are sent again."""
        self._sent_batches = 0

    def next(self) -> Samples | None:
        """The next batch to be sent, if there is one and it may go."""
        if self._sent_batches >= IN_FLIGHT:
            return None
        if self._sent_batches == len(self._open):
            if not self._unbatched:
                return None
            self._next_batch()
        number, samples, dropped = self._open[self._sent_batches]
        self._sent_batches += 1
        now = self._clock()
        for at, sample in samples:
            sample.ago_ms = max(0, round((now - at) * 1_000))
        return Samples(self.stream, number, [sample for _, sample in samples], dropped)

    def _next_batch(self) -> None:
        size = self._next_size()
        line = {"batch": self._number + 1, "size": size, "dropped": self._dropped}
        # Before it is sent: this number must never be used for other samples.
        self._journal.append(line)
        self._make_batch(self._number + 1, size, self._dropped)

    def _next_size(self) -> int:
        """The number of samples in the next batch: at least one, at most what fits in a frame."""
        count = size = 0
        for _, sample in islice(self._unbatched, BATCH_SIZE):
            size += len(sample.message) + (len(to_json(sample.data)) if sample.data else 0)
            if count and size > BATCH_BYTES:
                break
            count += 1
        return count

    def _make_batch(self, number: int, size: int, dropped: int) -> None:
        samples = [self._unbatched.popleft() for _ in range(size)]
        self._open.append((number, samples, dropped))
        self._number = number
        self._dropped = 0

    def acknowledge(self, stream: str, number: int) -> None:
        if stream == self.stream and self._forget(number):
            self._journal.append({"noted": number})

    def _forget(self, number: int) -> bool:
        before = len(self._open)
        while self._open and self._open[0][0] <= number:
            self._open.popleft()
            self._sent_batches = max(0, self._sent_batches - 1)
        return len(self._open) < before
