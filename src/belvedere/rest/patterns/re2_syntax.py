"""Translate a parsed pattern to RE2: over bytes of an alphabet, or over Unicode."""

from collections.abc import Callable, Iterable
from re import DOTALL, IGNORECASE
from re import _constants as sre  # type: ignore[attr-defined]

from belvedere.base.text.regex_syntax import (
    Operand,
    PatternItems,
    PatternTree,
    invalid_pattern,
    merge_ranges,
)
from belvedere.rest.patterns.alphabet import Alphabet, parts_of

# A character, a set or an anchor of the pattern as RE2 writes it.
Write = Callable[[int, Operand], str]

# Sets with \w, \d or \s in a pattern over Unicode: RE2 reads a thousand ranges for each.
MAX_UNICODE_SETS = 20
# `$` is the end of the text and nothing else, here and in RE2; Python's own engine also accepts a
# line feed after it.
_ANCHORS = {
    sre.AT_BEGINNING: r"\A",
    sre.AT_BEGINNING_STRING: r"\A",
    sre.AT_END: r"\z",
    sre.AT_END_STRING: r"\z",
    sre.AT_BOUNDARY: r"\b",
    sre.AT_NON_BOUNDARY: r"\B",
}
_SPACES = r"\x09-\x0d\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}"
_SPACES += r"\x{205f}\x{3000}"
_NO_SPACES = r"\x00-\x08\x0e-\x1b\x21-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}"
_NO_SPACES += r"\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}"
_NO_SPACES += r"\x{3001}-\x{10ffff}"
_NO_WORD = r"[^\p{L}\p{N}_]"
_CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\p{Nd}",
    sre.CATEGORY_NOT_DIGIT: r"\P{Nd}",
    sre.CATEGORY_SPACE: _SPACES,
    sre.CATEGORY_NOT_SPACE: _NO_SPACES,
    sre.CATEGORY_WORD: r"\p{L}\p{N}_",
}


def by_byte(tree: PatternTree, alphabet: Alphabet) -> bytes:
    """Over the bytes of the alphabet, for RE2 in Latin-1."""

    def write(op: int, value: Operand) -> str:
        members = alphabet.members(value if op is sre.IN else [(sre.LITERAL, value)])
        return _set(merge_ranges((n, n) for n in members), is_not=_is_not(op, value))

    return _sequence(tree, _with_any(write, tree)).encode("ascii")


def by_letter(tree: PatternTree) -> bytes:
    """Over Unicode, for RE2 in UTF-8."""
    _check_sets(tree)
    flags = "(?i)" if tree.state.flags & IGNORECASE else ""
    return f"{flags}{_sequence(tree, _with_any(_unicode, tree))}".encode()


def _with_any(write: Write, tree: PatternTree) -> Write:
    everything = r"(?s:.)" if tree.state.flags & DOTALL else r"[^\n]"
    return lambda op, value: everything if op is sre.ANY else write(op, value)


def _sequence(items: PatternItems, write: Write) -> str:
    return "".join(_item(op, value, write) for op, value in items)


def _item(op: int, value: Operand, write: Write) -> str:
    if op is sre.AT:
        return _ANCHORS[value]
    if op is sre.BRANCH:
        return f"(?:{'|'.join(_sequence(branch, write) for branch in value[1])})"
    if op is sre.SUBPATTERN:
        return f"(?:{_sequence(value[3], write)})"
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        least, most, repeated = value
        upper = "" if most is sre.MAXREPEAT else most
        return f"(?:{_sequence(repeated, write)}){{{least},{upper}}}"
    return write(op, value)


def _unicode(op: int, value: Operand) -> str:
    if op is not sre.IN:
        return _set([(value, value)], is_not=op is sre.NOT_LITERAL)
    items = [item for item in value if item[0] is not sre.NEGATE]
    categories = [v for o, v in items if o is sre.CATEGORY]
    if sre.CATEGORY_NOT_WORD in categories:
        if len(items) == 1 and not _is_not(op, value):
            return _NO_WORD
        raise invalid_pattern(
            r"it has \W in a set, together with letters of many alphabets; write (?:\W|[…])"
        )
    ranges = [(v, v) if o is sre.LITERAL else v for o, v in items if o is not sre.CATEGORY]
    more = "".join(_CATEGORIES[category] for category in categories)
    return _set(merge_ranges(ranges), more, is_not=_is_not(op, value))


def _check_sets(tree: PatternItems) -> None:
    categories = sum(op is sre.CATEGORY for op, _ in parts_of(tree))
    if categories > MAX_UNICODE_SETS:
        raise invalid_pattern(
            rf"it has more than {MAX_UNICODE_SETS} \w, \d or \s and letters of many alphabets"
        )


def _is_not(op: int, value: Operand) -> bool:
    return op is sre.NOT_LITERAL or (op is sre.IN and value[0][0] is sre.NEGATE)


def _set(ranges: Iterable[tuple[int, int]], more: str = "", *, is_not: bool) -> str:
    parts = (_code(low) if low == high else f"{_code(low)}-{_code(high)}" for low, high in ranges)
    members = "".join(parts) + more
    if not members:
        # RE2 has no empty set, but the complement of everything.
        return r"(?s:.)" if is_not else r"[^\x00-\x{10ffff}]"
    return f"[{'^' if is_not else ''}{members}]"


def _code(code: int) -> str:
    if 0xD800 <= code <= 0xDFFF:
        raise invalid_pattern("it contains an unpaired surrogate")
    return f"\\x{{{code:x}}}"
