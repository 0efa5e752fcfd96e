"""Artifacts: files that a script leaves in `$BELVEDERE_FILES`, in the log store, by attempt.

The agent sends the files before the report of the end, which is acknowledged after both are
durable: a job that has ended has its files.
"""

import hashlib
import zlib
from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere.db import Tx, columns

# Limits per attempt; the agent has the same ones, but the server enforces them.
MAX_FILES = 100
MAX_BYTES = 64 * 1024 * 1024
MAX_NAME_BYTES = 200
# A piece counts as at least this many bytes, because many small pieces cost rows.
MIN_PIECE_COST = 4 * 1024
# Everything that is stored for one attempt, including pieces that were sent again in another size.
MAX_STORED = MAX_BYTES + MAX_FILES * 64 * 1024


class Artifact(msgspec.Struct):
    """One file, in the order of the select."""

    fence: int
    number: int
    job_id: str
    name: str
    size: int
    bytes_kept: int
    sha256: str


class ArtifactPiece(msgspec.Struct):
    """Some bytes of a file, as the agent sent them."""

    fence: int
    job_id: str
    number: int
    at_byte: int
    data: bytes
    customer_id: str = ""


def append(tx: Tx, pieces: list[ArtifactPiece]) -> Sequence[int]:
    """Store pieces; repeated ones are skipped. Pieces beyond the limit of their attempt are
    dropped, whatever connection they use; the file is then not complete."""
    stored: dict[int, int] = {}
    for piece in pieces:
        if piece.fence not in stored:
            stored[piece.fence] = _stored(tx, piece.fence)
        cost = max(len(piece.data), MIN_PIECE_COST)
        if stored[piece.fence] + cost <= MAX_STORED and _insert(tx, piece):
            stored[piece.fence] += cost
            _count(tx, piece, cost)
    return [len(piece.data) for piece in pieces]


def _stored(tx: Tx, fence: int) -> int:
    return int(tx.value("select bytes from job_file_bytes where fence = ?", fence) or 0)


def _insert(tx: Tx, piece: ArtifactPiece) -> bool:
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


def _count(tx: Tx, piece: ArtifactPiece, cost: int) -> None:
    tx.execute(
        "insert into job_file_bytes (fence, job_id, customer_id, bytes) values (?, ?, ?, ?)"
        " on conflict (fence) do update set bytes = job_file_bytes.bytes + excluded.bytes",
        piece.fence,
        piece.job_id,
        piece.customer_id,
        cost,
    )


def close(tx: Tx, fence: int, job_id: str, files: Sequence[Sequence[Any]]) -> None:
    """The report of the end lists the files: they are visible now. Only the first report counts."""
    if tx.value("select 1 from job_files where fence = ? limit 1", fence) is not None:
        return
    bytes_left, names = MAX_BYTES, set[str]()
    for number, file in enumerate(files[:MAX_FILES]):
        name, size = _validate(file)
        if not name or name in names:
            continue
        names.add(name)
        bytes_kept, sha256 = _digest(tx, fence, number, min(size, bytes_left))
        bytes_left -= bytes_kept
        tx.execute(
            f"insert into job_files ({columns(Artifact)}) values (?, ?, ?, ?, ?, ?, ?)"
            " on conflict (fence, number) do nothing",
            *(fence, number, job_id, name, size, bytes_kept, sha256),
        )


def _validate(file: Sequence[Any]) -> tuple[str, int]:
    """Name and size; an empty name if the agent's data is invalid."""
    name, size = (*file, None, None)[:2]
    if not isinstance(name, str) or not isinstance(size, int) or not 0 <= size <= MAX_BYTES:
        return "", 0
    is_plain = name.isprintable() and "/" not in name and name not in ("", ".", "..")
    return (name, size) if is_plain and len(name.encode()) <= MAX_NAME_BYTES else ("", 0)


def _digest(tx: Tx, fence: int, number: int, limit: int) -> tuple[int, str]:
    """The number of bytes without a gap, and their hash."""
    digest = hashlib.sha256()
    at = 0
    while at < limit:
        data = read(tx, fence, number, at)
        if not data:
            break
        digest.update(data[: limit - at])
        at += len(data)
    return min(at, limit), digest.hexdigest()


def read(tx: Tx, fence: int, number: int, at_byte: int) -> bytes:
    """The piece that begins at this byte; empty if there is none."""
    data = tx.value(
        "select data from job_file_chunks where fence = ? and number = ? and at_byte = ?",
        fence,
        number,
        at_byte,
    )
    return b"" if data is None else zlib.decompress(bytes(data))


def for_attempt(tx: Tx, fence: int) -> list[Artifact]:
    return tx.all(
        Artifact,
        f"select {columns(Artifact)} from job_files where fence = ? order by name, number",
        fence,
    )
