"""Reports for attempts that are over. One that says something else is kept as evidence, in a table
of its own and in the audit; it is never shown as the job's result or log."""

import dataclasses
import hashlib
from collections.abc import Sequence
from typing import Any

from belvedere.access import audit
from belvedere.access.actor import Actor, Level
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.jobs import store
from belvedere.jobs.attempts import Attempt
from belvedere.jobs.lifecycle.verdict import result_of
from belvedere.jobs.model import JobRow
from belvedere.protocol import Report

# Different reports that are kept of one attempt, and characters of their texts.
MAX_LATE_REPORTS = 5
MAX_TEXT = 4_000

Late = tuple[JobRow, Attempt, Report]


def keep(tx: Tx, late: Sequence[Late]) -> None:
    for job, attempt, report in late:
        written = store.encode(report).decode()
        if not _is_repeated(tx, job, attempt, report, written) and _has_room(tx, attempt.fence):
            _keep(tx, job, attempt, report, written)


def _is_repeated(tx: Tx, job: JobRow, attempt: Attempt, report: Report, written: str) -> bool:
    """Whether it is the report that counted: an agent that was not acknowledged repeats it."""
    known = tx.value("select report from attempts where fence = ?", attempt.fence)
    if known is not None or job.fence != attempt.fence:
        return bool(known == written)
    heavy = store.heavy(tx, job.id)
    log = None if report.log is None else json_text.clean(report.log)
    return heavy.result == store.encode(result_of(report)).decode() and heavy.log == log


def _has_room(tx: Tx, fence: int) -> bool:
    count = tx.value("select count(*) from late_reports where fence = ?", fence)
    return int(count) < MAX_LATE_REPORTS


def _keep(tx: Tx, job: JobRow, attempt: Attempt, report: Report, written: str) -> None:
    is_new = tx.execute(
        "insert into late_reports (fence, digest, job_id, at, report) values (?, ?, ?, ?, ?)"
        " on conflict (fence, digest) do nothing",
        attempt.fence,
        hashlib.sha256(written.encode()).hexdigest(),
        job.id,
        tx.now,
        store.encode(_cut(report)).decode(),
    )
    if is_new:
        actor = _agent(tx, job, attempt.host_id)
        audit.record(tx, actor, "job.late_report", "job", job.id, None, _said(attempt, report))


def _cut(report: Report) -> Report:
    log = None if report.log is None else json_text.clean(report.log[:MAX_TEXT])
    return dataclasses.replace(
        report, log=log, lastline=json_text.clean(report.lastline[:MAX_TEXT])
    )


def _agent(tx: Tx, job: JobRow, host_id: str) -> Actor:
    hostname = tx.value("select hostname from hosts where id = ?", host_id) or ""
    return Actor(
        job.customer_id,
        "",
        Level.AGENT,
        "agent",
        username=hostname,
        credential_id=host_id,
        host_id=host_id,
    )


def _said(attempt: Attempt, report: Report) -> dict[str, Any]:
    return {
        "attempt": attempt.number,
        "attempt_state": attempt.state,
        "ending": report.ending,
        "code": report.code,
        "lastline": json_text.clean(report.lastline[:200]),
        "log_bytes": report.bytes_total,
        "log_sha256": report.sha256,
    }
