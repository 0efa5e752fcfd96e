"""Finding a pattern anywhere in a long text, piece by piece.

Each set of states that is met gets a table of where letters lead from it, so that most letters of
a text cost one look-up.
"""

from belvedere.base.text.regex import Pattern

# A text that leads to more steps than these starts a new table.
MAX_STEPS = 20_000

# States that may be visited in one text: some seconds of work.
MAX_VISITS = 10_000_000

Steps = dict[str, "Place"]


class TooCostly(Exception):
    """The text leads a pattern to more states than may be visited."""


class Place:
    """A set of states, and the steps from it that are known."""

    __slots__ = ("is_found", "states", "steps")

    def __init__(self, states: frozenset[int], end: int) -> None:
        self.states = states
        self.is_found = end in states
        self.steps: Steps = {}


class Search:
    """One walk through one text at a time."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern
        # Only anchors look at the letter behind; without them a letter alone decides a step.
        self._looks_behind = any(hold is not None for hold in pattern.holds)
        self._places: dict[frozenset[int], Place] = {}
        self._count = 0
        self.visits = 0
        self._at: Place | None = None
        # The last letter waits for the one behind it.
        self._waiting = ""

    def restart(self) -> None:
        """Another text; what is known of the pattern stays."""
        self._at = None
        self._waiting = ""
        self.visits = 0

    def feed(self, text: str, *, last: bool = False) -> bool:
        """Whether the pattern has been found up to here."""
        text = self._waiting + text
        if self._at is None and (text or last):
            self._at = self._place(frozenset(self._pattern.begin(text[:1])))
        at = self._at
        if at is None or at.is_found:
            return at is not None
        end = len(text) if last else max(len(text) - 1, 0)
        self._waiting = "" if last else text[end:]
        for n in range(end):
            key = text[n] + _sort(text[n + 1 : n + 2]) if self._looks_behind else text[n]
            at = at.steps.get(key) or self._step(at, key, text[n], text[n + 1 : n + 2])
            if at.is_found:
                break
        self._at = at
        return at.is_found

    def _step(self, at: Place, key: str, letter: str, after: str) -> Place:
        self._count += 1
        if self._count > MAX_STEPS:
            self._places, self._count = {}, 0
        self.visits += len(at.states)
        if self.visits > MAX_VISITS:
            raise TooCostly("The pattern takes too many steps in this text; make it simpler.")
        states = self._pattern.step(at.states, letter, after, anew=True)
        at.steps[key] = found = self._place(frozenset(states))
        return found

    def _place(self, states: frozenset[int]) -> Place:
        found = self._places.get(states)
        if found is None:
            found = self._places[states] = Place(states, self._pattern.end)
        return found


def _sort(letter: str) -> str:
    """All that an anchor can see of a letter: whether it is there, and part of a word."""
    if not letter:
        return ""
    return "w" if letter.isalnum() or letter == "_" else "."


def found(pattern: Pattern, text: str) -> bool:
    """Whether it is anywhere in the text."""
    if pattern.literal is not None:
        return pattern.literal in text
    return Search(pattern).feed(text, last=True)
