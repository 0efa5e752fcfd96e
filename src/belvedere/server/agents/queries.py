"""Database operations of an agent connection: session, permissions, cancel requests."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from belvedere import files, hosts
from belvedere.base.errors import Conflict
from belvedere.db import Tx
from belvedere.hosts import journal_warnings, restored
from belvedere.hosts.presence import highest_fence
from belvedere.jobs.attempts import Attempt, attempts_by_fence, live_attempts
from belvedere.jobs.lifecycle import order
from belvedere.jobs.output import log_store
from belvedere.jobs.recovery import restore, resync
from belvedere.legacy_agents import registration
from belvedere.monitors import watch_changes
from belvedere.protocol import Hello


class OpenedSession(NamedTuple):
    """Its number, what to stop and cancel, the jobs of the open attempts by fence, and the jobs of
    all attempts of this host that the hello names."""

    number: int
    resync: resync.ResyncResult
    open_jobs: dict[int, str]
    jobs: dict[int, str]
    # Whether the host has a list of monitors.
    has_monitors: bool


_HASH = re.compile(r"[0-9a-f]{64}")


def open_session(tx: Tx, host_id: str, hello: Hello, address: str) -> OpenedSession | Conflict:
    """Open a session. A refusal is returned, not raised, where the transaction must be
    committed."""
    host = hosts.for_agent(tx, host_id)
    before = restored.last_hello_of(host)
    doubtful_until = restored.doubtful_until(before, hello, tx.now)
    is_renewed = journal_warnings.is_renewed(before, hello, tx.now)
    # The host is locked: no further job is assigned meanwhile.
    attempts = live_attempts(tx, host_id)
    try:
        unknown_fence = restore.check_hello(tx, host_id, hello, before, attempts)
        session = hosts.open_session(tx, host, hello, address)
    except Conflict as refusal:
        return _note_refusal(tx, host_id, hello, refusal)
    registration.delete(tx, host_id)
    if not doubtful_until and _lacks_start(attempts, hello):
        doubtful_until = tx.now
    if doubtful_until or is_renewed:
        journal_warnings.note_rolled_back(tx, host_id)
    if unknown_fence:
        restore.hold_for_host(tx, host_id, unknown_fence)
    else:
        restore.compare(tx, host_id, hello, before)
    # Read again if this hello has shown that the database was restored.
    current = restored.last_hello(tx, host_id) if unknown_fence else before
    forgotten = restored.forgotten_up_to(before, current.restored_fence, hello)
    resync_result = resync.resync_host(
        tx, host_id, hello.journal_id, hello.entries, doubtful_until, forgotten, attempts
    )
    fences = [entry.fence for entry in hello.entries]
    by_fence = attempts_by_fence(tx, fences) if fences else {}
    own_attempts = {
        fence: attempt for fence, attempt in by_fence.items() if attempt.host_id == host_id
    }
    open_jobs = {
        fence: attempt.job_id for fence, attempt in own_attempts.items() if _is_open(tx, attempt)
    }
    return OpenedSession(
        session,
        resync_result,
        open_jobs,
        {fence: attempt.job_id for fence, attempt in own_attempts.items()},
        watch_changes.state(tx, host_id)[0] > 0,
    )


def close_session(tx: Tx, host_id: str, session: int, accepted_fence: int) -> None:
    """With the fences that the agent has accepted since they were last recorded: if its disk is
    rolled back now, its next hello must not count as evidence."""
    hosts.note_accepted(tx, [(host_id, session, accepted_fence)])
    hosts.end_session(tx, host_id, session)


def _lacks_start(attempts: Sequence[Attempt], hello: Hello) -> bool:
    """Whether an attempt has started from this journal that is above all fences in it. Accepted
    fences are recorded every few seconds; a start that was reported since proves the same."""
    highest, fences = highest_fence(hello), {entry.fence for entry in hello.entries}
    return any(
        attempt.started_at is not None
        and attempt.journal_id == hello.journal_id
        and attempt.fence > highest
        and attempt.fence not in fences
        for attempt in attempts
    )


def _note_refusal(tx: Tx, host_id: str, hello: Hello, refusal: Conflict) -> Conflict:
    """Store what a refused hello shows of its journal; any other refusal is raised."""
    match refusal.code:
        case "stale_hello" if hello.renews:
            journal_warnings.note_stale(tx, host_id, hello)
        case "stale_hello":
            hosts.doubt_journal(tx, host_id, hello.journal_id)
        case "fence_ahead":
            journal_warnings.note_refused(tx, host_id, refusal.message)
        case _:
            raise refusal
    return refusal


def _is_open(tx: Tx, attempt: Attempt) -> bool:
    """Whether reports are still accepted: it runs, or it is lost and no newer attempt was started.
    A finished attempt accepts neither output nor files."""
    if attempt.state != "lost":
        return attempt.state == "live"
    row = tx.value(
        "select 1 from jobs where id = ? and fence = ? and lifecycle = 'terminated'"
        " and state = 'lost'",
        attempt.job_id,
        attempt.fence,
    )
    return row is not None


def is_open(tx: Tx, host_id: str, fence: int) -> bool:
    """The same for one attempt of this host, read again."""
    attempt = attempts_by_fence(tx, [fence]).get(fence)
    return attempt is not None and attempt.host_id == host_id and _is_open(tx, attempt)


def resume(tx: Tx, fences: list[int]) -> dict[str, int]:
    logs = {fence: log_store.find(tx, fence) for fence in fences}
    return {str(fence): log.bytes_seen if log else 0 for fence, log in logs.items()}


def cancel_requests(tx: Tx, host_id: str) -> dict[int, bool]:
    """The assigned fences of a host, and whether their job is to be cancelled."""
    rows = tx.rows(
        "select fence, cancel_requested_at from jobs where host_id = ? and lifecycle = 'assigned'",
        host_id,
    )
    return {fence: at is not None for fence, at in rows}


def resolved_fences(tx: Tx, fences: list[int]) -> list[int]:
    """The fences whose result was set by a person: the agent's report is not needed any more."""
    attempts = attempts_by_fence(tx, fences)
    return [fence for fence, attempt in attempts.items() if attempt.state == "resolved"]


def content_for(tx: Tx, host_id: str, sha256: str) -> tuple[int, bytes] | None:
    """Size and first part of a content, if a job of this host needs it or it is a file of the
    host's organization. Knowing a hash alone gives no permission."""
    if not _HASH.fullmatch(sha256):
        return None
    if not _is_ordered(tx, host_id, sha256) and not _is_own_file(tx, host_id, sha256):
        return None
    size = files.size_of(tx, sha256)
    return None if size is None else (size, files.part_of(tx, sha256, 0))


def _is_ordered(tx: Tx, host_id: str, sha256: str) -> bool:
    """Whether an order of this host names the content as its script or as a file. The condition on
    the text only saves work: an argument that happens to be a hash gives no permission."""
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
    row = tx.row(
        "select 1 from file_versions v join files f on f.id = v.file_id"
        " join hosts h on h.customer_id = f.customer_id where v.sha256 = ? and h.id = ?",
        sha256,
        host_id,
    )
    return row is not None
