"""Detects that the database has lost commits, by a restore of a backup or a failover of PostgreSQL,
and holds the jobs that may have run."""

import logging
from collections.abc import Sequence

import msgspec

from belvedere.base.clock import MINUTE, Millis, iso
from belvedere.base.errors import Conflict
from belvedere.db import Tx, installation
from belvedere.db.installation import epoch_of, newest_fence, raise_epoch, was_assigned
from belvedere.hosts import restored
from belvedere.hosts.presence import highest_fence
from belvedere.hosts.restored import LastHello
from belvedere.jobs.attempts import Attempt
from belvedere.jobs.recovery import hold
from belvedere.protocol import Hello

log = logging.getLogger("belvedere.restore")
# An agent's journal raises the epoch at most this often, and by at most this many: a hostile agent
# must not use up the numbers.
MIN_RAISE_INTERVAL: Millis = 10 * MINUTE
MAX_EPOCHS_AHEAD = 16
# What the first hello after a restore shows (hosts.restore_evidence).
ACCEPTED, RESTARTED, ROLLED_BACK = "accepted", "restarted", "rolled_back"
NOTHING_ACCEPTED, NO_JOURNAL = "nothing", "no_journal"
_EPOCH, _RAISED, _RESTORED = "fence_epoch", "fence_raised_at", "restored"
_TIMELINE = "timeline"


class Restore(msgspec.Struct):
    """The last restore, for doctor."""

    at: Millis
    # epoch: an admin raised it. journal: an agent has accepted a fence that the database lacks.
    evidence: str
    held_jobs: int
    host_id: str = ""


def was_restored(tx: Tx) -> bool:
    """Whether the epoch was raised since a server last ran (`belvedere mark-restored`)."""
    epoch = epoch_of(newest_fence(tx))
    stored = installation.read(tx, _EPOCH)
    if stored is not None:
        return int(stored) < epoch
    newest = tx.value("select max(fence) from attempts")
    if newest is not None and epoch_of(newest) < epoch:
        return True
    installation.write(tx, _EPOCH, str(epoch))
    return False


def mark_restored(tx: Tx) -> int:
    """Raise the epoch, so that the next start of a server holds jobs; returns the new epoch."""
    # The start compares with what is stored here.
    was_restored(tx)
    return epoch_of(raise_epoch(tx))


def mark_unless_marked(tx: Tx) -> None:
    """The server has detected a restore that `belvedere restore` may have marked already."""
    if not was_restored(tx):
        mark_restored(tx)


def record_timeline(tx: Tx, timeline: str) -> bool:
    """Store PostgreSQL's timeline; True if it has changed. Then no fence of a lost attempt is used
    again, and no agent gets a job before its journal was compared. The first server that detects
    the failover does this for all of them."""
    stored = installation.lock(tx, _TIMELINE)
    if stored == timeline:
        return False
    installation.write(tx, _TIMELINE, timeline)
    if stored is None:
        return False
    is_restored = was_restored(tx)
    fence = raise_epoch(tx)
    if not is_restored:
        # Raised by the server: its next start must not treat it as a restore.
        installation.write(tx, _EPOCH, str(epoch_of(fence)))
    restored.mark_failover(tx, fence)
    return True


def hold_after_restore(tx: Tx) -> Restore | None:
    """Before any agent connects: hold the jobs that may have run since the backup."""
    installation.lock(tx, _EPOCH)
    if not was_restored(tx):
        return None
    fence = newest_fence(tx)
    restored.mark(tx, fence)
    count = hold.hold(tx) + hold.end_queued_workflows(tx)
    installation.write(tx, _EPOCH, str(epoch_of(fence)))
    return _record(tx, Restore(tx.now, "epoch", count))


def check_hello(
    tx: Tx, host_id: str, hello: Hello, before: LastHello, attempts: Sequence[Attempt]
) -> int:
    """The fence that proves that the database is older than this journal, else 0. `attempts`: the
    live ones of the host."""
    fence = highest_fence(hello)
    is_settled = fence <= before.restored_fence and not before.is_failover
    if is_settled:
        return 0
    if _is_known(tx, host_id, fence, before):
        return fence if _has_lost_end(attempts, hello) else 0
    newest = newest_fence(tx)
    if epoch_of(fence) > epoch_of(newest) + MAX_EPOCHS_AHEAD:
        raise Conflict(
            f"The journal names fence {fence}, far above every fence of this server ({newest})."
            " If the database was restored, stop the server, run `belvedere mark-restored` and"
            " start it; otherwise remove the agent's state folder and enrol the host again.",
            code="fence_ahead",
        )
    if fence >= newest:
        _check_rate(tx)
    return fence


def _is_counted(tx: Tx, host_id: str, fence: int, before: LastHello) -> bool:
    """Whether the database has assigned this fence to the host."""
    if fence <= max(before.accepted_fence, before.given_fence):
        return True
    row = tx.row("select 1 from attempts where fence = ? and host_id = ?", fence, host_id)
    return row is not None


def _is_known(tx: Tx, host_id: str, fence: int, before: LastHello) -> bool:
    if _is_counted(tx, host_id, fence, before):
        return True
    # A database of an earlier version does not count: the attempt may have been deleted.
    is_counting = before.accepted_fence or before.given_fence or before.keeper_id
    # Not only above the newest fence: the journal of another host may have raised the epoch.
    if is_counting or before.is_failover or not was_assigned(tx, fence):
        return False
    return tx.row("select 1 from attempts where fence = ?", fence) is None


def _has_lost_end(attempts: Sequence[Attempt], hello: Hello) -> bool:
    """Whether the journal has accepted a fence and dropped it, which it does only after the end
    was committed, while the attempt is still open in the database."""
    dropped = {highest_fence(hello), *hello.acknowledged}
    dropped.difference_update(entry.fence for entry in hello.entries)
    return any(
        attempt.fence in dropped and attempt.journal_id == hello.journal_id for attempt in attempts
    )


def _check_rate(tx: Tx) -> None:
    raised_at = int(installation.read(tx, _RAISED) or 0)
    if 0 <= tx.now - raised_at < MIN_RAISE_INTERVAL:
        raise Conflict(
            f"The epoch of the fences was raised at {iso(raised_at)} because of an agent's report;"
            f" it can be raised again {MIN_RAISE_INTERVAL // MINUTE} minutes after that.",
            code="fence_ahead",
        )


def hold_for_host(tx: Tx, host_id: str, fence: int) -> Restore:
    """The host has accepted a fence that the database lacks: it was restored without `belvedere
    mark-restored`, or a failover lost commits. Only the jobs of this host are held; other hosts
    have their own journals."""
    newest = newest_fence(tx)
    if fence >= newest:
        newest = raise_epoch(tx, fence)
        installation.write(tx, _RAISED, str(tx.now))
        # Raised by the server: its next start must not treat it as another restore.
        installation.write(tx, _EPOCH, str(epoch_of(newest)))
    restored.mark(tx, newest, host_id)
    restored.note_compared(tx, host_id, ACCEPTED)
    return _record(tx, Restore(tx.now, "journal", hold.hold(tx, host_id), host_id))


def compare(tx: Tx, host_id: str, hello: Hello, before: LastHello) -> int:
    """Release the held jobs of a host that has certainly accepted nothing since the backup."""
    if not before.is_due:
        return 0
    evidence = _evidence(tx, host_id, hello, before)
    restored.note_compared(tx, host_id, evidence)
    return hold.release_proved(tx, host_id) if evidence == NOTHING_ACCEPTED else 0


def hold_without_journal(tx: Tx, host_id: str) -> None:
    """Before an agent without a journal claims jobs: nothing shows what it has run since the lost
    commits. After a failover its ready jobs are held; after a restore they are held already."""
    before = restored.last_hello(tx, host_id)
    if not before.is_due:
        return
    restored.note_compared(tx, host_id, NO_JOURNAL)
    count = hold.hold(tx, host_id) if before.is_failover else 0
    if count:
        tx.after_commit(lambda: _log(Restore(tx.now, "failover", count, host_id)))


def _evidence(tx: Tx, host_id: str, hello: Hello, before: LastHello) -> str:
    """What the journal shows about the time since the backup."""
    fence = highest_fence(hello)
    if fence < before.accepted_fence:
        return ROLLED_BACK
    if not _is_counted(tx, host_id, fence, before):
        return ACCEPTED
    return NOTHING_ACCEPTED if restored.is_continuous(before, hello) else RESTARTED


def _record(tx: Tx, event: Restore) -> Restore:
    installation.write(tx, _RESTORED, msgspec.json.encode(event).decode())
    tx.after_commit(lambda: _log(event))
    return event


def _log(event: Restore) -> None:
    log.warning(
        "database lost commits; jobs that may have run are held, see"
        " `belvedere job held` evidence=%s held=%s host=%s",
        event.evidence,
        event.held_jobs,
        event.host_id,
    )


def last_restore(tx: Tx) -> Restore | None:
    value = installation.read(tx, _RESTORED)
    return None if value is None else msgspec.json.decode(value, type=Restore)
