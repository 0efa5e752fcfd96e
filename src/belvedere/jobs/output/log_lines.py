"""Lines of a log: finding a text in all of them, and reading some by their number.

Lines are counted from 1 in the stream as produced, offsets are the bytes where they begin. Memory
stays small however long a log or one of its lines is.
"""

import re
from collections.abc import Iterator

import msgspec

from belvedere.access.services import Services
from belvedere.db import Tx
from belvedere.jobs.output import log_store as joblog
from belvedere.jobs.output.log_store import Chunk
from belvedere.jobs.output.log_stream import Source

MOST_FOUND = 1_000
MOST_LINES, MOST_BYTES = 5_000, 2 << 20
# As much of a line as is given.
LONGEST_HIT, LONGEST_LINE = 1_000, 64 * 1024
# Colours and other orders to a terminal, which no reader sees; so many bytes of them in one match.
_CODES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
CODES = 256


class Hit(msgspec.Struct):
    """A line that holds the text; `offset` is the byte where it begins."""

    line: int
    offset: int
    text: str


class Hits(msgspec.Struct):
    """`matches` counts all lines that hold the text, `lines` are the first of them. Not complete:
    a part of the output is not there, and was not searched."""

    matches: int
    lines: list[Hit]
    complete: bool


class Lines(msgspec.Struct):
    """Lines from `first` on. `offset`: the byte where it begins, `next`: where the line after the
    last of these begins. Where the middle of the output was cut out, `first` may be later than
    asked for, and the lines end before the cut."""

    first: int
    offset: int
    next: int
    total_lines: int
    lines: list[str]


class Walk:
    """Goes through a log piece by piece, line by line."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        # Lines before this one, where it begins and ends, and as much of it as is kept.
        self.before, self.start, self.end, self.text = 0, 0, 0, b""
        self.at = 0
        self.is_whole = True

    def through(self, chunk: Chunk) -> Iterator[tuple[bytes, bool]]:
        """(bytes, whether they end the line) of one chunk; between two of them this walk stands
        on the line that they are of."""
        if chunk.at_byte > self.at:
            # What is missing ends the line before, too.
            if self.at > self.start:
                yield b"", True
            self.before, self.start, self.text = chunk.at_line, chunk.at_byte, b""
            self.is_whole = False
        at = 0
        while (end := chunk.data.find(b"\n", at)) >= 0:
            self.end = chunk.at_byte + end + 1
            yield self._with(chunk.data[at:end]), True
            at = end + 1
            self.before, self.start, self.text = self.before + 1, chunk.at_byte + at, b""
        self.at = chunk.at_byte + chunk.size
        if at < len(chunk.data):
            yield self._with(chunk.data[at:]), False

    def _with(self, piece: bytes) -> bytes:
        self.text += piece[: max(0, self._longest - len(self.text))]
        return piece


class Search:
    """Finds the lines that hold a text, whatever its case, and begin at a byte or behind it."""

    def __init__(self, wanted: str, most: int, since: int = 0) -> None:
        self._needle = wanted.lower().encode()
        # Bytes know only the case of ASCII.
        self._is_ascii = wanted.isascii()
        self._most, self._since = most, since
        self.walk = Walk(LONGEST_HIT)
        self._tail, self._is_hit = b"", False
        self.found = Hits(0, [], True)

    def feed(self, chunk: Chunk) -> None:
        for piece, is_end in self.walk.through(chunk):
            if not self._is_hit:
                # A match may begin in the piece before, with codes between its letters.
                known = self._tail + piece
                self._is_hit = self._needle in self._folded(_CODES.sub(b"", known))
                self._tail = b"" if self._is_hit else known[-2 * len(self._needle) - CODES :]
            if is_end:
                self.end_line()

    def _folded(self, data: bytes) -> bytes:
        return data.lower() if self._is_ascii else data.decode(errors="replace").lower().encode()

    def end_line(self) -> None:
        if self._is_hit and self.walk.start >= self._since:
            self.found.matches += 1
            if len(self.found.lines) < self._most:
                self.found.lines.append(
                    Hit(self.walk.before + 1, self.walk.start, _text(self.walk.text))
                )
        self._tail, self._is_hit = b"", False


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")


async def search(
    services: Services, customer_id: str, found: Source, wanted: str, most: int, since: int = 0
) -> Hits:
    """Every line that holds the text is counted, from this byte on; the first are given."""
    looking = Search(wanted, most, since)
    if found.small is not None:
        looking.feed(_whole(found.small))
    else:
        lane = (services.logs, customer_id)
        await services.searches.run(*lane, _begin, found.fence, looking, since)
        # A stretch at a time, each in the database's thread: nobody waits for a long log.
        while await services.searches.run_on(*lane, _search_on, found.fence, looking):
            pass
    looking.end_line()
    looking.found.complete = looking.walk.is_whole and not await _is_cut_short(
        services, found, looking
    )
    return looking.found


async def _is_cut_short(services: Services, found: Source, looking: Search) -> bool:
    """Whether output is missing behind the last byte that was searched."""
    if found.small is not None:
        return False
    log: joblog.Log | None = await services.logs.read(joblog.find, found.fence)
    return found.is_unknown or (log is not None and log.end > looking.walk.at)


def _begin(tx: Tx, fence: int, looking: Search, since: int) -> None:
    """Stand where the byte before this one is: whatever line begins behind it is met whole."""
    before = tx.row(
        "select at_byte, at_line from log_chunks where fence = ? and at_byte < ?"
        " order by at_byte desc limit 1",
        *(fence, since),
    )
    if before is not None:
        looking.walk.start = looking.walk.at = before[0]
        looking.walk.before = before[1]


def _search_on(tx: Tx, fence: int, looking: Search) -> bool:
    chunks = joblog.chunks(tx, fence, looking.walk.at)
    for chunk in chunks:
        looking.feed(chunk)
    return bool(chunks)


def _whole(data: bytes) -> Chunk:
    return Chunk(0, 0, len(data), data)


async def lines(services: Services, found: Source, first: int, count: int) -> Lines:
    """So many lines from this one on."""
    if found.small is not None:
        total = found.small.count(b"\n") + (not found.small.endswith(b"\n") and bool(found.small))
        return _read(iter([_whole(found.small)]), first, count, total)
    shown: Lines = await services.logs.read(_lines, found.fence, first, count)
    return shown


def _lines(tx: Tx, fence: int, first: int, count: int) -> Lines:
    log = joblog.find(tx, fence)
    total = 0 if log is None else max(log.lines, log.lines_seen + _is_unfinished(tx, log))
    # A chunk that follows this many lines holds the end of the line before, at least.
    begin = tx.value(
        "select at_byte from log_chunks where fence = ? and at_line < ?"
        " order by at_byte desc limit 1",
        *(fence, first - 1),
    )
    return _read(_from(tx, fence, begin or 0), first, count, total)


def _is_unfinished(tx: Tx, log: joblog.Log) -> bool:
    return log.bytes_kept > 0 and joblog.last_byte(tx, log.fence) != b"\n"


def _from(tx: Tx, fence: int, at: int) -> Iterator[Chunk]:
    while chunks := joblog.chunks(tx, fence, at, limit=4):
        yield from chunks
        at = chunks[-1].at_byte + chunks[-1].size


def _read(chunks: Iterator[Chunk], first: int, count: int, total: int) -> Lines:
    walk = Walk(LONGEST_LINE)
    shown = Lines(first, 0, 0, total, [])
    size = 0
    for n, chunk in enumerate(chunks):
        if n == 0:
            walk.before, walk.start, walk.at = chunk.at_line, chunk.at_byte, chunk.at_byte
        elif chunk.at_byte > walk.at and _end(shown, walk).lines:
            # Lines with others missing in between would have wrong numbers.
            return shown
        for _, is_end in walk.through(chunk):
            if is_end and walk.before + 1 >= first:
                size += len(_add(shown, walk).text)
                if len(shown.lines) == count or size > MOST_BYTES:
                    return shown
    return _end(shown, walk)


def _end(shown: Lines, walk: Walk) -> Lines:
    """A last line that no newline ends is one, too."""
    if walk.at > walk.start and walk.before + 1 >= shown.first:
        walk.end = walk.at
        _add(shown, walk)
    walk.start = walk.at
    return shown


def _add(shown: Lines, walk: Walk) -> Walk:
    if not shown.lines:
        shown.first, shown.offset = walk.before + 1, walk.start
    shown.lines.append(_text(walk.text))
    shown.next = walk.end
    return walk
