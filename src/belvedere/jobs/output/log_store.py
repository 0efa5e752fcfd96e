"""Output of scripts: chunks by byte offset in the log store; the middle of a long log is cut.

Offsets and line numbers count the original stream, even across the cut.
"""

import zlib
from collections.abc import Iterator, Sequence
from itertools import accumulate

import msgspec

from belvedere.base.errors import Unavailable
from belvedere.db import Tx, columns
from belvedere.db.commit_hooks import around_commit

MAX_KEPT_BYTES = 16 * 1024 * 1024
HEAD_BYTES = 1024 * 1024
# Bytes that are read at once.
MAX_READ = 256 * 1024
# Chunks of one log: an agent that sends byte by byte would fill the store with rows.
MAX_CHUNKS = 256 * 1024
# Bytes of a log that are searched for a line one chunk after the other.
MAX_LINE_SCAN = 64 * 1024
# Chunks per query when the middle is cut.
CUT_BATCH_SIZE = 64


class Log(msgspec.Struct):
    """One attempt's log."""

    fence: int
    job_id: str
    # Bytes that arrived or were skipped: the next missing offset.
    bytes_seen: int
    bytes_kept: int
    lines_seen: int
    bytes_total: int | None
    lines_total: int | None
    sha256: str | None
    chunks: int = 0

    @property
    def is_complete(self) -> bool:
        """Without a digest the agent does not know how the output ended."""
        return bool(self.sha256) and self.bytes_kept == self.bytes_total

    @property
    def end(self) -> int:
        """The end of the original stream, even if its last bytes did not arrive."""
        return max(self.bytes_seen, self.bytes_total or 0)

    @property
    def lines(self) -> int:
        """Known newlines of the stream, including a missing end."""
        is_cut = self.bytes_total is not None and self.bytes_total > self.bytes_seen
        return max(self.lines_seen, self.lines_total or 0) if is_cut else self.lines_seen


class Chunk(msgspec.Struct):
    at_byte: int
    at_line: int
    size: int
    data: bytes


class LogPiece(msgspec.Struct):
    """A piece of a stream, sent by the agent."""

    fence: int
    job_id: str
    at_byte: int
    at_line: int
    data: bytes
    # The server must have the stream up to here already.
    after: int = 0
    customer_id: str = ""
    # The quota of the organization is used up: counted, and marked as missing.
    is_dropped: bool = False


def find(tx: Tx, fence: int) -> Log | None:
    return tx.one(Log, f"select {columns(Log)} from logs where fence = ?", fence)


def missing(fence: int, job_id: str, size: int) -> Log:
    """A log of this size of which nothing is stored."""
    return Log(fence, job_id, 0, 0, 0, size, None, None)


def append(tx: Tx, pieces: list[LogPiece]) -> Sequence[int | Exception]:
    """Add pieces in order; bytes that are stored already are skipped. The next offset for each.

    If a piece could not be written, later ones may have been sent already. They are rejected:
    stored, they would leave a permanent gap that looks like one of the agent's own.
    """
    logs: dict[int, Log] = {}
    refused: set[int] = set()
    for number, piece in enumerate(pieces):
        if piece.fence not in logs:
            logs[piece.fence] = find(tx, piece.fence) or _new(tx, piece)
        if logs[piece.fence].bytes_seen < piece.after:
            refused.add(number)
        else:
            _add(tx, logs[piece.fence], piece)
    for log in logs.values():
        if log.bytes_kept > MAX_KEPT_BYTES or log.chunks > MAX_CHUNKS:
            _cut(tx, log)
        _save(tx, log)
    around_commit(tx, "log")
    return [
        Unavailable("An earlier part of the output could not be stored.")
        if number in refused
        else logs[piece.fence].bytes_seen
        for number, piece in enumerate(pieces)
    ]


def _new(tx: Tx, piece: LogPiece) -> Log:
    tx.execute(
        "insert into logs (fence, job_id, customer_id) values (?, ?, ?)",
        piece.fence,
        piece.job_id,
        piece.customer_id,
    )
    return Log(piece.fence, piece.job_id, 0, 0, 0, None, None, None)


def _add(tx: Tx, log: Log, piece: LogPiece) -> None:
    skip = max(0, log.bytes_seen - piece.at_byte)
    data = piece.data[skip:]
    if log.bytes_total is not None:
        # After the end: only missing bytes within the declared length are accepted.
        data = data[: max(0, log.bytes_total - max(piece.at_byte, log.bytes_seen))]
    if not data:
        return
    at_line = piece.at_line + piece.data[:skip].count(b"\n")
    # A later piece leaves a gap: the agent's spool had to drop its middle.
    at_byte = max(piece.at_byte, log.bytes_seen)
    log.bytes_seen = at_byte + len(data)
    log.lines_seen = at_line + data.count(b"\n")
    if piece.is_dropped or (log.chunks >= MAX_CHUNKS and at_byte < HEAD_BYTES):
        return
    tx.execute(
        "insert into log_chunks (fence, at_byte, at_line, size, data, written_at)"
        " values (?, ?, ?, ?, ?, ?)",
        log.fence,
        at_byte,
        at_line,
        len(data),
        zlib.compress(data, 1),
        tx.now,
    )
    log.bytes_kept += len(data)
    log.chunks += 1


def _cut(tx: Tx, log: Log) -> None:
    """Drop the oldest chunks after the head until the rest fits."""
    while log.bytes_kept > MAX_KEPT_BYTES or log.chunks > MAX_CHUNKS:
        rows = tx.rows(
            "select at_byte, size from log_chunks where fence = ? and at_byte >= ?"
            " order by at_byte limit ?",
            log.fence,
            HEAD_BYTES,
            CUT_BATCH_SIZE,
        )
        if not rows:
            return
        for at_byte, size in rows:
            if log.bytes_kept <= MAX_KEPT_BYTES and log.chunks <= MAX_CHUNKS:
                return
            tx.execute("delete from log_chunks where fence = ? and at_byte = ?", log.fence, at_byte)
            log.bytes_kept -= size
            log.chunks -= 1


def _save(tx: Tx, log: Log) -> None:
    tx.execute(
        "update logs set bytes_seen = ?, bytes_kept = ?, lines_seen = ?, chunks = ?"
        " where fence = ?",
        log.bytes_seen,
        log.bytes_kept,
        log.lines_seen,
        log.chunks,
        log.fence,
    )


class LogEnd(msgspec.Struct):
    """The end of a stream, with its length and digest."""

    fence: int
    job_id: str
    bytes_total: int
    lines_total: int
    sha256: str
    customer_id: str = ""


def close(tx: Tx, closing: LogEnd) -> None:
    """Only the first end counts, and nothing is added beyond it."""
    tx.execute(
        "insert into logs (fence, job_id, customer_id, bytes_total, lines_total, sha256)"
        " values (?, ?, ?, ?, ?, ?) on conflict (fence) do update"
        " set bytes_total = excluded.bytes_total, lines_total = excluded.lines_total,"
        " sha256 = excluded.sha256 where logs.bytes_total is null",
        closing.fence,
        closing.job_id,
        closing.customer_id,
        closing.bytes_total,
        closing.lines_total,
        closing.sha256,
    )


# Chunks do not overlap: no earlier one can contain the byte. Without this limit, every part of a
# long log would be looked for from its beginning.
_CHUNK_BEFORE = (
    "coalesce((select max(b.at_byte) from log_chunks b where b.fence = ? and b.at_byte <= ?), 0)"
)


def chunks(
    tx: Tx, fence: int, start: int, limit: int = 32, most_bytes: int = MAX_READ
) -> list[Chunk]:
    """Chunks from the one that contains the byte `start`; at least one, otherwise up to
    `most_bytes`, because a slow client keeps them in memory."""
    rows = tx.all(
        Chunk,
        f"select {columns(Chunk)} from log_chunks where fence = ? and at_byte >= {_CHUNK_BEFORE}"
        " and at_byte + size > ? order by at_byte limit ?",
        *(fence, fence, start, start, limit),
    )
    sizes = accumulate(chunk.size for chunk in rows)
    rows = rows[: max(1, sum(size <= most_bytes for size in sizes))]
    for chunk in rows:
        chunk.data = zlib.decompress(chunk.data)
    return rows


def find_line(tx: Tx, fence: int, line: int) -> int:
    """Where the last chunk begins that has fewer than `line` lines before it; 0 if there is none.

    There is no index by line, but lines grow with bytes: the range of bytes is halved until it is
    short enough to read.
    """
    low, high = 0, int(tx.value("select max(at_byte) from log_chunks where fence = ?", fence) or 0)
    begin = 0
    while high - low > MAX_LINE_SCAN:
        middle = (low + high) // 2
        at_byte, at_line = _chunk_before(tx, fence, middle)
        if at_line < line:
            low, begin = middle, at_byte
        else:
            high = at_byte
    last = tx.value(
        "select max(at_byte) from log_chunks where fence = ? and at_byte between ? and ?"
        " and at_line < ?",
        *(fence, low, high, line),
    )
    return begin if last is None else int(last)


def _chunk_before(tx: Tx, fence: int, byte: int) -> tuple[int, int]:
    """Byte and line of the last chunk that begins at or before this byte."""
    row = tx.row(
        "select at_byte, at_line from log_chunks where fence = ? and at_byte <= ?"
        " order by at_byte desc limit 1",
        *(fence, byte),
    )
    return (0, 0) if row is None else (row[0], row[1])


def tail(tx: Tx, fence: int, size: int) -> bytes:
    """The last `size` stored bytes; gaps among and after them are marked."""
    log = find(tx, fence)
    rows = tx.rows(
        "select at_byte, data, size from log_chunks where fence = ? order by at_byte desc limit ?",
        fence,
        2 + size // 1024,
    )
    parts: list[bytes] = []
    missing, following = size, log.end if log is not None else 0
    for at_byte, data, length in rows:
        if missing <= 0:
            break
        if at_byte + length < following:
            parts.append(gap_text(at_byte + length, following))
        parts.append(zlib.decompress(data)[-missing:])
        missing, following = missing - length, at_byte
    if missing > 0 and following and _is_first(tx, fence, following):
        parts.append(gap_text(0, following))
    return b"".join(reversed(parts))


def _is_first(tx: Tx, fence: int, byte: int) -> bool:
    """Whether nothing before this byte is stored."""
    earlier = "select 1 from log_chunks where fence = ? and at_byte < ? limit 1"
    return tx.row(earlier, fence, byte) is None


def last_byte(tx: Tx, fence: int) -> bytes:
    """The last stored byte."""
    data = tx.value(
        "select data from log_chunks where fence = ? order by at_byte desc limit 1", fence
    )
    return b"" if data is None else zlib.decompress(data)[-1:]


def gap_text(start: int, end: int) -> bytes:
    """The text in place of missing bytes."""
    return f"\n[… {end - start} bytes were cut here: {start} to {end} …]\n".encode()


def delete(tx: Tx, job_ids: list[str]) -> None:
    """Delete the logs and artifacts of purged jobs."""
    ids = msgspec.json.encode(job_ids).decode()
    of_these = f"job_id in {tx.dialect.in_texts}"
    tx.execute(
        f"delete from log_chunks where fence in (select fence from logs where {of_these})", ids
    )
    for table in ("logs", "job_file_chunks", "job_files", "job_file_bytes"):
        tx.execute(f"delete from {table} where {of_these}", ids)


def pieces(rows: list[Chunk], start: int) -> Iterator[tuple[int, int, bytes]]:
    """(offset after, lines before, bytes), gaps marked, beginning at `start`."""
    at = start
    for chunk in rows:
        if chunk.at_byte > at:
            yield chunk.at_byte, chunk.at_line, gap_text(at, chunk.at_byte)
        skip = max(0, at - chunk.at_byte)
        lines = chunk.at_line + chunk.data[:skip].count(b"\n")
        at = chunk.at_byte + chunk.size
        yield at, lines, chunk.data[skip:]
