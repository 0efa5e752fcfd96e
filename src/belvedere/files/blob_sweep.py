"""Deletes contents that nothing refers to any more.

A sweep has three phases, each in small transactions: find contents that no file needs (`blobs`),
keep those that a job names (`jobs`, read by the caller, because jobs are above files), delete the
rest (`delete`). Storing a
content first records the time (`store.note_use`), and only contents that were not stored for a day
are deleted, so an upload of the same bytes never loses them.
"""

import hashlib
from collections.abc import Collection
from typing import Final

import msgspec

from belvedere.base.clock import DAY, HOUR, Millis
from belvedere.db import Tx, columns
from belvedere.files import store

# How long a content is kept after it was last stored, and a deleted file after its deletion. Longer
# than `store.NOTE_EVERY` and any transaction together.
GRACE: Millis = DAY
# Between two sweeps.
PAUSE: Millis = HOUR
# Contents that one transaction checks, or deletes (each may have 32 MiB); candidates of a sweep.
BATCH, MAX_DELETED, MAX_CANDIDATES = 500, 10, 1_000
# In place of the content of a deleted file, whose row stays because deleted tasks name it.
EMPTY: Final = hashlib.sha256(b"").hexdigest()


class Sweep(msgspec.Struct):
    """The progress of the sweep."""

    phase: str
    blob_position: str
    job_position: str
    ended_at: Millis


_NEEDED = (
    "exists (select 1 from file_versions v join files f on f.id = v.file_id"
    " where v.sha256 = {0} and (f.deleted_at is null or f.deleted_at > ?))"
)


def is_due(tx: Tx) -> bool:
    sweep = _read(tx, "")
    is_over = sweep.phase == "blobs" and not sweep.blob_position
    return not is_over or sweep.ended_at + PAUSE <= tx.now


def current(tx: Tx) -> Sweep:
    """Locked until the end of the transaction: only one server sweeps at a time."""
    return _read(tx, tx.dialect.lock_rows)


def _read(tx: Tx, lock: str) -> Sweep:
    sweep = tx.one(Sweep, f"select {columns(Sweep)} from blob_sweep where id = 1{lock}")
    assert sweep is not None, "the migration writes the row"
    return sweep


def save(tx: Tx, sweep: Sweep) -> None:
    tx.execute(
        "update blob_sweep set phase = ?, blob_position = ?, job_position = ?, ended_at = ?"
        " where id = 1",
        *msgspec.structs.astuple(sweep),
    )


def find_batch(tx: Tx, sweep: Sweep) -> None:
    """Check the next contents; with enough candidates, or at the end, the jobs phase follows."""
    rows = tx.rows(
        f"select sha256 from blobs where sha256 > ? order by sha256 limit {BATCH}",
        sweep.blob_position,
    )
    is_end = len(rows) < BATCH
    if rows:
        _add_candidates(tx, sweep.blob_position, rows[-1][0])
    sweep.blob_position = "" if is_end else rows[-1][0]
    count = tx.value("select count(*) from blob_candidates")
    if count and (is_end or count >= MAX_CANDIDATES):
        sweep.phase, sweep.job_position = "jobs", ""
    elif is_end:
        sweep.ended_at = tx.now


def _add_candidates(tx: Tx, after: str, last: str) -> None:
    # Contents that were stored before this table existed count as stored now.
    tx.execute(
        "insert into blob_uses (sha256, used_at) select sha256, cast(? as bigint) from blobs"
        " where sha256 > ? and sha256 <= ? on conflict (sha256) do nothing",
        *(tx.now, after, last),
    )
    tx.execute(
        "insert into blob_candidates (sha256, used_at) select b.sha256, u.used_at from blobs b"
        " join blob_uses u on u.sha256 = b.sha256 where b.sha256 > ? and b.sha256 <= ?"
        f" and b.sha256 <> ? and u.used_at < ? and not {_NEEDED.format('b.sha256')}"
        " on conflict (sha256) do nothing",
        *(after, last, EMPTY, tx.now - GRACE, tx.now - GRACE),
    )


def keep(tx: Tx, digests: Collection[str]) -> None:
    """Remove contents from the candidates because jobs refer to them."""
    tx.execute_many(
        "delete from blob_candidates where sha256 = ?", [(digest,) for digest in sorted(digests)]
    )


def delete_batch(tx: Tx, sweep: Sweep) -> None:
    rows = tx.rows(
        f"select sha256, used_at from blob_candidates order by sha256 limit {MAX_DELETED}"
    )
    for sha256, used_at in rows:
        if not _is_needed(tx, sha256) and _claim(tx, sha256, used_at):
            _delete(tx, sha256)
    keep(tx, [sha256 for sha256, _ in rows])
    if len(rows) < MAX_DELETED:
        sweep.phase = "blobs"
        sweep.ended_at = sweep.ended_at if sweep.blob_position else tx.now


def _is_needed(tx: Tx, sha256: str) -> bool:
    sql = f"select 1 where {_NEEDED.format('cast(? as text)')}"
    return tx.row(sql, sha256, tx.now - GRACE) is not None


def _claim(tx: Tx, sha256: str, used_at: Millis) -> bool:
    """Whether it was not stored again since it became a candidate. Independent of the clock. A
    transaction that is about to store it waits for this one and then stores the content again."""
    sql = "delete from blob_uses where sha256 = ? and used_at = ?"
    return tx.execute(sql, sha256, used_at) == 1


def _delete(tx: Tx, sha256: str) -> None:
    """With the versions of deleted files, and what it counts for the quota."""
    tx.execute("delete from file_versions where sha256 = ?", sha256)
    store.store_content(tx, b"")
    tx.execute("update files set sha256 = ?, size = 0 where sha256 = ?", EMPTY, sha256)
    tx.execute("delete from argument_files where sha256 = ?", sha256)
    tx.execute("delete from blobs where sha256 = ?", sha256)
