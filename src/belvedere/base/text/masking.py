"""Hiding secrets in a stream of bytes, however it is cut into pieces.

What is hidden: every byte of every occurrence of every form. Occurrences that overlap share one
mark. That says nothing of pieces, so neither does the outcome. A byte leaves as soon as nothing
that may follow can make it part of an occurrence: only the end of the stream that might be the
beginning of a form is held back.
"""

from __future__ import annotations

from belvedere.base.text.secret_forms import disguises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MARK = b"***"
# With more forms than this, looking for one after the other costs more than the sieve.
FEW = 32
MUCH = 1 << 20
# The sieve looks at the stream in words of eight bytes; whatever is this long holds a whole one.
WORD = 8
SIEVED = 2 * WORD - 1
HEAD = 8


class Masker:
    """One stream. `feed` and `finish` give what may leave."""

    __slots__ = (
        *("_beginnings", "_covered", "_patience", "_plain", "_sieve", "_tail", "_tried"),
        "longest",
    )

    def __init__(self, values: Iterable[str]) -> None:
        forms = sorted({form for value in values for form in disguises(value)})
        # Looked for one by one; long ones of many go through the sieve once it is worth its making.
        self._tried = forms
        self._sieve: dict[int, list[bytes]] = {}
        self.longest = max(map(len, forms), default=0)
        self._patience = MUCH if len(forms) > FEW else -1
        # How forms begin: in a few bytes, to compare with the end of the stream at once, and those
        # that are longer with their heads.
        self._beginnings = {
            form[:size] for form in forms for size in range(1, min(HEAD, len(form)))
        }
        self._plain = [(form[:HEAD], form) for form in forms if len(form) > HEAD]
        # The end of the stream so far; so many bytes at its start are hidden and marked already.
        self._tail = b""
        self._covered = 0

    @property
    def is_idle(self) -> bool:
        """There is nothing to hide."""
        return not self._tried and not self._sieve

    def feed(self, data: bytes) -> bytes:
        stream = self._tail + data if self._tail else data
        cut = self._open_end(stream)
        shown, self._covered = self._hidden(stream, cut)
        self._tail = stream[cut:]
        return shown

    def _make_sieve(self) -> None:
        self._sieve = _sieve([form for form in self._tried if len(form) >= SIEVED])
        self._tried = [form for form in self._tried if len(form) < SIEVED]

    def finish(self) -> bytes:
        shown, self._covered = self._hidden(self._tail, len(self._tail))
        self._tail = b""
        return shown

    def _hidden(self, stream: bytes, cut: int) -> tuple[bytes, int]:
        """The stream up to the cut without what is hidden; how far that goes beyond the cut."""
        places = self.places(stream)
        if not places and not self._covered:
            return (stream[:cut] if cut < len(stream) else stream), 0
        shown: list[bytes] = []
        end = self._covered
        for begin, behind in places:
            if begin >= cut:
                break
            if begin >= end:
                shown += (stream[end:begin], MARK)
            end = max(end, behind)
        shown.append(stream[end:cut])
        return b"".join(shown), max(0, end - cut)

    def places(self, stream: bytes) -> list[tuple[int, int]]:
        """Where forms begin and end, in order; of one form's that overlap, their union."""
        if self._patience >= 0:
            self._patience -= len(stream)
            if self._patience < 0:
                self._make_sieve()
        found: list[tuple[int, int]] = []
        for form in self._tried:
            if form in stream:
                found += _occurrences(stream, form)
        for form in self._sifted(stream):
            found += _occurrences(stream, form)
        found.sort()
        return found

    def _sifted(self, stream: bytes) -> set[bytes]:
        """Long forms of which at least one word is there."""
        sieve = self._sieve
        if not sieve or len(stream) < WORD:
            return set()
        words = memoryview(stream)[: len(stream) // WORD * WORD].cast("Q")
        if sieve.keys().isdisjoint(words):
            return set()
        return {form for word in sieve.keys() & set(words) for form in sieve[word]}

    def _open_end(self, stream: bytes) -> int:
        """Where the longest end of the stream begins that a form could begin with."""
        size = len(stream)
        cut = size
        for length in range(min(HEAD - 1, size), 0, -1):
            if stream[size - length :] in self._beginnings:
                cut = size - length
                break
        for head, form in self._plain:
            at = stream.find(head, max(0, size - len(form) + 1))
            while 0 <= at < cut:
                if form.startswith(stream[at:]):
                    cut = at
                    break
                at = stream.find(head, at + 1)
        return cut


def _occurrences(stream: bytes, form: bytes) -> list[tuple[int, int]]:
    """Where the form is; a row of overlapping ones is followed by leaps, not letter by letter."""
    found: list[tuple[int, int]] = []
    size = len(form)
    at = stream.find(form)
    while at >= 0:
        last = at
        while (further := stream.rfind(form, last + 1, last + 2 * size - 1)) >= 0:
            last = further
        found.append((at, last + size))
        at = stream.find(form, last + size)
    return found


def _sieve(forms: list[bytes]) -> dict[int, list[bytes]]:
    """Each word that a form may show to the sieve, with the forms that hold it."""
    found: dict[int, list[bytes]] = {}
    for form in forms:
        for shift in range(WORD):
            size = (len(form) - shift) // WORD * WORD
            for word in memoryview(form)[shift : shift + size].cast("Q"):
                found.setdefault(word, []).append(form)
    return found
