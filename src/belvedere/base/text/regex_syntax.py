"""The syntax and size of patterns, checked before anything is built from them."""

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence

# The parser of the standard library is private since `sre_parse` was deprecated (Python 3.11), and
# no public one reads the same syntax: RE2 accepts other patterns and does not show its tree, and
# our patterns have meant what `re` says since before they were matched with RE2. A parser of our
# own would be another source of differences. tests/base/test_regex_parser.py fails with a clear
# message when a Python version changes what is used here.
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Protocol

from belvedere.base.errors import Invalid

# What an operator of the tree applies to: a code, a range, a set, or parts of the tree. Only the
# operator says which, and the parser of the standard library has no types.
Operand = Any
PatternItems = Iterable[tuple[int, Operand]]


class _ParserState(Protocol):
    flags: int


class PatternTree(Protocol):
    """The syntax tree of a pattern: pairs of an operator and its operand."""

    state: _ParserState

    def __iter__(self) -> Iterator[tuple[int, Operand]]: ...


# Characters of a pattern.
MAX_PATTERN = 1_000
# States of a pattern with its repetitions expanded.
MAX_STATES = 500
# Parts that are visited while it is expanded; groups and empty parts count here only.
MAX_STEPS = 20_000
# Levels of nested groups and repetitions.
MAX_NESTING = 100

_CHARACTERS = (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN, sre.AT)
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT)
_NAMES = {
    "ASSERT": "a look-ahead or look-behind, (?=…) or (?<=…)",
    "ASSERT_NOT": "a negative look-ahead or look-behind, (?!…) or (?<!…)",
    "GROUPREF": "a back reference such as \\1",
    "GROUPREF_EXISTS": "a conditional group, (?(1)…)",
    "ATOMIC_GROUP": "an atomic group, (?>…)",
    "POSSESSIVE_REPEAT": "a possessive repetition such as a++",
    "SUBPATTERN": "flags inside the pattern, (?i:…)",
}
_ADVICE = "List the allowed texts as alternatives (a|b), or check the rest in the script"


def parse_pattern(text: str) -> PatternTree:
    """The syntax tree of a pattern; raises Invalid if it is malformed or too large."""
    if len(text) > MAX_PATTERN:
        raise invalid_pattern(f"it is longer than {MAX_PATTERN} characters")
    tree = _tree(text)
    if tree.state.flags & ~(re.UNICODE | re.IGNORECASE | re.DOTALL):
        raise invalid_pattern("it sets a flag other than i or s; put (?i) or (?s) in front of it")
    states, steps = _size(tree, 0)
    # Plus the final state.
    if states + 1 > MAX_STATES or steps > MAX_STEPS:
        raise invalid_pattern(
            f"with its repetitions expanded it has more than {MAX_STATES} characters, sets and"
            " anchors; use smaller numbers in {…}"
        )
    return tree


def count_states(tree: PatternItems) -> int:
    """The number of states of a pattern."""
    return _size(tree, 0)[0] + 1


def _tree(text: str) -> PatternTree:
    try:
        with warnings.catch_warnings():
            # Warnings about sets whose meaning may change in a later Python do not help the user.
            warnings.simplefilter("ignore", FutureWarning)
            tree: PatternTree = _parser.parse(text)
            return tree
    except (re.error, OverflowError) as fault:
        raise invalid_pattern(str(fault)) from None
    except RecursionError:
        raise invalid_pattern(_TOO_DEEP) from None


_TOO_DEEP = f"it has more than {MAX_NESTING} levels of nested groups and repetitions"


def _size(items: PatternItems, depth: int) -> tuple[int, int]:
    """States and steps of a sequence, without expanding it."""
    if depth > MAX_NESTING:
        raise invalid_pattern(_TOO_DEEP)
    states = steps = 0
    for op, value in items:
        more = _size_of(op, value, depth + 1)
        states, steps = states + more[0], steps + more[1]
    return states, steps + 1


def _size_of(op: int, value: Operand, depth: int) -> tuple[int, int]:
    if op in _CHARACTERS:
        return 1, 1
    if op is sre.BRANCH:
        sizes = [_size(branch, depth) for branch in value[1]]
        return 1 + sum(size[0] for size in sizes), 1 + sum(size[1] for size in sizes)
    if op is sre.SUBPATTERN and not value[1] and not value[2]:
        return _size(value[3], depth)
    if op in _REPEATS:
        minimum, maximum, repeated = value
        return _size_of_repeat(minimum, maximum, _size(repeated, depth))
    raise unsupported_syntax(op)


def _size_of_repeat(minimum: int, maximum: int, once: tuple[int, int]) -> tuple[int, int]:
    states, steps = once
    if maximum is sre.MAXREPEAT:
        return 1 + states * (minimum + 1), steps * (minimum + 1)
    return states * maximum + (maximum - minimum), steps * maximum + 1


def merge_ranges(ranges: Iterable[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """The same codes as sorted ranges that do not touch."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined


def unsupported_syntax(op: int) -> Invalid:
    name = _NAMES.get(str(op), "something")
    return invalid_pattern(f"it uses {name}, which cannot be matched in a bounded time. {_ADVICE}")


def invalid_pattern(reason: str) -> Invalid:
    return Invalid(f"The pattern cannot be used: {reason}.", code="bad_pattern")
