"""Files that a script leaves in `$BELVEDERE_FILES`: kept in the log store, by attempt.

The agent sends the bytes before the end, and the end is acknowledged after both are durable: a
job that is over has its files.
"""

import hashlib
import zlib
from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere.db import Tx, columns

# What one attempt may leave; the agent has the same numbers and is not believed.
MOST_FILES = 100
MOST_BYTES = 64 * 1024 * 1024
LONGEST_NAME = 200
# A piece counts for at least so much: many small ones cost rows instead of bytes.
LEAST_COST = 4 * 1024
# Everything that is stored for one attempt, with pieces that came again in another size.
MAX_STORED = MOST_BYTES + MOST_FILES * 64 * 1024


class OutFile(msgspec.Struct):
    """One file, in the order of the select."""

    fence: int
    number: int
    job_id: str
    name: str
    size: int
    bytes_kept: int
    sha256: str


class Piece(msgspec.Struct):
    """Some bytes of a file, as the agent sent them."""

    fence: int
    job_id: str
    number: int
    at_byte: int
    data: bytes
    customer_id: str = ""


def append(tx: Tx, pieces: list[Piece]) -> Sequence[int]:
    """Keep pieces; one that came before is skipped. What is beyond the limit of its attempt is
    dropped, whatever connection it came on; the end then shows that the file is not complete."""
    stored: dict[int, int] = {}
    for piece in pieces:
        if piece.fence not in stored:
            stored[piece.fence] = _stored(tx, piece.fence)
        cost = max(len(piece.data), LEAST_COST)
        if stored[piece.fence] + cost <= MAX_STORED and _insert(tx, piece):
            stored[piece.fence] += cost
            _count(tx, piece, cost)
    return [len(piece.data) for piece in pieces]


def _stored(tx: Tx, fence: int) -> int:
    return int(tx.value("select bytes from job_file_bytes where fence = ?", fence) or 0)


def _insert(tx: Tx, piece: Piece) -> bool:
    return bool(
        tx.execute(
            "insert into job_file_chunks (fence, number, at_byte, job_id, data)"
            " values (?, ?, ?, ?, ?) on conflict (fence, number, at_byte) do nothing",
            piece.fence,
            piece.number,
            piece.at_byte,
            piece.job_id,
            zlib.compress(piece.data, 1),
        )
    )


def _count(tx: Tx, piece: Piece, cost: int) -> None:
    tx.execute(
        "insert into job_file_bytes (fence, job_id, customer_id, bytes) values (?, ?, ?, ?)"
        " on conflict (fence) do update set bytes = job_file_bytes.bytes + excluded.bytes",
        piece.fence,
        piece.job_id,
        piece.customer_id,
        cost,
    )


def close(tx: Tx, fence: int, job_id: str, told: Sequence[Sequence[Any]]) -> None:
    """The end names them: from now on they are there. Safe to repeat; the first end counts."""
    if tx.value("select 1 from job_files where fence = ? limit 1", fence) is not None:
        return
    room, names = MOST_BYTES, set[str]()
    for number, one in enumerate(told[:MOST_FILES]):
        name, size = _checked(one)
        if not name or name in names:
            continue
        names.add(name)
        kept, sha256 = _digest(tx, fence, number, min(size, room))
        room -= kept
        tx.execute(
            f"insert into job_files ({columns(OutFile)}) values (?, ?, ?, ?, ?, ?, ?)"
            " on conflict (fence, number) do nothing",
            *(fence, number, job_id, name, size, kept, sha256),
        )


def _checked(one: Sequence[Any]) -> tuple[str, int]:
    """Name and size; no name where the agent says what no agent of ours would."""
    name, size = (*one, None, None)[:2]
    if not isinstance(name, str) or not isinstance(size, int) or not 0 <= size <= MOST_BYTES:
        return "", 0
    is_plain = name.isprintable() and "/" not in name and name not in ("", ".", "..")
    return (name, size) if is_plain and len(name.encode()) <= LONGEST_NAME else ("", 0)


def _digest(tx: Tx, fence: int, number: int, most: int) -> tuple[int, str]:
    """How many bytes are there without a gap, and their hash."""
    found = hashlib.sha256()
    at = 0
    while at < most:
        data = read(tx, fence, number, at)
        if not data:
            break
        found.update(data[: most - at])
        at += len(data)
    return min(at, most), found.hexdigest()


def read(tx: Tx, fence: int, number: int, at_byte: int) -> bytes:
    """The piece that begins at this byte; empty when there is none."""
    data = tx.value(
        "select data from job_file_chunks where fence = ? and number = ? and at_byte = ?",
        fence,
        number,
        at_byte,
    )
    return b"" if data is None else zlib.decompress(bytes(data))


def of_attempt(tx: Tx, fence: int) -> list[OutFile]:
    return tx.all(
        OutFile,
        f"select {columns(OutFile)} from job_files where fence = ? order by name, number",
        fence,
    )
