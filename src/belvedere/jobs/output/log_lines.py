"""Lines of a log: search for a text, read lines by number, and their times.

Lines are counted from 1 in the stream as produced, offsets are the bytes where they begin. Memory
stays small however long a log or one of its lines is.
"""

import re
from collections.abc import Iterator

import msgspec

from belvedere.access.services import Services
from belvedere.base.clock import Millis, iso
from belvedere.db import Tx
from belvedere.jobs.output import log_store
from belvedere.jobs.output.log_store import Chunk
from belvedere.jobs.output.log_stream import LogSource, find_log

MAX_HITS = 1_000
MAX_MARKS = 10_000
# Chunks that are read for them: many may begin on the same line.
MAX_MARK_CHUNKS = 40_000
MAX_LINES, MAX_BYTES = 5_000, 2 << 20
# Bytes of a line that are returned.
MAX_HIT_BYTES, MAX_LINE_BYTES = 1_000, 64 * 1024
# Colours and other control sequences of terminals; at most this many bytes of them in one match.
_CODES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
MAX_CODE_BYTES = 256


class LogHit(msgspec.Struct):
    """A line that contains the text; `offset` is the byte where it begins."""

    line: int
    offset: int
    text: str


class LogHits(msgspec.Struct):
    """`matches`: the number of lines that contain the text; `lines`: the first of them. Not
    `complete`: a part of the output is missing and was not searched."""

    matches: int
    lines: list[LogHit]
    complete: bool


class LogLines(msgspec.Struct):
    """Lines from `first` on. `offset`: the byte where it begins, `next`: where the line after the
    last of these begins. Where the middle of the output was cut out, `first` may be later than
    asked for, and the lines end before the cut. Not `complete`: a part of the output is missing."""

    first: int
    offset: int
    next: int
    total_lines: int
    lines: list[str]
    complete: bool


class LineMark(msgspec.Struct):
    """The time of the lines from this one up to the next mark."""

    line: int
    at: str


class LineTimes(msgspec.Struct):
    """`next`: the line to continue from; null at the end. Logs of older versions have no marks."""

    marks: list[LineMark]
    next: int | None


class LineReader:
    """Reads a log chunk by chunk, line by line."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        # Lines before the current one, where it begins and ends, and its text up to the limit.
        self.before, self.start, self.end, self.text = 0, 0, 0, b""
        self.at = 0
        self.is_gapless = True

    def read(self, chunk: Chunk) -> Iterator[tuple[bytes, bool]]:
        """(bytes, whether they end the line) of one chunk; after each, the attributes describe the
        line of these bytes."""
        if chunk.at_byte > self.at:
            # A gap also ends the line before it.
            if self.at > self.start:
                yield b"", True
            self.before, self.start, self.text = chunk.at_line, chunk.at_byte, b""
            self.is_gapless = False
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


class LogSearch:
    """Finds the lines from a byte on that contain a text, ignoring case."""

    def __init__(self, query: str, limit: int, since: int = 0) -> None:
        self._needle = query.lower().encode()
        # bytes.lower() changes ASCII only.
        self._is_ascii = query.isascii()
        self._most, self._since = limit, since
        self.walk = LineReader(MAX_HIT_BYTES)
        self._tail, self._is_hit = b"", False
        self.hits = LogHits(0, [], True)

    def feed(self, chunk: Chunk) -> None:
        for piece, is_end in self.walk.read(chunk):
            if not self._is_hit:
                # A match may begin in the previous piece, with control sequences in between.
                text = self._tail + piece
                self._is_hit = self._needle in self._folded(_CODES.sub(b"", text))
                self._tail = (
                    b"" if self._is_hit else text[-2 * len(self._needle) - MAX_CODE_BYTES :]
                )
            if is_end:
                self.end_line()

    def _folded(self, data: bytes) -> bytes:
        return data.lower() if self._is_ascii else data.decode(errors="replace").lower().encode()

    def end_line(self) -> None:
        if self._is_hit and self.walk.start >= self._since:
            self.hits.matches += 1
            if len(self.hits.lines) < self._most:
                self.hits.lines.append(
                    LogHit(self.walk.before + 1, self.walk.start, _text(self.walk.text))
                )
        self._tail, self._is_hit = b"", False


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")


async def search(
    services: Services, customer_id: str, source: LogSource, query: str, limit: int, since: int = 0
) -> LogHits:
    """Count all lines that contain the text, from this byte on, and return the first."""
    log_search = LogSearch(query, limit, since)
    if source.small is not None:
        log_search.feed(_single_chunk(source.small))
    else:
        lane = (services.logs, customer_id)
        await services.searches.run(*lane, _begin, source.fence, log_search, since)
        # Step by step in the database thread, so that a long log delays no other request.
        while await services.searches.run_on(*lane, _search_step, source.fence, log_search):
            pass
    log_search.end_line()
    log_search.hits.complete = log_search.walk.is_gapless and not await _is_cut_short(
        services, source, log_search
    )
    return log_search.hits


async def _is_cut_short(services: Services, source: LogSource, log_search: LogSearch) -> bool:
    """Whether output is missing after the last byte that was searched."""
    if source.small is not None:
        return False
    log = await find_log(services, source)
    return source.is_unknown or (log is not None and log.end > log_search.walk.at)


def _begin(tx: Tx, fence: int, log_search: LogSearch, since: int) -> None:
    """Start at the chunk before this byte, so that every later line is read from its beginning."""
    before = tx.row(
        "select at_byte, at_line from log_chunks where fence = ? and at_byte < ?"
        " order by at_byte desc limit 1",
        *(fence, since),
    )
    if before is not None:
        log_search.walk.start = log_search.walk.at = before[0]
        log_search.walk.before = before[1]


def _search_step(tx: Tx, fence: int, log_search: LogSearch) -> bool:
    chunks = log_store.chunks(tx, fence, log_search.walk.at)
    for chunk in chunks:
        log_search.feed(chunk)
    return bool(chunks)


def _single_chunk(data: bytes) -> Chunk:
    return Chunk(0, 0, len(data), data)


async def lines(services: Services, source: LogSource, first: int, count: int) -> LogLines:
    """Lines by number."""
    if source.small is not None:
        total = source.small.count(b"\n") + (
            not source.small.endswith(b"\n") and bool(source.small)
        )
        return _read(iter([_single_chunk(source.small)]), first, count, total)
    page: LogLines = await services.logs.read(_lines, source.fence, first, count)
    log = await find_log(services, source)
    page.complete = not source.is_unknown and (log is None or log.bytes_kept == log.end)
    return page


def _lines(tx: Tx, fence: int, first: int, count: int) -> LogLines:
    log = log_store.find(tx, fence)
    total = 0 if log is None else max(log.lines, log.lines_seen + _is_unfinished(tx, log))
    # A chunk after this many lines contains at least the end of the line before.
    begin = log_store.find_line(tx, fence, first - 1)
    return _read(_from(tx, fence, begin), first, count, total)


def _is_unfinished(tx: Tx, log: log_store.Log) -> bool:
    return log.bytes_kept > 0 and log_store.last_byte(tx, log.fence) != b"\n"


def _from(tx: Tx, fence: int, at: int) -> Iterator[Chunk]:
    while chunks := log_store.chunks(tx, fence, at, limit=4):
        yield from chunks
        at = chunks[-1].at_byte + chunks[-1].size


def _read(chunks: Iterator[Chunk], first: int, count: int, total: int) -> LogLines:
    reader = LineReader(MAX_LINE_BYTES)
    page = LogLines(first, 0, 0, total, [], complete=True)
    size = 0
    for number, chunk in enumerate(chunks):
        if number == 0:
            reader.before, reader.start, reader.at = chunk.at_line, chunk.at_byte, chunk.at_byte
        elif chunk.at_byte > reader.at and _end(page, reader).lines:
            # Lines after a gap would have wrong numbers.
            return page
        for _, is_end in reader.read(chunk):
            if is_end and reader.before + 1 >= first:
                size += len(_add(page, reader).text)
                if len(page.lines) == count or size > MAX_BYTES:
                    return page
    return _end(page, reader)


def _end(page: LogLines, reader: LineReader) -> LogLines:
    """Add a last line without a newline."""
    if reader.at > reader.start and reader.before + 1 >= page.first:
        reader.end = reader.at
        _add(page, reader)
    reader.start = reader.at
    return page


def _add(page: LogLines, reader: LineReader) -> LineReader:
    if not page.lines:
        page.first, page.offset = reader.before + 1, reader.start
    page.lines.append(_text(reader.text))
    page.next = reader.end
    return reader


async def times(services: Services, source: LogSource, first: int) -> LineTimes:
    if source.small is None:
        page: LineTimes = await services.logs.read(_times, source.fence, first)
        return page
    # A short log arrives with the report of the end.
    at = source.job.ended_at
    return LineTimes([] if at is None or not source.small else [LineMark(1, iso(at))], None)


def _times(tx: Tx, fence: int, first: int) -> LineTimes:
    """If several chunks begin on the same line, the first counts."""
    begin = log_store.find_line(tx, fence, first - 1)
    rows = tx.rows(
        "select at_line + 1, written_at from log_chunks where fence = ? and at_byte >= ?"
        " and at_line + 1 >= ? and written_at is not null order by at_byte limit ?",
        *(fence, begin, first, MAX_MARK_CHUNKS),
    )
    written = dict[int, Millis]()
    for line, at in rows:
        written.setdefault(int(line), int(at))
    marks = [LineMark(line, iso(at)) for line, at in sorted(written.items())]
    if len(marks) > MAX_MARKS:
        return LineTimes(marks[:MAX_MARKS], marks[MAX_MARKS].line)
    return LineTimes(marks, marks[-1].line + 1 if len(rows) == MAX_MARK_CHUNKS else None)
