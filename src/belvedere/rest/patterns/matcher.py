"""Patterns that the server matches with RE2: bounded memory, and time linear in the text.

A pattern has the syntax of Python (base/text/regex_syntax.py) and is translated to RE2
(alphabet.py, re2_syntax.py), so that patterns from before RE2 keep their meaning.
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
# Compiled patterns in the cache, and patterns whose size or error is cached.
MAX_CACHED = 64
MAX_SIZES = 2_048
# Characters of all patterns of one request.
MAX_REQUEST = 50_000
# This many instructions of RE2 cost as much as one state of a plain pattern.
INSTRUCTIONS = 10


class RE2Pattern:
    """A compiled pattern; any thread may use it."""

    def __init__(self, text: str) -> None:
        tree = parse_pattern(text)
        try:
            self._alphabet: Alphabet | None = Alphabet(tree)
        except TooManyLetters:
            self._alphabet = None
            self._program = _compile(by_letter(tree), MAX_WIDE_MEMORY, "UTF8")
        else:
            self._program = _compile(by_byte(tree, self._alphabet), MAX_MEMORY, "LATIN1")
        # How much it costs to compile and to match it, see MAX_STATES.
        self.size: int = max(count_states(tree), self._program.programsize // INSTRUCTIONS)

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        if len(text) > MAX_TEXT:
            return False
        try:
            data = text.encode() if self._alphabet is None else self._alphabet.encoded(text)
        except UnicodeEncodeError:
            # An unpaired surrogate is not valid text.
            return False
        return self._program.fullmatch(data) is not None


class NotCompiled(Refused):
    """Patterns that have to be compiled outside the transaction before it is repeated. Never sent
    to a client."""

    def __init__(self, texts: Collection[str]) -> None:
        super().__init__("A pattern is not compiled yet.")
        self.texts = texts


class _PatternCache:
    """The patterns that were used last. Unlike `lru_cache` it can be tested for a pattern."""

    def __init__(self) -> None:
        self._patterns: OrderedDict[str, RE2Pattern] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, text: str) -> bool:
        return text in self._patterns

    def pattern(self, text: str) -> RE2Pattern:
        with self._lock:
            if text in self._patterns:
                self._patterns.move_to_end(text)
                return self._patterns[text]
        pattern = RE2Pattern(text)
        with self._lock:
            self._patterns[text] = pattern
            if len(self._patterns) > MAX_CACHED:
                self._patterns.popitem(last=False)
        return pattern

    def clear(self) -> None:
        self._patterns.clear()


cache = _PatternCache()


def compiled(text: str) -> RE2Pattern:
    """Raises Invalid for a pattern that is malformed or that RE2 cannot match."""
    return cache.pattern(text)


def require_compiled(texts: Collection[str]) -> None:
    """Raise NotCompiled if one of them would have to be compiled now."""
    if any(text not in cache for text in texts):
        raise NotCompiled(texts)


async def load(texts: Collection[str]) -> None:
    """Compile stored patterns on a thread."""
    await asyncio.to_thread(_compile_all, texts)


def _compile_all(texts: Collection[str]) -> None:
    for text in texts:
        # An invalid one is refused later, when the argument is known.
        with contextlib.suppress(Invalid):
            compiled(text)


def size(text: str) -> int:
    """The size of a pattern; raises Invalid if it cannot be used. Cached after `prepare`."""
    result = _size_or_reason(text)
    if isinstance(result, str):
        raise Invalid(result, code="bad_pattern")
    return result


async def prepare(texts: Iterable[str]) -> None:
    """Compile the patterns of a request, on a thread and before its transaction. An invalid pattern
    is refused later by `size`, when its field is known."""
    patterns = {text for text in texts if text}
    if sum(map(len, patterns)) > MAX_REQUEST:
        raise invalid_pattern(
            f"the patterns of one request have at most {MAX_REQUEST} characters in total"
        )
    if patterns:
        await asyncio.to_thread(lambda: [_size_or_reason(text) for text in patterns])


@lru_cache(maxsize=MAX_SIZES)
def _size_or_reason(text: str) -> int | str:
    """The size of a pattern, or the reason why it cannot be used."""
    try:
        return compiled(text).size
    except Invalid as refusal:
        return refusal.message


def _compile(source: bytes, memory: int, encoding: str) -> "re2._Regexp":
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
        # The cache of the module limits the number of patterns, not their size.
        re2.purge()
    return program
