"""What an agent's link asks the database: who it is, what it may have, what is wanted of it."""

import re

from belvedere import files, hosts
from belvedere.base.errors import Conflict
from belvedere.db import Tx
from belvedere.hosts import restored
from belvedere.jobs.attempts import Attempt, attempts_by_fence
from belvedere.jobs.lifecycle import order, resync
from belvedere.jobs.output import log_store as joblog
from belvedere.jobs.recovery import restore
from belvedere.legacy_agents import registration
from belvedere.protocol import Hello

_HASH = re.compile(r"[0-9a-f]{64}")


def greet(
    tx: Tx, host_id: str, hello: Hello, address: str
) -> tuple[int, resync.Reunion, dict[int, str], dict[int, str]] | Conflict:
    """Open a session: its number, what to stop and cancel, the jobs of attempts that are open, and
    of all that the agent named and had. A refusal is returned, not raised, where it leaves a mark
    that must last."""
    doubtful_until = hosts.doubtful_until(tx, host_id, hello)
    before = restored.known(tx, host_id)
    unknown_fence = restore.check_hello(tx, host_id, hello, before)
    try:
        session = hosts.connect(tx, host_id, hello, address)
    except Conflict as refusal:
        if refusal.code != "stale_hello":
            raise
        if not hello.renews:
            hosts.doubt_journal(tx, host_id, hello.journal_id)
        return refusal
    registration.delete(tx, host_id)
    if unknown_fence:
        restore.settle_host(tx, host_id, unknown_fence)
    else:
        restore.compare(tx, host_id, hello, before)
    forgotten = _forgotten_up_to(tx, host_id, hello, before)
    told = resync.reunite(tx, host_id, hello.journal_id, hello.entries, doubtful_until, forgotten)
    fences = [entry.fence for entry in hello.entries]
    held = attempts_by_fence(tx, fences)
    mine = {fence: one for fence, one in held.items() if one.host_id == host_id}
    ready = {fence: one.job_id for fence, one in mine.items() if _is_open(tx, one)}
    return session, told, ready, {fence: one.job_id for fence, one in mine.items()}


def _forgotten_up_to(tx: Tx, host_id: str, hello: Hello, before: restored.Known) -> int:
    # Read again: this hello may have shown that the database was restored.
    restored_fence = restored.known(tx, host_id).restored_fence
    return restored.forgotten_up_to(before, restored_fence, hello)


def _is_open(tx: Tx, attempt: Attempt) -> bool:
    """Whether anything more may be said of it: it runs, or it was given up and nothing newer was
    started. What is over accepts neither output nor files."""
    if attempt.state != "lost":
        return attempt.state == "live"
    found = tx.value(
        "select 1 from jobs where id = ? and fence = ? and lifecycle = 'terminated'"
        " and state = 'lost'",
        attempt.job_id,
        attempt.fence,
    )
    return found is not None


def is_open(tx: Tx, host_id: str, fence: int) -> bool:
    """The same for one attempt of this host, asked again later."""
    attempt = attempts_by_fence(tx, [fence]).get(fence)
    return attempt is not None and attempt.host_id == host_id and _is_open(tx, attempt)


def resume(tx: Tx, fences: list[int]) -> dict[str, int]:
    found = {fence: joblog.find(tx, fence) for fence in fences}
    return {str(fence): log.bytes_seen if log else 0 for fence, log in found.items()}


def wishes(tx: Tx, host_id: str) -> dict[int, bool]:
    """Fences that the server waits for, and whether they are to be cancelled."""
    rows = tx.rows(
        "select fence, cancel_requested_at from jobs where host_id = ? and lifecycle = 'assigned'",
        host_id,
    )
    return {fence: at is not None for fence, at in rows}


def settled_fences(tx: Tx, fences: list[int]) -> list[int]:
    """Those whose attempt a person has settled: nobody waits for them any more."""
    found = attempts_by_fence(tx, fences)
    return [fence for fence, attempt in found.items() if attempt.state == "resolved"]


def content_for(tx: Tx, host_id: str, sha256: str) -> tuple[int, bytes] | None:
    """What the work of this host needs, or a file of its own organization: its size and its first
    part. To know a hash is no right to what is behind it."""
    if not _HASH.fullmatch(sha256):
        return None
    if not _is_ordered(tx, host_id, sha256) and not _is_own_file(tx, host_id, sha256):
        return None
    size = files.size_of(tx, sha256)
    return None if size is None else (size, files.part_of(tx, sha256, 0))


def _is_ordered(tx: Tx, host_id: str, sha256: str) -> bool:
    """Whether an order that this host holds names the content as its script or as a file. The
    condition on the text only saves work: an argument that happens to be a hash gives no right."""
    rows = tx.rows(
        "select script_sha256, arguments from jobs where host_id = ? and lifecycle = 'assigned'"
        " and (script_sha256 = ? or arguments like ?)",
        host_id,
        sha256,
        f'%"{sha256}"%',
    )
    return any(
        script == sha256 or sha256 in order.file_hashes(arguments) for script, arguments in rows
    )


def _is_own_file(tx: Tx, host_id: str, sha256: str) -> bool:
    found = tx.row(
        "select 1 from file_versions v join files f on f.id = v.file_id"
        " join hosts h on h.customer_id = f.customer_id where v.sha256 = ? and h.id = ?",
        sha256,
        host_id,
    )
    return found is not None
