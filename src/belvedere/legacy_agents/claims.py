"""Claiming jobs for a TheEye agent: operations over one transaction."""

from collections.abc import Sequence

from belvedere.access.actor import Actor
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Forbidden
from belvedere.db import Tx
from belvedere.jobs.attempts import live_attempts
from belvedere.jobs.lifecycle import claim
from belvedere.jobs.lifecycle.finish import ReceivedReport, finish
from belvedere.jobs.lifecycle.legacy_orders import (
    LegacyJob,
    config_update_job,
    legacy_job,
    unsupported_reason,
)
from belvedere.jobs.recovery import restore, resync
from belvedere.legacy_agents import registration
from belvedere.monitors import watch_changes
from belvedere.protocol import Report
from belvedere.tasks import store as tasks

NEEDS_OWN_AGENT = "needs_own_agent"


def has_work(tx: Tx, host_id: str) -> bool:
    """Whether `claim_jobs` may return anything; a read is cheaper than an empty write."""
    ready = tx.value(
        "select 1 from jobs where host_id = ? and lifecycle = 'ready' and not_before_at <= ?"
        " limit 1",
        host_id,
        tx.now,
    )
    return ready is not None or _is_update_due(tx, host_id)


def _is_update_due(tx: Tx, host_id: str) -> bool:
    number = watch_changes.numbers(tx, [host_id]).get(host_id, 0)
    return registration.is_update_due(tx, host_id, number)


def claim_jobs(tx: Tx, host_id: str, base_url: str, keys: Keyring) -> list[LegacyJob]:
    """The order to read a new configuration if there is one, and as many jobs as it has slots."""
    registration.require_registered(tx, host_id)
    jobs = []
    if _is_update_due(tx, host_id):
        jobs.append(config_update_job(registration.order_update(tx, host_id), host_id))
    return jobs + _claim(tx, host_id, base_url, keys)


def claim_jobs_of_task(
    tx: Tx, actor: Actor, host_id: str, base_url: str, keys: Keyring, task_id: str, limit: int
) -> list[LegacyJob]:
    """Jobs of one task, which must run on this host."""
    if tasks.find(tx, actor.customer_id, task_id).host_id != host_id:
        raise Forbidden("The task belongs to another host.", code="other_host")
    registration.require_registered(tx, host_id)
    return _claim(tx, host_id, base_url, keys, task_id, limit)


def _claim(
    tx: Tx,
    host_id: str,
    base_url: str,
    keys: Keyring,
    task_id: str | None = None,
    limit: int | None = None,
) -> list[LegacyJob]:
    restore.hold_without_journal(tx, host_id)
    session = tx.value("select session from hosts where id = ?", host_id)
    claimed = claim.claim(tx, host_id, session, task_id, limit)
    refused = [
        ReceivedReport(host_id, item.job.fence, _error_report(reason))
        for item in claimed
        if (reason := unsupported_reason(item))
    ]
    finish(tx, refused)
    fences = {item.fence for item in refused}
    return [
        legacy_job(tx, item, base_url, keys) for item in claimed if item.job.fence not in fences
    ]


def _error_report(reason: str) -> Report:
    message = f"The agent of this host is a TheEye agent: {reason}."
    return Report(ending="error", reason=NEEDS_OWN_AGENT, message=message, log="")


def return_unsent(tx: Tx, host_id: str, job_ids: Sequence[str]) -> None:
    """The agent disconnected before a byte was sent, so it has none of these jobs."""
    resync.return_unsent(tx, host_id, job_ids)


def end_former_attempts(tx: Tx, host_id: str, journal_id: str) -> None:
    """The agent was restarted: jobs that its former process ran will never be reported."""
    report = Report(ending="unknown", reason="agent_restarted")
    attempts = live_attempts(tx, host_id)
    finish(
        tx,
        [
            ReceivedReport(host_id, attempt.fence, report)
            for attempt in attempts
            if attempt.journal_id != journal_id
        ],
    )
