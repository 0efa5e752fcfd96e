"""Reads one job with everything except the log in the log store."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.base.clock import iso, iso_or_none
from belvedere.db import Row, Tx
from belvedere.jobs import permissions, specs, store
from belvedere.jobs.approvals import plan, votes
from belvedere.jobs.attempts import Attempt, attempts_query
from belvedere.jobs.model import APPROVAL, WORKFLOW, JobRow, Lifecycle
from belvedere.jobs.people import approvers
from belvedere.jobs.queries import records
from belvedere.jobs.queries.records import JobRecord
from belvedere.jobs.queues import QUEUE_OF_J, QUEUES
from belvedere.jobs.store import JobDetails

# Jobs ahead in the queue are counted up to this number.
MAX_QUEUE_COUNTED = 10_000


def show(tx: Tx, actor: Actor, job_id: str) -> JobRecord:
    """One job with everything except its log in the log store."""
    rows = tx.pipeline(
        store.job_with_details_query(actor.customer_id, job_id), attempts_query(job_id)
    )
    job, details = store.job_with_details_from_rows(next(rows))
    permissions.check_visible(tx, actor, job)
    record = _full_record(tx, job, actor.customer_name, details, next(rows))
    records.add_starter_name(record, job, actor)
    return record


def owner_of(tx: Tx, job_id: str, customer: str | None) -> tuple[str, str] | None:
    """The organization of a job, by id and name; None if it is not the one that was named."""
    row = tx.row(
        "select c.id, c.name from jobs j join customers c on c.id = j.customer_id"
        " where j.id = ? and c.enabled = 1",
        job_id,
    )
    if row is None or (customer is not None and customer != str(row[1]).lower()):
        return None
    return row[0], row[1]


def full_record(tx: Tx, job: JobRow, customer_name: str) -> JobRecord:
    rows = tx.pipeline(store.details_query(job.id), attempts_query(job.id))
    [details], attempts = rows
    return _full_record(tx, job, customer_name, JobDetails(*details), attempts)


def _full_record(
    tx: Tx, job: JobRow, customer_name: str, details: JobDetails, attempts: list[Row]
) -> JobRecord:
    record = records.summary(job, customer_name, tx.now)
    if job.task_id is not None:
        records.add_task(record, job.task_id, specs.for_job(tx, job), details.arguments)
    elif job.type == "ScriptJob":
        # A command of an admin.
        record.task_arguments_values = msgspec.json.decode(details.arguments)
    add_details(record, job, details, [Attempt(*row) for row in attempts])
    if job.type == APPROVAL:
        record.will_run = plan.for_job(tx, job.id)
    add_waiting_reason(tx, job, record)
    return record


def add_details(
    record: JobRecord, job: JobRow, details: JobDetails, attempts: Sequence[Attempt]
) -> None:
    """Add the values of the large columns, and the attempts."""
    record.hostname = details.hostname
    record.output = None if details.output is None else msgspec.json.decode(details.output)
    if record.output is not None and job.fence == 0:
        # The output of a dummy or an approval is its own values; masked ones stay masked.
        record.output = record.task_arguments_values
    if details.result is not None:
        record.result = store.decode_result(details.result)
        record.result["log"] = details.log or ""
    record.attempts = [records.attempt_record(attempt) for attempt in attempts]
    if details.warning is not None:
        record.warnings = [details.warning]


def add_hostnames(tx: Tx, records: list[JobRecord]) -> list[JobRecord]:
    """Set the current names of the hosts."""
    ids = sorted({record.host_id for record in records if record.host_id is not None})
    if ids:
        rows = tx.rows(
            f"select id, hostname from hosts where id in {tx.dialect.in_texts}",
            store.json_array(ids),
        )
        names: dict[str | None, str] = {host_id: hostname for host_id, hostname in rows}
        for record in records:
            record.hostname = names.get(record.host_id)
    return records


def add_waiting_reason(tx: Tx, job: JobRow, record: JobRecord) -> None:
    """Set the reason why a job waits, and the approvers of an approval."""
    if job.type == WORKFLOW and not job.is_over and record.waiting_reason in (None, "queued"):
        record.waiting_reason, record.waiting_detail = _waiting_step(tx, job)
        return
    if record.waiting_reason == "approval":
        spec = specs.for_job(tx, job)
        decision = {
            "approvers": approvers.list_for_job(tx, job, spec),
            "four_eyes": spec.four_eyes,
            "answers": votes.enabled_answers(spec),
        }
        record.waiting_detail = {**(record.waiting_detail or {}), **decision}
    if record.waiting_reason != "queued" or job.host_id is None:
        return
    host = tx.row(
        "select connected_at, seen_at, gone_at, enabled, draining, slots, session, hostname,"
        " disk_full_at, disk_message from hosts where id = ?",
        job.host_id,
    )
    if host is not None:
        record.waiting_reason, detail = _blocking_reason(tx, job, host)
        record.waiting_detail = {**detail, "ahead": _count_ahead(tx, job)}


def _waiting_step(tx: Tx, job: JobRow) -> tuple[str | None, dict[str, Any] | None]:
    """A workflow job waits if none of its steps runs; its reason is that of the newest step."""
    steps = tx.all(
        JobRow,
        f"select {store.JOB_COLUMNS} from jobs where workflow_job_id = ?"
        " and (ended_at is null or state = 'lost') order by id desc",
        job.id,
    )
    if not steps or any(_runs(tx, step) for step in steps):
        return None, None
    newest = records.summary(steps[0], "", tx.now)
    add_waiting_reason(tx, steps[0], newest)
    return newest.waiting_reason, {"job_id": newest.id, **(newest.waiting_detail or {})}


def _runs(tx: Tx, step: JobRow) -> bool:
    """Whether an agent runs it; for a nested workflow, whether one of its steps runs."""
    if step.type == WORKFLOW and step.lifecycle != Lifecycle.ONHOLD:
        return _waiting_step(tx, step)[0] is None
    return step.lifecycle == Lifecycle.ASSIGNED


def _count_ahead(tx: Tx, job: JobRow) -> int:
    """The number of earlier jobs that wait for the same host, up to a limit."""
    ahead = (
        "select 1 as one from queues q join jobs j on j.host_id = ? and j.lifecycle = 'ready'"
        f" and {QUEUE_OF_J} = q.queue and j.id < ? limit ?"
    )
    count = tx.value(
        f"with recursive {QUEUES} select count(*) from ({ahead}) a",
        *(job.host_id, job.host_id, job.id, MAX_QUEUE_COUNTED),
    )
    return int(count)


def _blocking_reason(tx: Tx, job: JobRow, host: tuple[Any, ...]) -> tuple[str, dict[str, Any]]:
    connected_at, seen_at, gone_at, enabled, draining, slots, _, hostname, full_at, disk_message = (
        host
    )
    if not enabled or draining:
        return "host_disabled" if not enabled else "host_draining", {"hostname": hostname}
    if connected_at is None or gone_at is not None:
        return "host_offline", {"hostname": hostname, "since": iso_or_none(gone_at or seen_at)}
    if full_at is not None:
        return "host_disk_full", {
            "hostname": hostname,
            "since": iso(full_at),
            "message": disk_message,
        }
    rows = tx.rows(
        "select id, task_id from jobs where host_id = ? and lifecycle = 'assigned' order by id",
        job.host_id,
    )
    running = [job_id for job_id, _ in rows]
    siblings = [job_id for job_id, task_id in rows if task_id == job.task_id]
    if job.concurrency is not None and len(siblings) >= job.concurrency:
        return "concurrency_limit", {"held_by": siblings}
    if len(running) >= slots:
        return "host_busy", {"held_by": running[:20]}
    return "queued", {"since": iso(job.created_at)}


def lifecycle_of(tx: Tx, actor: Actor, job_id: str) -> str:
    return permissions.require_visible(tx, actor, job_id).lifecycle
