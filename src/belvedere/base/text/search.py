"""Search for a pattern in a long text, in pieces.

Each set of states that occurs gets a table of the states that follow for each letter, so that
most letters of a text cost one look-up.
"""

import asyncio
from time import monotonic

from belvedere.base.text.regex import Pattern

# With more entries than this, the tables are cleared.
MAX_STEPS = 20_000

# States that may be visited in one text: some seconds of work.
MAX_VISITS = 10_000_000
# A cooperative search reads this many letters at a time, and yields after this time.
PIECE_LETTERS = 32
YIELD_AFTER_S = 0.005

Steps = dict[str, "StateSet"]


class TooCostly(Exception):
    """The pattern visits more states in this text than are allowed."""


class StateSet:
    """A set of states, and the sets that follow for the letters read so far."""

    __slots__ = ("is_found", "states", "steps")

    def __init__(self, states: frozenset[int], end: int) -> None:
        self.states = states
        self.is_found = end in states
        self.steps: Steps = {}


class PatternSearch:
    """Reads one text at a time; its tables are reused for the next text."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern
        # Only anchors depend on the next letter; without them a letter alone decides a step.
        self._looks_ahead = any(anchor is not None for anchor in pattern.anchors)
        self._state_sets: dict[frozenset[int], StateSet] = {}
        self._count = 0
        self.visits = 0
        self._current: StateSet | None = None
        # The last letter is processed together with the next one.
        self._last_letter = ""

    def restart(self) -> None:
        """Begin with another text; the tables stay."""
        self._current = None
        self._last_letter = ""
        self.visits = 0

    def feed(self, text: str, *, last: bool = False) -> bool:
        """Whether the text so far contains a match."""
        text = self._last_letter + text
        if self._current is None and (text or last):
            self._current = self._state_set(frozenset(self._pattern.begin(text[:1])))
        at = self._current
        if at is None or at.is_found:
            return at is not None
        end = len(text) if last else max(len(text) - 1, 0)
        self._last_letter = "" if last else text[end:]
        for n in range(end):
            key = text[n] + _letter_class(text[n + 1 : n + 2]) if self._looks_ahead else text[n]
            at = at.steps.get(key) or self._step(at, key, text[n], text[n + 1 : n + 2])
            if at.is_found:
                break
        self._current = at
        return at.is_found

    def _step(self, at: StateSet, key: str, letter: str, after: str) -> StateSet:
        self._count += 1
        if self._count > MAX_STEPS:
            self._state_sets, self._count = {}, 0
        self.visits += len(at.states)
        if self.visits > MAX_VISITS:
            raise TooCostly("The pattern takes too many steps in this text; make it simpler.")
        states = self._pattern.step(at.states, letter, after, restart=True)
        at.steps[key] = following = self._state_set(frozenset(states))
        return following

    def _state_set(self, states: frozenset[int]) -> StateSet:
        state_set = self._state_sets.get(states)
        if state_set is None:
            state_set = self._state_sets[states] = StateSet(states, self._pattern.end)
        return state_set


def _letter_class(letter: str) -> str:
    """What matters to an anchor: whether there is a letter, and whether it belongs to a word."""
    if not letter:
        return ""
    return "w" if letter.isalnum() or letter == "_" else "."


class CooperativeSearch:
    """Searches texts on the event loop: it yields often, so that a deadline can cancel it."""

    def __init__(self, pattern: Pattern) -> None:
        self._literal = pattern.literal
        self._search = PatternSearch(pattern)
        self._started_at = monotonic()

    async def contains_match(self, text: str) -> bool:
        if self._literal is not None:
            return self._literal in text
        self._search.restart()
        for start in range(0, len(text), PIECE_LETTERS):
            if self._search.feed(text[start : start + PIECE_LETTERS]):
                return True
            if monotonic() - self._started_at > YIELD_AFTER_S:
                await asyncio.sleep(0)
                self._started_at = monotonic()
        return self._search.feed("", last=True)
