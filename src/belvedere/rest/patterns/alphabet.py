"""The letters that a pattern can distinguish, each as one byte.

RE2 supports \\d, \\w and \\s for ASCII only, and a set of Unicode costs a thousand instructions.
But for a letter beyond ASCII that a pattern does not name, only its kind matters: a digit, part of
a word, a space or something else. So each of these four kinds has one byte, each letter beyond
ASCII that the pattern names has another, and ASCII is unchanged.
"""

from collections.abc import Iterator
from functools import cache
from re import IGNORECASE
from re import _constants as sre  # type: ignore[attr-defined]

from belvedere.base.text.regex import CATEGORIES
from belvedere.base.text.regex_syntax import Operand, PatternItems, PatternTree

ASCII = 128
# Ranges with letters of each kind; one represents all that the pattern does not name.
_KINDS = {
    "digit": range(0x660, 0x2000),
    "word": range(0xAC00, 0xD7A4),
    "space": range(0x85, 0x3001),
    "other": range(0xE000, 0xF900),
}
MAX_NAMED = 256 - ASCII - len(_KINDS)


class TooManyLetters(Exception):
    """The pattern names more letters beyond ASCII than there are bytes."""


class Alphabet:
    """Maps letters to bytes, and sets of the pattern to sets of bytes."""

    def __init__(self, tree: PatternTree) -> None:
        self._ignore_case = bool(tree.state.flags & IGNORECASE)
        named = self._named_letters(tree)
        samples = [_sample(kind, named) for kind in _KINDS]
        self._kinds = {kind: ASCII + n for n, kind in enumerate(_KINDS)}
        self._letters = [*map(chr, range(ASCII)), *samples, *sorted(named)]
        self._named_bytes = {
            letter: ASCII + len(_KINDS) + n for n, letter in enumerate(sorted(named))
        }
        self._categories: dict[int, set[int]] = {}
        self._case_variants = self._build_case_variants() if self._ignore_case else {}

    def encoded(self, text: str) -> bytes:
        if text.isascii():
            return text.encode()
        return bytes(map(self._byte, text))

    def members(self, items: PatternItems) -> set[int]:
        """The bytes of a set, without its negation."""
        members: set[int] = set()
        for op, value in items:
            if op is sre.CATEGORY:
                members |= self._in_category(value)
            elif op is not sre.NEGATE:
                members.update(self._between(*((value, value) if op is sre.LITERAL else value)))
        if self._ignore_case:
            return {other for byte in members for other in self._case_variants.get(byte, ())}
        return members

    def _named_letters(self, tree: PatternItems) -> set[str]:
        letters: set[str] = set()
        for low, high in _ranges(tree):
            if high - max(low, ASCII) >= MAX_NAMED:
                raise TooManyLetters
            for letter in map(chr, range(max(low, ASCII), high + 1)):
                letters |= _other_case(letter) if self._ignore_case else {letter}
        if len(letters) > MAX_NAMED:
            raise TooManyLetters
        return {letter for letter in letters if letter >= chr(ASCII)}

    def _byte(self, letter: str) -> int:
        code = ord(letter)
        return code if code < ASCII else self._named_bytes.get(letter) or self._kinds[_kind(letter)]

    def _between(self, low: int, high: int) -> Iterator[int]:
        yield from range(low, min(high, ASCII - 1) + 1)
        for code in range(max(low, ASCII), high + 1):
            yield self._named_bytes[chr(code)]

    def _in_category(self, category: int) -> set[int]:
        if category not in self._categories:
            test = CATEGORIES[category]
            members = {n for n, letter in enumerate(self._letters) if letter and test(letter)}
            self._categories[category] = members
        return self._categories[category]

    def _build_case_variants(self) -> dict[int, list[int]]:
        """For each byte the bytes of its letter in upper and lower case."""
        bytes_by_letter: dict[int, list[int]] = {}
        for n, letter in enumerate(self._letters):
            for spelling in _other_case(letter) if letter else ():
                if spelling == letter or self._letters[self._byte(spelling)] == spelling:
                    bytes_by_letter.setdefault(self._byte(spelling), []).append(n)
        return bytes_by_letter


def parts_of(items: PatternItems) -> Iterator[tuple[int, Operand]]:
    """Every letter, range and category that a pattern names."""
    for op, value in items:
        if op is sre.IN:
            yield from value
        elif op is sre.BRANCH:
            for branch in value[1]:
                yield from parts_of(branch)
        elif op is sre.SUBPATTERN:
            yield from parts_of(value[3])
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            yield from parts_of(value[2])
        else:
            yield op, value


def _ranges(tree: PatternItems) -> Iterator[tuple[int, int]]:
    for op, value in parts_of(tree):
        if op is sre.RANGE:
            yield value
        elif op in (sre.LITERAL, sre.NOT_LITERAL):
            yield value, value


def _other_case(letter: str) -> set[str]:
    return {variant for variant in (letter, letter.lower(), letter.upper()) if len(variant) == 1}


def _kind(letter: str) -> str:
    if letter.isdecimal():
        return "digit"
    if letter.isalnum():
        return "word"
    return "space" if letter.isspace() else "other"


def _sample(kind: str, named: set[str]) -> str:
    """A letter of this kind that the pattern does not name; empty if it names all."""
    return next((letter for letter in _letters_of(kind) if letter not in named), "")


@cache
def _letters_of(kind: str) -> list[str]:
    return [letter for letter in map(chr, _KINDS[kind]) if _kind(letter) == kind]
