"""Reports for attempts that have ended. A different report is stored as evidence, in its own table
and in the audit log; it is never shown as the job's result or log."""

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

# Reports that are stored per attempt, and characters of their texts.
MAX_LATE_REPORTS = 5
MAX_TEXT = 4_000

LateReport = tuple[JobRow, Attempt, Report]


def store_new(tx: Tx, late: Sequence[LateReport]) -> None:
    for job, attempt, report in late:
        text = store.encode(report).decode()
        if not _is_repeated(tx, job, attempt, report, text) and _has_room(tx, attempt.fence):
            _store(tx, job, attempt, report, text)


def _is_repeated(tx: Tx, job: JobRow, attempt: Attempt, report: Report, text: str) -> bool:
    """Whether it is the report that counted: agents repeat a report until it is acknowledged."""
    counted = tx.value("select report from attempts where fence = ?", attempt.fence)
    if counted is not None or job.fence != attempt.fence:
        return bool(counted == text)
    details = store.read_details(tx, job.id)
    log = None if report.log is None else json_text.clean(report.log)
    return details.result == store.encode(result_of(report)).decode() and details.log == log


def _has_room(tx: Tx, fence: int) -> bool:
    count = tx.value("select count(*) from late_reports where fence = ?", fence)
    return int(count) < MAX_LATE_REPORTS


def _store(tx: Tx, job: JobRow, attempt: Attempt, report: Report, text: str) -> None:
    is_new = tx.execute(
        "insert into late_reports (fence, digest, job_id, at, report) values (?, ?, ?, ?, ?)"
        " on conflict (fence, digest) do nothing",
        attempt.fence,
        hashlib.sha256(text.encode()).hexdigest(),
        job.id,
        tx.now,
        store.encode(_truncate(report)).decode(),
    )
    if is_new:
        actor = _agent(tx, job, attempt.host_id)
        audit.record(
            tx, actor, "job.late_report", "job", job.id, None, _audit_fields(attempt, report)
        )


def _truncate(report: Report) -> Report:
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


def _audit_fields(attempt: Attempt, report: Report) -> dict[str, Any]:
    return {
        "attempt": attempt.number,
        "attempt_state": attempt.state,
        "ending": report.ending,
        "code": report.code,
        "lastline": json_text.clean(report.lastline[:200]),
        "log_bytes": report.bytes_total,
        "log_sha256": report.sha256,
    }
