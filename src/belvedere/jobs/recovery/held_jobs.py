"""The jobs that are held after a restore, each with what its host has shown about it."""

from typing import Literal

import msgspec

from belvedere.access import Level, require
from belvedere.access.actor import Actor
from belvedere.base.clock import iso, iso_or_none
from belvedere.db import Tx
from belvedere.jobs.recovery import restore
from belvedere.jobs.recovery.hold import HELD_AFTER_RESTORE

MAX_LIMIT = 500
DEFAULT_LIMIT = 100

Evidence = Literal["awaited", "no_journal", "accepted", "restarted", "rolled_back"]


class HeldJob(msgspec.Struct):
    """A job that may have run after the backup. `evidence`: `awaited`, the agent has not connected
    since the restore; `no_journal`, the agent keeps no journal or never connected; `accepted`, the
    host has accepted jobs after the backup; `restarted`, the process that knows what ran was
    restarted since; `rolled_back`, the host itself was restored too."""

    id: str
    name: str
    task_id: str | None
    workflow_job_id: str | None
    host_id: str | None
    hostname: str
    origin: str
    username: str
    script_filename: str | None
    # Attempts before the backup.
    attempts: int
    creation_date: str
    evidence: Evidence
    # When the agent connected for the first time after the restore.
    compared_at: str | None


class HeldJobs(msgspec.Struct):
    """Oldest first; `total` counts all of the organization."""

    jobs: list[HeldJob]
    total: int
    restored_at: str | None


class _Row(msgspec.Struct):
    id: str
    name: str
    task_id: str | None
    workflow_job_id: str | None
    host_id: str | None
    origin: str
    username: str
    script_filename: str | None
    attempts: int
    created_at: int
    hostname: str | None
    restore_evidence: str | None
    compared_at: int | None
    journal_id: str | None


def list_held(tx: Tx, actor: Actor, after: str, limit: int) -> HeldJobs:
    """For those who may release them."""
    require(actor, Level.ADMIN)
    where = f"from jobs j where {HELD_AFTER_RESTORE} and j.customer_id || '' = ?"
    rows = tx.all(
        _Row,
        "select j.id, j.name, j.task_id, j.workflow_job_id, j.host_id, j.origin, j.username,"
        " j.script_filename, j.attempts, j.created_at, h.hostname, h.restore_evidence,"
        " h.compared_at, h.journal_id"
        f" {where.replace('jobs j', 'jobs j left join hosts h on h.id = j.host_id')}"
        " and j.id > ? order by j.id limit ?",
        *(actor.customer_id, after, limit),
    )
    total = int(tx.value(f"select count(*) {where}", actor.customer_id))
    last = restore.last_restore(tx)
    jobs = [_held_job(row) for row in rows]
    return HeldJobs(jobs, total, None if last is None else iso(last.at))


def _held_job(row: _Row) -> HeldJob:
    return HeldJob(
        row.id,
        row.name,
        row.task_id,
        row.workflow_job_id,
        row.host_id,
        row.hostname or "",
        row.origin,
        row.username,
        row.script_filename,
        row.attempts,
        iso(row.created_at),
        _evidence(row),
        iso_or_none(row.compared_at),
    )


def _evidence(row: _Row) -> Evidence:
    if row.compared_at is None:
        return "awaited" if row.journal_id else "no_journal"
    match row.restore_evidence:
        case "accepted" | "rolled_back" | "no_journal":
            return row.restore_evidence
        case _:
            # Also a comparison by an earlier version, which did not store its result.
            return "restarted"
