"""Mask secrets in a stream of bytes that arrives in pieces.

Every byte of every occurrence of every form of a secret is hidden; occurrences that overlap share
one mark. The output does not depend on how the stream is split. A byte is passed on as soon as it
cannot be part of an occurrence: only an end of the stream that may be the beginning of a form is
held back.
"""

from __future__ import annotations

from belvedere.base.text.secret_forms import encoded_forms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MARK = b"***"
# With more forms than this, searching for each of them costs more than using the index, which is
# built after this many bytes.
MAX_SEARCHED_FORMS = 32
INDEX_AFTER_BYTES = 1 << 20
# The index reads the stream in words of eight bytes. A form of at least this length contains a
# complete word at any position.
WORD = 8
MIN_INDEXED = 2 * WORD - 1
HEAD = 8


class Masker:
    """Masks one stream. `feed` and `finish` return the bytes that may be passed on."""

    __slots__ = (
        *("_beginnings", "_bytes_before_index", "_covered", "_index", "_long_forms", "_searched"),
        "_tail",
        "longest",
    )

    def __init__(self, values: Iterable[str]) -> None:
        forms = sorted({form for value in values for form in encoded_forms(value)})
        # Searched one by one; with many forms the long ones move to the index later.
        self._searched = forms
        self._index: dict[int, list[bytes]] = {}
        self.longest = max(map(len, forms), default=0)
        self._bytes_before_index = INDEX_AFTER_BYTES if len(forms) > MAX_SEARCHED_FORMS else -1
        # How forms begin: in a few bytes, to compare with the end of the stream at once, and long
        # forms with their first bytes.
        self._beginnings = {
            form[:size] for form in forms for size in range(1, min(HEAD, len(form)))
        }
        self._long_forms = [(form[:HEAD], form) for form in forms if len(form) > HEAD]
        # The end of the stream that is held back; `_covered` bytes of it are already masked.
        self._tail = b""
        self._covered = 0

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to mask."""
        return not self._searched and not self._index

    def feed(self, data: bytes) -> bytes:
        stream = self._tail + data if self._tail else data
        cut = self._open_end(stream)
        output, self._covered = self._mask(stream, cut)
        self._tail = stream[cut:]
        return output

    def _move_to_index(self) -> None:
        self._index = _build_index([form for form in self._searched if len(form) >= MIN_INDEXED])
        self._searched = [form for form in self._searched if len(form) < MIN_INDEXED]

    def finish(self) -> bytes:
        output, self._covered = self._mask(self._tail, len(self._tail))
        self._tail = b""
        return output

    def _mask(self, stream: bytes, cut: int) -> tuple[bytes, int]:
        """The masked stream up to the cut, and how many bytes after the cut are masked already."""
        places = self.places(stream)
        if not places and not self._covered:
            return (stream[:cut] if cut < len(stream) else stream), 0
        pieces: list[bytes] = []
        end = self._covered
        for begin, occurrence_end in places:
            if begin >= cut:
                break
            if begin >= end:
                pieces += (stream[end:begin], MARK)
            end = max(end, occurrence_end)
        pieces.append(stream[end:cut])
        return b"".join(pieces), max(0, end - cut)

    def places(self, stream: bytes) -> list[tuple[int, int]]:
        """Start and end of all occurrences, sorted; overlapping ones of one form are merged."""
        if self._bytes_before_index >= 0:
            self._bytes_before_index -= len(stream)
            if self._bytes_before_index < 0:
                self._move_to_index()
        ranges: list[tuple[int, int]] = []
        for form in self._searched:
            if form in stream:
                ranges += _occurrences(stream, form)
        for form in self._indexed_matches(stream):
            ranges += _occurrences(stream, form)
        ranges.sort()
        return ranges

    def _indexed_matches(self, stream: bytes) -> set[bytes]:
        """Indexed forms of which at least one word occurs in the stream."""
        index = self._index
        if not index or len(stream) < WORD:
            return set()
        words = memoryview(stream)[: len(stream) // WORD * WORD].cast("Q")
        if index.keys().isdisjoint(words):
            return set()
        return {form for word in index.keys() & set(words) for form in index[word]}

    def _open_end(self, stream: bytes) -> int:
        """The start of the longest end of the stream that may be the beginning of a form."""
        size = len(stream)
        cut = size
        for length in range(min(HEAD - 1, size), 0, -1):
            if stream[size - length :] in self._beginnings:
                cut = size - length
                break
        for head, form in self._long_forms:
            at = stream.find(head, max(0, size - len(form) + 1))
            while 0 <= at < cut:
                if form.startswith(stream[at:]):
                    cut = at
                    break
                at = stream.find(head, at + 1)
        return cut


def _occurrences(stream: bytes, form: bytes) -> list[tuple[int, int]]:
    """Occurrences of a form; overlapping ones are merged in steps of the size of the form."""
    ranges: list[tuple[int, int]] = []
    size = len(form)
    at = stream.find(form)
    while at >= 0:
        last = at
        while (overlapping := stream.rfind(form, last + 1, last + 2 * size - 1)) >= 0:
            last = overlapping
        ranges.append((at, last + size))
        at = stream.find(form, last + size)
    return ranges


def _build_index(forms: list[bytes]) -> dict[int, list[bytes]]:
    """Each word of a form at any alignment, with the forms that contain it."""
    forms_by_word: dict[int, list[bytes]] = {}
    for form in forms:
        for shift in range(WORD):
            size = (len(form) - shift) // WORD * WORD
            for word in memoryview(form)[shift : shift + size].cast("Q"):
                forms_by_word.setdefault(word, []).append(form)
    return forms_by_word
