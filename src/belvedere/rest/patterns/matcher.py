"""Patterns that the server matches: with RE2, in bounded memory and time that grows with the text.

A pattern has the syntax of Python (base/text/regex_syntax.py) and is written as RE2 reads it
(alphabet.py, re2_syntax.py), so that what was accepted before RE2 means the
same with it.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Collection, Iterable
from functools import lru_cache
from threading import Lock

import re2

from belvedere.base.errors import Invalid, Refused
from belvedere.base.text.regex_syntax import count_states, invalid_pattern, parse_pattern
from belvedere.rest.patterns.alphabet import Alphabet, TooManyLetters
from belvedere.rest.patterns.re2_syntax import by_byte, by_letter

# Characters of a value that is compared with a pattern.
MAX_TEXT = 1_000
# Bytes that RE2 may use for one pattern, its program and its tables together.
MAX_MEMORY = 1 << 20
# The same for one that names many letters beyond ASCII: its sets are far larger.
MAX_WIDE_MEMORY = 4 << 20
# Compiled patterns that are kept, and patterns of which it is known whether they compile.
MAX_KEPT = 64
MAX_KNOWN = 2_048
# Characters of all patterns of one request.
MAX_REQUEST = 50_000
# So many instructions of RE2 cost as much as one place in a plain pattern.
INSTRUCTIONS = 10


class Pattern:
    """A compiled pattern; any thread may use it."""

    def __init__(self, text: str) -> None:
        tree = parse_pattern(text)
        try:
            self._alphabet: Alphabet | None = Alphabet(tree)
        except TooManyLetters:
            self._alphabet = None
            self._program = _compiled(by_letter(tree), MAX_WIDE_MEMORY, "UTF8")
        else:
            self._program = _compiled(by_byte(tree, self._alphabet), MAX_MEMORY, "LATIN1")
        # How much it costs to compile and to match it, see MAX_STATES.
        self.size: int = max(count_states(tree), self._program.programsize // INSTRUCTIONS)

    def matches(self, text: str) -> bool:
        """Whether the whole text fits."""
        if len(text) > MAX_TEXT:
            return False
        try:
            data = text.encode() if self._alphabet is None else self._alphabet.encoded(text)
        except UnicodeEncodeError:
            # Half of a surrogate pair is no text.
            return False
        return self._program.fullmatch(data) is not None


class NotCompiled(Refused):
    """Patterns that have to be compiled outside the transaction before it is repeated. Never sent
    to anybody."""

    def __init__(self, texts: Collection[str]) -> None:
        super().__init__("A pattern is not compiled yet.")
        self.texts = texts


class _Kept:
    """The patterns that were used last. Unlike `lru_cache` it can say what it holds."""

    def __init__(self) -> None:
        self._patterns: OrderedDict[str, Pattern] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, text: str) -> bool:
        return text in self._patterns

    def pattern(self, text: str) -> Pattern:
        with self._lock:
            if text in self._patterns:
                self._patterns.move_to_end(text)
                return self._patterns[text]
        pattern = Pattern(text)
        with self._lock:
            self._patterns[text] = pattern
            if len(self._patterns) > MAX_KEPT:
                self._patterns.popitem(last=False)
        return pattern

    def clear(self) -> None:
        self._patterns.clear()


kept = _Kept()


def compiled(text: str) -> Pattern:
    """Invalid when it is none, or one that RE2 cannot match."""
    return kept.pattern(text)


def require_compiled(texts: Collection[str]) -> None:
    """Refuse where one of them would have to be compiled now."""
    if any(text not in kept for text in texts):
        raise NotCompiled(texts)


async def load(texts: Collection[str]) -> None:
    """Compile stored patterns on a thread."""
    await asyncio.to_thread(_compile_all, texts)


def _compile_all(texts: Collection[str]) -> None:
    for text in texts:
        # One that cannot be used is refused later, where the argument is known.
        with contextlib.suppress(Invalid):
            compiled(text)


def size(text: str) -> int:
    """The size of a pattern; Invalid when it cannot be used. After `prepare` it costs nothing."""
    known = _known(text)
    if isinstance(known, str):
        raise Invalid(known, code="bad_pattern")
    return known


async def prepare(texts: Iterable[str]) -> None:
    """Compile what a request brings, on a thread and before its transaction. A pattern that cannot
    be used is refused later, by `size`, where the field is known that holds it."""
    wanted = {text for text in texts if text}
    if sum(map(len, wanted)) > MAX_REQUEST:
        raise invalid_pattern(
            f"the patterns of one request have at most {MAX_REQUEST} characters in all"
        )
    if wanted:
        await asyncio.to_thread(lambda: [_known(text) for text in wanted])


@lru_cache(maxsize=MAX_KNOWN)
def _known(text: str) -> int | str:
    """Its size, or why it cannot be used."""
    try:
        return compiled(text).size
    except Invalid as refusal:
        return refusal.message


def _compiled(source: bytes, memory: int, encoding: str) -> "re2._Regexp":
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = memory
    options.encoding = getattr(re2.Options.Encoding, encoding)
    try:
        program = re2.compile(source, options)
    except re2.error:
        raise invalid_pattern("RE2 cannot compile it; make it shorter") from None
    finally:
        # The module keeps what it compiled by number, whatever its size; we keep our own.
        re2.purge()
    return program
