"""The syntax of patterns, and how large one may be, decided before anything is built from it."""

import re
import warnings
from collections.abc import Iterable, Sequence
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from belvedere.base.errors import Invalid

# Characters of a pattern.
MAX_PATTERN = 1_000
# A pattern that is written out, each repetition as often as it counts: places where it can be.
MAX_STATES = 500
# Parts that are visited while it is written out; groups and empty parts count here only.
MAX_STEPS = 20_000
# Groups and repetitions inside each other.
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
_ADVICE = "Write the allowed texts out as alternatives (a|b), or let the script check the rest"


def parsed(text: str) -> Any:
    """The parts of a pattern; Invalid when it is none, or larger than allowed."""
    if len(text) > MAX_PATTERN:
        raise bad(f"it is longer than {MAX_PATTERN} characters")
    tree = _tree(text)
    if tree.state.flags & ~(re.UNICODE | re.IGNORECASE | re.DOTALL):
        raise bad("it sets a flag other than i or s; put (?i) or (?s) in front of it")
    states, steps = _size(tree, 0)
    # One more for the end.
    if states + 1 > MAX_STATES or steps > MAX_STEPS:
        raise bad(
            f"with its repetitions written out it is longer than {MAX_STATES} characters, sets and"
            " anchors; use smaller numbers in {…}"
        )
    return tree


def states_of(tree: Any) -> int:
    """How many places there are in a pattern in which a match can be."""
    return _size(tree, 0)[0] + 1


def _tree(text: str) -> Any:
    try:
        with warnings.catch_warnings():
            # What a set may mean in a later version of Python is no concern of who wrote it.
            warnings.simplefilter("ignore", FutureWarning)
            return _parser.parse(text)
    except (re.error, OverflowError) as fault:
        raise bad(str(fault)) from None
    except RecursionError:
        raise bad(_DEEP) from None


_DEEP = f"it has more than {MAX_NESTING} groups and repetitions inside each other"


def _size(items: Any, depth: int) -> tuple[int, int]:
    """States and steps of a sequence, without writing it out."""
    if depth > MAX_NESTING:
        raise bad(_DEEP)
    states = steps = 0
    for op, value in items:
        more = _size_of(op, value, depth + 1)
        states, steps = states + more[0], steps + more[1]
    return states, steps + 1


def _size_of(op: Any, value: Any, depth: int) -> tuple[int, int]:
    if op in _CHARACTERS:
        return 1, 1
    if op is sre.BRANCH:
        sizes = [_size(branch, depth) for branch in value[1]]
        return 1 + sum(size[0] for size in sizes), 1 + sum(size[1] for size in sizes)
    if op is sre.SUBPATTERN and not value[1] and not value[2]:
        return _size(value[3], depth)
    if op in _REPEATS:
        least, most, repeated = value
        return _size_of_repeat(least, most, _size(repeated, depth))
    raise unsupported(op)


def _size_of_repeat(least: int, most: int, once: tuple[int, int]) -> tuple[int, int]:
    states, steps = once
    if most is sre.MAXREPEAT:
        return 1 + states * (least + 1), steps * (least + 1)
    return states * most + (most - least), steps * most + 1


def merged(ranges: Iterable[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """The same codes as ranges that are in order and apart."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined


def unsupported(op: Any) -> Invalid:
    name = _NAMES.get(str(op), "something")
    return bad(f"it uses {name}, which cannot be matched in a bounded time. {_ADVICE}")


def bad(reason: str) -> Invalid:
    return Invalid(f"The pattern cannot be used: {reason}.", code="bad_pattern")
