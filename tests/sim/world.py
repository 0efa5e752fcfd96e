"""Virtual time: one queue of events for all processes of a simulated world.

Everything that happens is an event with a time in whole microseconds; equal times keep their
order. Randomness comes from one generator made from the seed, so a seed tells the whole story.
"""

import asyncio
import heapq
import itertools
from asyncio.events import _set_running_loop
from collections.abc import Callable
from random import Random
from typing import Any
from zlib import crc32

Micros = int
MS: Micros = 1_000
SECOND: Micros = 1_000_000
MINUTE: Micros = 60 * SECOND
# The start of the world as a time of day, in milliseconds.
EPOCH_MS = 1_760_000_000_000


class Process:
    """Something that can be killed or stopped: then its events are dropped, or wait."""

    def __init__(self, world: "World", name: str) -> None:
        self.world = world
        self.name = name
        self.is_alive = True
        self.is_paused = False
        self.loop: asyncio.AbstractEventLoop | None = None
        self._backlog: list[Any] = []

    def kill(self) -> None:
        """As SIGKILL: it does nothing any more; no clean-up, no closed connections."""
        if self.is_alive:
            self.is_alive = False
            self._backlog.clear()
            self.world.note("killed", self.name)

    def pause(self) -> None:
        self.is_paused = True

    def resume(self) -> None:
        self.is_paused = False
        waiting, self._backlog = self._backlog, []
        for item in waiting:
            self.world.push(self.world.now, self, item)

    def hold(self, item: Any) -> None:
        self._backlog.append(item)


class World:
    def __init__(self, seed: int, *, verbose: bool = False) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.now: Micros = 0
        # How wrong the wall clock is: servers on one database have one.
        self.off_ms = 0
        self.violations: list[str] = []
        self.story: list[str] | None = [] if verbose else None
        # How often things happened, for the tests of the simulator itself.
        self.counts: dict[str, int] = {}
        self.digest = 0
        self.tasks: list[asyncio.Task[Any]] = []
        self.numbers = itertools.count(1)
        self._heap: list[tuple[Micros, int, Process | None, Any]] = []
        self._order = itertools.count()

    # Time

    def push(self, when: Micros, process: Process | None, item: Any) -> None:
        """`thing` is an asyncio handle, or a call with its arguments."""
        heapq.heappush(self._heap, (when, next(self._order), process, item))

    def after(
        self, delay: Micros, call: Callable[..., object], *args: Any, of: Process | None = None
    ) -> None:
        """Call it later, for a process: not at all if that process has been killed by then."""
        self.push(self.now + delay, of, (call, args))

    def run_until(self, end: Micros, is_over: Callable[[], bool] | None = None) -> None:
        """Process all events that are due; `is_over` is called once per virtual second."""
        heap, ask_at = self._heap, self.now
        while heap and heap[0][0] <= end:
            if is_over is not None and heap[0][0] >= ask_at:
                if is_over():
                    return
                ask_at = heap[0][0] + SECOND
            when, _, process, value = heapq.heappop(heap)
            self.now = when
            if process is None:
                value[0](*value[1])
            elif process.is_paused:
                process.hold(value)
            elif process.is_alive:
                self._run(process, value)
        self.now = end

    def _run(self, process: Process, item: Any) -> None:
        _set_running_loop(process.loop)
        try:
            if type(item) is tuple:
                item[0](*item[1])
            elif not item._cancelled:
                item._run()
        finally:
            _set_running_loop(None)

    # Randomness

    def chance(self, probability: float) -> bool:
        return probability > 0 and self.random.random() < probability

    def between(self, least: Micros, most: Micros) -> Micros:
        return self.random.randint(least, most)

    def long_tail(self, least: Micros, most: Micros) -> Micros:
        """Mostly short, sometimes as long as possible."""
        return least + int((most - least) * self.random.random() ** 4)

    # Records

    def note(self, *words: object) -> None:
        """Part of the story: it counts for the digest that shows whether two runs were the same."""
        text = f"{self.now} {' '.join(map(str, words))}"
        self.digest = crc32(text.encode(), self.digest)
        self.count(str(words[0]))
        if self.story is not None:
            self.story.append(f"{self.now / SECOND:12.6f}  {' '.join(map(str, words))}")

    def count(self, word: str) -> None:
        self.counts[word] = self.counts.get(word, 0) + 1

    def accuse(self, sentence: str) -> None:
        """A promise is broken."""
        self.note("BROKEN", sentence)
        self.violations.append(f"seed {self.seed} at {self.now / SECOND:.3f} s: {sentence}")
