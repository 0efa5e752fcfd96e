"""What a host's journal proves after the database has lost its last commits: it was restored from a
backup, or another PostgreSQL took over."""

from collections.abc import Sequence

import msgspec

from belvedere import events
from belvedere.base.clock import Millis
from belvedere.db import Tx, columns
from belvedere.hosts.model import AgentHostRow
from belvedere.hosts.presence import highest_fence, journal_id_of
from belvedere.protocol import Hello

# The lost commits may have opened sessions; their numbers must not be used again.
SESSION_GAP = 1_000


class LastHello(msgspec.Struct):
    """The record of the last hello, in the order of the select."""

    journal_id: str = ""
    greeting: int = 0
    keeper_id: str = ""
    accepted_fence: int = 0
    given_fence: int = 0
    restored_fence: int = 0
    restored_at: Millis | None = None
    compared_at: Millis | None = None
    doubted_at: Millis | None = None
    stale_hello_at: Millis | None = None

    @property
    def is_due(self) -> bool:
        """Whether the next hello is the first one since the database lost commits."""
        return self.restored_fence > 0 and self.compared_at is None

    @property
    def is_failover(self) -> bool:
        """Whether that was a failover: the host itself was not restored with it."""
        return self.is_due and self.restored_at is None


def last_hello(tx: Tx, host_id: str) -> LastHello:
    """The record before the current hello is written, locked: a restore that is noticed meanwhile
    must not be missed."""
    row = tx.row(
        f"select {columns(LastHello)} from hosts where id = ?{tx.dialect.lock_rows}", host_id
    )
    return LastHello() if row is None else LastHello(*row)


def last_hello_of(host: AgentHostRow) -> LastHello:
    """The same record, of a host that was read with it."""
    return LastHello(*[getattr(host, name) for name in LastHello.__struct_fields__])


def is_continuous(before: LastHello, hello: Hello) -> bool:
    """Whether the same process has held the journal since the last hello in the database: then
    nothing that it has accepted since can be missing."""
    is_same = before.keeper_id != "" and before.keeper_id == hello.keeper_id
    return is_same and before.journal_id == hello.journal_id and hello.greeting > before.greeting


def doubtful_until(before: LastHello, hello: Hello, now: Millis) -> Millis:
    """Attempts claimed up to this time may have been accepted although this journal lacks them,
    because it was rolled back (the disk restored from a snapshot); 0 for a consistent journal."""
    if before.journal_id != journal_id_of(hello):
        return 0
    return now if highest_fence(hello) < before.accepted_fence else before.doubted_at or 0


def forgotten_up_to(before: LastHello, restored_fence: int, hello: Hello) -> int:
    """The fence up to which the host may have run attempts whose start or end the database has
    lost; 0 if it lost nothing. A journal that was certainly not rolled back has accepted nothing
    above its highest fence."""
    if before.is_failover or is_continuous(before, hello):
        return min(highest_fence(hello), restored_fence)
    return restored_fence


def mark(tx: Tx, fence: int, host_id: str | None = None) -> int:
    """The database was restored: an attempt below the fence may have run even if it is not in the
    journal. Marks one host, whose session has just been opened, or all; then every session becomes
    invalid, also those of another server that still runs."""
    condition, params = ("", ()) if host_id is None else (" and id = ?", (host_id,))
    rows = tx.rows(
        "update hosts set restored_at = ?, restored_fence = ?, session = session + ?,"
        f" compared_at = null, restore_evidence = '' where deleted_at is null{condition}"
        " returning customer_id, id, hostname",
        *(tx.now, fence, SESSION_GAP if host_id is None else 0, *params),
    )
    events.append_all(
        tx, "host.restored", [(customer, host, {"hostname": name}) for customer, host, name in rows]
    )
    return len(rows)


def mark_failover(tx: Tx, fence: int) -> None:
    """Another PostgreSQL took over. All sessions become invalid: each agent reconnects, and its
    journal is compared before it gets a job."""
    tx.execute(
        "update hosts set restored_fence = ?, session = session + ?, connected_at = null,"
        # Do not overwrite a restore that was not compared yet.
        " restored_at = case when compared_at is null then restored_at end, compared_at = null,"
        " restore_evidence = ''"
        " where deleted_at is null",
        fence,
        SESSION_GAP,
    )


def note_compared(tx: Tx, host_id: str, evidence: str) -> None:
    """What the journal has shown is displayed with the held jobs of the host."""
    tx.execute(
        "update hosts set compared_at = ?, restore_evidence = ? where id = ?",
        *(tx.now, evidence, host_id),
    )


def note_deleted(tx: Tx, fences: Sequence[tuple[str, int]]) -> None:
    """(host, fence): the highest fence of its attempts that are deleted from the history now."""
    tx.update_many(
        "update hosts set given_fence = ? where id = ? and given_fence < ? and accepted_fence < ?",
        [(fence, host_id, fence, fence) for host_id, fence in fences],
    )
