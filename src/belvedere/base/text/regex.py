"""Regular expressions that people give, matched in time that grows with the text alone.

The standard engine tries alternatives one after the other, and a careless pattern can keep it
busy for years. Here all alternatives advance together, one character at a time. What needs
looking back (back references, look-around) is refused when the pattern is given.

This engine is for the agent, which has no libraries. The server matches with RE2, see
rest/patterns/matcher.py.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection
from functools import lru_cache
from re import _constants as sre  # type: ignore[attr-defined]
from typing import Any

from belvedere.base.text.regex_syntax import merged, parsed, unsupported

MAX_TEXT = 1_000

Accepts = Callable[[str], bool]
# What stands before and after a place in the text; "" at its ends.
Holds = Callable[[str, str], bool]

CATEGORIES: dict[Any, Accepts] = {
    sre.CATEGORY_DIGIT: str.isdecimal,
    sre.CATEGORY_NOT_DIGIT: lambda c: not c.isdecimal(),
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    sre.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
    sre.CATEGORY_NOT_WORD: lambda c: not (c.isalnum() or c == "_"),
}


def _is_word(letter: str) -> bool:
    return letter != "" and (letter.isalnum() or letter == "_")


_PLACES: dict[Any, Holds] = {
    sre.AT_BEGINNING: lambda before, after: before == "",
    sre.AT_BEGINNING_STRING: lambda before, after: before == "",
    sre.AT_END: lambda before, after: after == "",
    sre.AT_END_STRING: lambda before, after: after == "",
    sre.AT_BOUNDARY: lambda before, after: _is_word(before) != _is_word(after),
    sre.AT_NON_BOUNDARY: lambda before, after: _is_word(before) == _is_word(after),
}


class Pattern:
    """A compiled pattern. Each state is one of: take a character, hold at a place, go on."""

    def __init__(self, text: str) -> None:
        self.takes: list[Accepts | None] = []
        self.holds: list[Holds | None] = []
        self.next: list[list[int]] = []
        tree = parsed(text)
        self._any_case = bool(tree.state.flags & re.IGNORECASE)
        self._dot_all = bool(tree.state.flags & re.DOTALL)
        self.literal = _literal(tree)
        # A repetition writes the same part out many times; what it accepts is made once.
        self._accepted: dict[int, Accepts] = {}
        self.end = self._state()
        self.start = self._sequence(tree, self.end)

    def matches(self, text: str) -> bool:
        """Whether the whole text fits."""
        if len(text) > MAX_TEXT:
            return False
        at = self.begin(text[:1])
        for n, letter in enumerate(text):
            at = self.step(at, letter, text[n + 1 : n + 2])
            if not at:
                return False
        return self.end in at

    def step(self, at: Collection[int], letter: str, after: str, *, anew: bool = False) -> set[int]:
        """Where this letter leads; `anew` lets a match also begin behind it."""
        moved = {
            follower
            for state in at
            if (takes := self.takes[state]) is not None and takes(letter)
            for follower in self.next[state]
        }
        return self._closure(moved | {self.start} if anew else moved, letter, after)

    def begin(self, after: str) -> set[int]:
        return self._closure({self.start}, "", after)

    def _closure(self, states: set[int], before: str, after: str) -> set[int]:
        """Everything that can be reached without taking a character."""
        seen, waiting = set(states), list(states)
        while waiting:
            state = waiting.pop()
            holds = self.holds[state]
            if self.takes[state] is not None or (holds is not None and not holds(before, after)):
                continue
            fresh = [follower for follower in self.next[state] if follower not in seen]
            seen.update(fresh)
            waiting.extend(fresh)
        return seen

    def _state(
        self, *followers: int, takes: Accepts | None = None, holds: Holds | None = None
    ) -> int:
        self.takes.append(takes)
        self.holds.append(holds)
        self.next.append(list(followers))
        return len(self.next) - 1

    def _sequence(self, items: Any, then: int) -> int:
        for op, value in reversed(list(items)):
            then = self._item(op, value, then)
        return then

    def _item(self, op: Any, value: Any, then: int) -> int:
        if op in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            if op is not sre.IN:
                return self._state(then, takes=self._accepts(op, value))
            if id(value) not in self._accepted:
                self._accepted[id(value)] = self._accepts(op, value)
            return self._state(then, takes=self._accepted[id(value)])
        if op is sre.AT:
            return self._state(then, holds=_PLACES[value])
        if op is sre.BRANCH:
            return self._state(*(self._sequence(branch, then) for branch in value[1]))
        if op is sre.SUBPATTERN and not value[1] and not value[2]:
            return self._sequence(value[3], then)
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            least, most, items = value
            return self._repeat(least, most, items, then)
        raise unsupported(op)

    def _repeat(self, least: int, most: int, items: Any, then: int) -> int:
        if most is sre.MAXREPEAT:
            loop = self._state(then)
            self.next[loop].append(self._sequence(items, loop))
            then = loop
        else:
            leave = then
            for _ in range(most - least):
                then = self._state(leave, self._sequence(items, then))
        for _ in range(least):
            then = self._sequence(items, then)
        return then

    def _accepts(self, op: Any, value: Any) -> Accepts:
        if op is sre.ANY:
            return (lambda c: True) if self._dot_all else (lambda c: c != "\n")
        exact = _one_of(value) if op is sre.IN else _one_of([(sre.LITERAL, value)])
        if self._any_case:
            spelled = exact
            exact = lambda c: any(map(spelled, {c, c.lower(), c.upper()}))  # noqa: E731
        is_not = op is sre.NOT_LITERAL or (op is sre.IN and value[0][0] is sre.NEGATE)
        return (lambda c: not exact(c)) if is_not else exact


def _literal(tree: Any) -> str | None:
    """The text that a pattern without any rule stands for."""
    if tree.state.flags & (re.IGNORECASE | re.DOTALL) or any(
        op is not sre.LITERAL for op, _ in tree
    ):
        return None
    return "".join(chr(value) for _, value in tree)


def _one_of(items: Any) -> Accepts:
    """Whether a letter is in a set. One look-up, however many members the set lists."""
    codes = frozenset(value for op, value in items if op is sre.LITERAL)
    ranges = merged(value for op, value in items if op is sre.RANGE)
    lows = [low for low, _ in ranges]
    kinds = {value: CATEGORIES[value] for op, value in items if op is sre.CATEGORY}.values()

    def accepts(letter: str) -> bool:
        if len(letter) != 1:
            return False
        code = ord(letter)
        place = bisect_right(lows, code) - 1
        is_listed = code in codes or (place >= 0 and code <= ranges[place][1])
        return is_listed or any(kind(letter) for kind in kinds)

    return accepts


@lru_cache(maxsize=256)
def compiled(text: str) -> Pattern:
    """Invalid when it is none, or one that only a slow engine could match."""
    return Pattern(text)
