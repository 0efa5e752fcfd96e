"""Output of scripts: chunks by byte offset in the log store, the middle cut when it is long.

Offsets and line numbers count the stream as produced, also across the cut.
"""

import zlib
from collections.abc import Iterator, Sequence
from itertools import accumulate

import msgspec

from belvedere.base.errors import Unavailable
from belvedere.db import Tx, columns
from belvedere.db.crash import around_commit

KEEP = 16 * 1024 * 1024
KEEP_HEAD = 1024 * 1024
# Bytes that are read at once.
MAX_READ = 256 * 1024
# Pieces of one log: an agent that sends byte by byte fills the store with rows instead of bytes.
MAX_CHUNKS = 256 * 1024
# Pieces that are looked at together when the middle is cut.
CUT_AT_ONCE = 64


class Log(msgspec.Struct):
    """One attempt's log."""

    fence: int
    job_id: str
    # Bytes that arrived or were skipped so far: the next offset we lack.
    bytes_seen: int
    bytes_kept: int
    lines_seen: int
    bytes_total: int | None
    lines_total: int | None
    sha256: str | None
    chunks: int = 0

    @property
    def is_complete(self) -> bool:
        """Never without a digest: then the agent does not know how the output ended."""
        return bool(self.sha256) and self.bytes_kept == self.bytes_total

    @property
    def end(self) -> int:
        """Where the stream ends as produced, whether or not its last bytes arrived."""
        return max(self.bytes_seen, self.bytes_total or 0)

    @property
    def lines(self) -> int:
        """The newlines of the stream that are known of; more than arrived where its end did not."""
        is_cut = self.bytes_total is not None and self.bytes_total > self.bytes_seen
        return max(self.lines_seen, self.lines_total or 0) if is_cut else self.lines_seen


class Chunk(msgspec.Struct):
    at_byte: int
    at_line: int
    size: int
    data: bytes


class Output(msgspec.Struct):
    """A piece of a stream as the agent sent it."""

    fence: int
    job_id: str
    at_byte: int
    at_line: int
    data: bytes
    # So far the sender counts on what it sent before.
    after: int = 0
    customer_id: str = ""
    # The organization has no room for it: counted, and marked as missing.
    is_dropped: bool = False


def find(tx: Tx, fence: int) -> Log | None:
    return tx.one(Log, f"select {columns(Log)} from logs where fence = ?", fence)


def append(tx: Tx, pieces: list[Output]) -> Sequence[int | Exception]:
    """Add pieces in order; what was there already is skipped. The next offset for each piece.

    When a piece could not be written, those behind it may be on their way already. They are
    refused: kept, they would leave a gap for good, which looks like one of the agent's own.
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
        if log.bytes_kept > KEEP or log.chunks > MAX_CHUNKS:
            _cut(tx, log)
        _save(tx, log)
    around_commit(tx, "log")
    return [
        Unavailable("The output before it could not be stored.")
        if number in refused
        else logs[piece.fence].bytes_seen
        for number, piece in enumerate(pieces)
    ]


def _new(tx: Tx, piece: Output) -> Log:
    tx.execute(
        "insert into logs (fence, job_id, customer_id) values (?, ?, ?)",
        piece.fence,
        piece.job_id,
        piece.customer_id,
    )
    return Log(piece.fence, piece.job_id, 0, 0, 0, None, None, None)


def _add(tx: Tx, log: Log, piece: Output) -> None:
    skip = max(0, log.bytes_seen - piece.at_byte)
    data = piece.data[skip:]
    if log.bytes_total is not None:
        # It ended: only what its end declared and what is still missing is taken.
        data = data[: max(0, log.bytes_total - max(piece.at_byte, log.bytes_seen))]
    if not data:
        return
    at_line = piece.at_line + piece.data[:skip].count(b"\n")
    # A piece from further on leaves a gap: the agent's spool had to drop its middle.
    at_byte = max(piece.at_byte, log.bytes_seen)
    log.bytes_seen = at_byte + len(data)
    log.lines_seen = at_line + data.count(b"\n")
    if piece.is_dropped or (log.chunks >= MAX_CHUNKS and at_byte < KEEP_HEAD):
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
    while log.bytes_kept > KEEP or log.chunks > MAX_CHUNKS:
        rows = tx.rows(
            "select at_byte, size from log_chunks where fence = ? and at_byte >= ?"
            " order by at_byte limit ?",
            log.fence,
            KEEP_HEAD,
            CUT_AT_ONCE,
        )
        if not rows:
            return
        for at_byte, size in rows:
            if log.bytes_kept <= KEEP and log.chunks <= MAX_CHUNKS:
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


class Closing(msgspec.Struct):
    """The end of a stream: this is all there ever was of it."""

    fence: int
    job_id: str
    bytes_total: int
    lines_total: int
    sha256: str
    customer_id: str = ""


def close(tx: Tx, closing: Closing) -> None:
    """The first end counts. Later ones change nothing, and nothing is added beyond it."""
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


def chunks(
    tx: Tx, fence: int, start: int, limit: int = 32, most_bytes: int = MAX_READ
) -> list[Chunk]:
    """Chunks that hold or follow the byte `start`; at least one, and then no more than
    `most_bytes`, because a reader may keep them as long as it does not read."""
    rows = tx.all(
        Chunk,
        f"select {columns(Chunk)} from log_chunks where fence = ? and at_byte + size > ?"
        " order by at_byte limit ?",
        fence,
        start,
        limit,
    )
    sizes = accumulate(chunk.size for chunk in rows)
    rows = rows[: max(1, sum(size <= most_bytes for size in sizes))]
    for chunk in rows:
        chunk.data = zlib.decompress(chunk.data)
    return rows


def tail(tx: Tx, fence: int, size: int) -> bytes:
    """The last `size` bytes that are kept, what is missing among them and behind them marked."""
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
            parts.append(mark(at_byte + length, following))
        parts.append(zlib.decompress(data)[-missing:])
        missing, following = missing - length, at_byte
    if not rows and following:
        parts.append(mark(0, following))
    return b"".join(reversed(parts))


def last_byte(tx: Tx, fence: int) -> bytes:
    """The last byte that is kept."""
    data = tx.value(
        "select data from log_chunks where fence = ? order by at_byte desc limit 1", fence
    )
    return b"" if data is None else zlib.decompress(data)[-1:]


def mark(start: int, end: int) -> bytes:
    """What stands where a piece was cut out."""
    return f"\n[… {end - start} bytes were cut here: {start} to {end} …]\n".encode()


def forget(tx: Tx, job_ids: list[str]) -> None:
    """Drop the logs and files of purged jobs: a few statements for all of them."""
    ids = msgspec.json.encode(job_ids).decode()
    of_these = f"job_id in {tx.dialect.in_texts}"
    tx.execute(
        f"delete from log_chunks where fence in (select fence from logs where {of_these})", ids
    )
    for table in ("logs", "job_file_chunks", "job_files", "job_file_bytes"):
        tx.execute(f"delete from {table} where {of_these}", ids)


def pieces(found: list[Chunk], start: int) -> Iterator[tuple[int, int, bytes]]:
    """(offset after, lines before, bytes), gaps marked, beginning at `start`."""
    at = start
    for chunk in found:
        if chunk.at_byte > at:
            yield chunk.at_byte, chunk.at_line, mark(at, chunk.at_byte)
        skip = max(0, at - chunk.at_byte)
        lines = chunk.at_line + chunk.data[:skip].count(b"\n")
        at = chunk.at_byte + chunk.size
        yield at, lines, chunk.data[skip:]
