"""Regular expressions of users, matched in time that is linear in the text.

The standard engine backtracks, and a careless pattern can take it years. Here all alternatives
advance together, one character at a time. A pattern that needs backtracking (back references,
look-around) is refused when it is entered.

This engine is for the agent, which has no libraries. The server matches with RE2, see
rest/patterns/matcher.py.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection
from functools import lru_cache
from re import _constants as sre  # type: ignore[attr-defined]

from belvedere.base.text.regex_syntax import (
    Operand,
    PatternItems,
    PatternTree,
    merge_ranges,
    parse_pattern,
    unsupported_syntax,
)

MAX_TEXT = 1_000

Accepts = Callable[[str], bool]
# Gets the letters before and after a position in the text; "" at the ends of the text.
Anchor = Callable[[str, str], bool]

CATEGORIES: dict[int, Accepts] = {
    sre.CATEGORY_DIGIT: str.isdecimal,
    sre.CATEGORY_NOT_DIGIT: lambda c: not c.isdecimal(),
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    sre.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
    sre.CATEGORY_NOT_WORD: lambda c: not (c.isalnum() or c == "_"),
}


def _is_word(letter: str) -> bool:
    return letter != "" and (letter.isalnum() or letter == "_")


_ANCHORS: dict[int, Anchor] = {
    sre.AT_BEGINNING: lambda before, after: before == "",
    sre.AT_BEGINNING_STRING: lambda before, after: before == "",
    sre.AT_END: lambda before, after: after == "",
    sre.AT_END_STRING: lambda before, after: after == "",
    sre.AT_BOUNDARY: lambda before, after: _is_word(before) != _is_word(after),
    sre.AT_NON_BOUNDARY: lambda before, after: _is_word(before) == _is_word(after),
}


class Pattern:
    """A compiled pattern. A state accepts a character, checks an anchor, or does neither."""

    def __init__(self, text: str) -> None:
        self.accepts: list[Accepts | None] = []
        self.anchors: list[Anchor | None] = []
        self.next: list[list[int]] = []
        tree = parse_pattern(text)
        self._ignore_case = bool(tree.state.flags & re.IGNORECASE)
        self._dot_all = bool(tree.state.flags & re.DOTALL)
        self.literal = _literal(tree)
        # A repetition expands the same part many times; its function is built once.
        self._set_functions: dict[int, Accepts] = {}
        self.end = self._state()
        self.start = self._sequence(tree, self.end)

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        if len(text) > MAX_TEXT:
            return False
        at = self.begin(text[:1])
        for n, letter in enumerate(text):
            at = self.step(at, letter, text[n + 1 : n + 2])
            if not at:
                return False
        return self.end in at

    def step(
        self, at: Collection[int], letter: str, after: str, *, restart: bool = False
    ) -> set[int]:
        """The states after this letter; with `restart` a match may also begin after it."""
        following = {
            follower
            for state in at
            if (accepts := self.accepts[state]) is not None and accepts(letter)
            for follower in self.next[state]
        }
        return self._closure(following | {self.start} if restart else following, letter, after)

    def begin(self, after: str) -> set[int]:
        return self._closure({self.start}, "", after)

    def _closure(self, states: set[int], before: str, after: str) -> set[int]:
        """All states that can be reached without reading a character."""
        reached, pending = set(states), list(states)
        while pending:
            state = pending.pop()
            anchor = self.anchors[state]
            if self.accepts[state] is not None or (anchor and not anchor(before, after)):
                continue
            new = [follower for follower in self.next[state] if follower not in reached]
            reached.update(new)
            pending.extend(new)
        return reached

    def _state(
        self, *followers: int, accepts: Accepts | None = None, anchor: Anchor | None = None
    ) -> int:
        self.accepts.append(accepts)
        self.anchors.append(anchor)
        self.next.append(list(followers))
        return len(self.next) - 1

    def _sequence(self, items: PatternItems, then: int) -> int:
        for op, value in reversed(list(items)):
            then = self._item(op, value, then)
        return then

    def _item(self, op: int, value: Operand, then: int) -> int:
        if op in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            if op is not sre.IN:
                return self._state(then, accepts=self._build_function(op, value))
            if id(value) not in self._set_functions:
                self._set_functions[id(value)] = self._build_function(op, value)
            return self._state(then, accepts=self._set_functions[id(value)])
        if op is sre.AT:
            return self._state(then, anchor=_ANCHORS[value])
        if op is sre.BRANCH:
            return self._state(*(self._sequence(branch, then) for branch in value[1]))
        if op is sre.SUBPATTERN and not value[1] and not value[2]:
            return self._sequence(value[3], then)
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            minimum, maximum, items = value
            return self._repeat(minimum, maximum, items, then)
        raise unsupported_syntax(op)

    def _repeat(self, minimum: int, maximum: int, items: PatternItems, then: int) -> int:
        if maximum is sre.MAXREPEAT:
            loop = self._state(then)
            self.next[loop].append(self._sequence(items, loop))
            then = loop
        else:
            leave = then
            for _ in range(maximum - minimum):
                then = self._state(leave, self._sequence(items, then))
        for _ in range(minimum):
            then = self._sequence(items, then)
        return then

    def _build_function(self, op: int, value: Operand) -> Accepts:
        if op is sre.ANY:
            return (lambda c: True) if self._dot_all else (lambda c: c != "\n")
        exact = _set_function(value) if op is sre.IN else _set_function([(sre.LITERAL, value)])
        if self._ignore_case:
            matches_case = exact
            exact = lambda c: any(map(matches_case, {c, c.lower(), c.upper()}))  # noqa: E731
        is_not = op is sre.NOT_LITERAL or (op is sre.IN and value[0][0] is sre.NEGATE)
        return (lambda c: not exact(c)) if is_not else exact


def _literal(tree: PatternTree) -> str | None:
    """The text of a pattern that consists of plain characters only."""
    if tree.state.flags & (re.IGNORECASE | re.DOTALL) or any(
        op is not sre.LITERAL for op, _ in tree
    ):
        return None
    return "".join(chr(value) for _, value in tree)


def _set_function(items: PatternItems) -> Accepts:
    """Whether a letter is in a set: one look-up for any number of members."""
    codes = frozenset(value for op, value in items if op is sre.LITERAL)
    ranges = merge_ranges(value for op, value in items if op is sre.RANGE)
    lows = [low for low, _ in ranges]
    categories = {value: CATEGORIES[value] for op, value in items if op is sre.CATEGORY}.values()

    def accepts(letter: str) -> bool:
        if len(letter) != 1:
            return False
        code = ord(letter)
        index = bisect_right(lows, code) - 1
        is_listed = code in codes or (index >= 0 and code <= ranges[index][1])
        return is_listed or any(category(letter) for category in categories)

    return accepts


@lru_cache(maxsize=256)
def compile_pattern(text: str) -> Pattern:
    """Raises Invalid for a pattern that is malformed or needs backtracking."""
    return Pattern(text)
