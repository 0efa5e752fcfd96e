"""Warnings of a host: why jobs are kept back after a restore, and what its journal has lost."""

import logging
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from belvedere import events
from belvedere.base.clock import DAY, MINUTE, Millis, iso_or_none
from belvedere.db import Tx
from belvedere.hosts.presence import journal_id_of
from belvedere.hosts.restored import LastHello
from belvedere.protocol import Hello

log = logging.getLogger("belvedere.agents")
# An agent whose hello is stale starts a new journal and connects again within this time.
RENEWAL_PERIOD: Millis = 10 * MINUTE
# A journal that went back is reported for this time: its jobs have to be checked by a person.
ROLLBACK_WARNING_PERIOD: Millis = 7 * DAY

Code = Literal["journal_refused", "journal_awaited", "jobs_held", "journal_rolled_back"]


class HostWarning(msgspec.Struct):
    """Why a host gets no jobs, or which of its jobs to check. `journal_refused`: the server refuses
    the agent, `message` says why. `journal_awaited`: the database has lost commits, and the host
    gets no job until its agent connects. `jobs_held`: `jobs` wait to be released after a restore.
    `journal_rolled_back`: the agent's disk was restored, and jobs of that time are lost."""

    code: Code
    since: str | None
    jobs: int = 0
    message: str = ""


def note_refused(tx: Tx, host_id: str, message: str) -> None:
    """The agent tries again every few seconds: only a new reason is written."""
    row = tx.row(
        "update hosts set journal_refused_at = ?, journal_message = ?"
        " where id = ? and journal_message <> ? and deleted_at is null"
        " returning customer_id, hostname",
        *(tx.now, message, host_id, message),
    )
    if row is None:
        return
    data = {"hostname": row[1], "message": message}
    events.append(tx, row[0], "host.journal_refused", host_id, data)
    tx.after_commit(
        lambda: log.warning("agent refused host=%s name=%s reason=%r", host_id, row[1], message)
    )


def note_stale(tx: Tx, host_id: str, hello: Hello) -> None:
    """The agent starts a new journal when it gets the refusal."""
    tx.execute(
        "update hosts set stale_hello_at = ? where id = ? and journal_id = ?",
        *(tx.now, host_id, journal_id_of(hello)),
    )


def is_renewed(before: LastHello, hello: Hello, now: Millis) -> bool:
    """Whether this new journal replaces one that was rolled back."""
    is_stale = (before.stale_hello_at or 0) > now - RENEWAL_PERIOD
    return is_stale and before.journal_id != journal_id_of(hello)


def note_rolled_back(tx: Tx, host_id: str) -> None:
    customer_id, hostname = tx.rows(
        "update hosts set rolled_back_at = ? where id = ? returning customer_id, hostname",
        *(tx.now, host_id),
    )[0]
    events.append(tx, customer_id, "host.journal_rolled_back", host_id, {"hostname": hostname})
    tx.after_commit(
        lambda: log.warning("agent's journal was rolled back host=%s name=%s", host_id, hostname)
    )


class _Row(msgspec.Struct):
    id: str
    journal_refused_at: Millis | None
    journal_message: str
    restored_at: Millis | None
    rolled_back_at: Millis | None
    is_awaited: int


# An agent that never connected has no journal, nor has a TheEye agent.
_IS_AWAITED = "restored_fence > 0 and compared_at is null and journal_id <> ''"


def for_hosts(
    tx: Tx, customer_id: str, host_ids: Sequence[str], held_jobs: Mapping[str, int]
) -> dict[str, list[HostWarning]]:
    """The warnings of those of these hosts that have any; `held_jobs` counts the jobs on hold."""
    since = tx.now - ROLLBACK_WARNING_PERIOD
    rows = tx.all(
        _Row,
        "select id, journal_refused_at, journal_message, restored_at,"
        " case when rolled_back_at > ? then rolled_back_at end,"
        f" case when {_IS_AWAITED} then 1 else 0 end from hosts"
        f" where customer_id = ? and id in {tx.dialect.in_texts}"
        " and (restored_fence > 0 or journal_refused_at is not null or rolled_back_at > ?)",
        since,
        customer_id,
        msgspec.json.encode(host_ids).decode(),
        since,
    )
    return {row.id: _warnings(row, held_jobs.get(row.id, 0)) for row in rows}


def _warnings(row: _Row, held_jobs: int) -> list[HostWarning]:
    warnings: list[HostWarning] = []
    if row.journal_refused_at is not None:
        since = iso_or_none(row.journal_refused_at)
        warnings.append(HostWarning("journal_refused", since, message=row.journal_message))
    elif row.is_awaited:
        warnings.append(HostWarning("journal_awaited", iso_or_none(row.restored_at)))
    if held_jobs:
        warnings.append(HostWarning("jobs_held", iso_or_none(row.restored_at), held_jobs))
    if row.rolled_back_at is not None:
        warnings.append(HostWarning("journal_rolled_back", iso_or_none(row.rolled_back_at)))
    return warnings


class JournalProblem(msgspec.Struct):
    """A host with its organization, for doctor."""

    hostname: str
    customer_name: str
    journal_refused_at: Millis | None
    journal_message: str
    rolled_back_at: Millis | None


def problems(tx: Tx) -> list[JournalProblem]:
    """Hosts of all organizations whose journal is refused or was rolled back."""
    return tx.all(
        JournalProblem,
        "select h.hostname, c.name, h.journal_refused_at, h.journal_message,"
        " case when h.rolled_back_at > ? then h.rolled_back_at end"
        " from hosts h join customers c on c.id = h.customer_id where h.deleted_at is null"
        " and (h.journal_refused_at is not null or h.rolled_back_at > ?) order by h.id",
        tx.now - ROLLBACK_WARNING_PERIOD,
        tx.now - ROLLBACK_WARNING_PERIOD,
    )
