"""Notices about jobs that fail, and about jobs that wait for a person."""

from typing import Any

import msgspec

from belvedere.access import Actor, Level
from belvedere.access.crypto import sealed_values
from belvedere.db import Tx, columns
from belvedere.events import Event
from belvedere.jobs import permissions, specs
from belvedere.jobs.approvals import plan
from belvedere.jobs.model import APPROVAL, JobRow
from belvedere.jobs.people import participants
from belvedere.notifications.model import AddressedNotice, NoticeSeverity
from belvedere.server.notices.batch import NoticeBatch, make_notice, tags_of

FAILURES = frozenset({"failure", "timeout", "error"})
_TITLES = {
    "job.lost": "{} is lost: outcome unknown, it may have run",
    "job.expired": "{} expired while it waited and did not run",
    "job.voided": "{} needs a new approval: what would run has changed",
    "job.finished": "{} ended in {}",
    "job.unreachable": "{} runs on a host that is unreachable",
}


def job_notice(batch: NoticeBatch, event: Event, data: dict[str, Any]) -> AddressedNotice | None:
    """None, without a query, for most jobs: nobody is notified of their events."""
    is_request = data["lifecycle"] == "onhold" and (
        event.kind == "job.created"
        or (event.kind == "job.assignees_changed" and data["type"] == APPROVAL)
    )
    is_note = event.kind == "job.created" and data["type"] == "NotificationJob"
    is_bad = event.kind in ("job.lost", "job.expired", "job.voided") or (
        event.kind == "job.finished" and data["state"] in FAILURES
    )
    if not (is_request or is_note or is_bad or batch.is_named(event)):
        return None
    job = batch.tx.one(JobRow, f"select {columns(JobRow)} from jobs where id = ?", event.object_id)
    if job is None or not job.notify:
        return None
    if is_note:
        return _note(batch, event, data, job)
    # The end of a step is handled by its workflow, which may expect a failure. A voided approval
    # is always reported.
    is_workflow_matter = not is_request and event.kind != "job.voided"
    is_step = job.workflow_job_id is not None and is_workflow_matter
    return make_notice(
        batch,
        event,
        data,
        title=_request_title(job) if is_request else _title(event, data),
        text=_would_run(batch.tx, job) if is_request else "",
        severity=NoticeSeverity.HIGH if is_request or is_bad else NoticeSeverity.LOW,
        page="jobs",
        is_alert=(is_request or is_bad) and not is_step,
        about=(job.task_id, job.workflow_id, job.workflow_job_id, job.host_id),
        tags=_tags(batch.tx, job),
        people=_people(batch, job, is_request=is_request)
        if is_request or (is_bad and not is_step)
        else (),
        group_id=job.task_id or job.workflow_id,
    )


def _title(event: Event, data: dict[str, Any]) -> str:
    title = _TITLES.get(event.kind)
    return title.format(data["name"], data["state"]) if title else ""


def _request_title(job: JobRow) -> str:
    decision = "an approval" if job.type == APPROVAL else "input"
    return f"{job.name} is waiting for {decision}"


def _would_run(tx: Tx, job: JobRow) -> str:
    """The jobs that an approval releases, as one line."""
    jobs = [
        f"{planned.name} on {planned.hostname or 'no host'}" for planned in plan.for_job(tx, job.id)
    ]
    return f"Approving runs: {', '.join(jobs)}." if jobs else ""


def _tags(tx: Tx, job: JobRow) -> list[str]:
    if job.task_id is not None and job.task_version is not None:
        return specs.for_job(tx, job).tags
    return tags_of(tx.value("select tags from workflows where id = ?", job.workflow_id))


def _people(batch: NoticeBatch, job: JobRow, *, is_request: bool) -> tuple[str, ...]:
    """The approvers; else the people to whom the input is assigned; else the person who started it;
    else the admins and the members that its ACL names."""
    if is_request and job.type == APPROVAL:
        return batch.people(
            job.customer_id, lambda member: permissions.may_decide(batch.tx, member, job)
        )
    assignees = participants.find(batch.tx, job.id).assignees if is_request else ()
    if assignees:
        return batch.people(job.customer_id, lambda member: member.user_id in assignees)
    starter = batch.people(job.customer_id, lambda member: member.user_id == job.user_id)
    if starter:
        return starter
    named = frozenset(permissions.acl_for(batch.tx, job))
    return batch.people(
        job.customer_id,
        lambda member: member.level.reaches(Level.ADMIN) or not named.isdisjoint(member.entries),
    )


def _note(batch: NoticeBatch, event: Event, data: dict[str, Any], job: JobRow) -> AddressedNotice:
    """A notification task: its subject and body, for its recipients."""
    subject, body, to = note_of(batch.tx, job)
    return make_notice(
        batch,
        event,
        data,
        title=subject,
        text=body,
        page="jobs",
        about=(job.task_id, job.workflow_id, job.workflow_job_id),
        tags=specs.for_job(batch.tx, job).tags,
        people=batch.people(job.customer_id, lambda member: is_recipient(member, to)),
    )


def note_of(tx: Tx, job: JobRow) -> tuple[str, str, frozenset[str]]:
    """Subject, body and recipients: from the arguments, or from the task where they are empty."""
    spec = specs.for_job(tx, job)
    stored = tx.value("select arguments from jobs where id = ?", job.id)
    values = sealed_values.mask_values(msgspec.json.decode(stored or "[]"))
    arguments = [str(value or "") for value in values]
    subject, body, to = (*arguments, "", "", "")[:3]
    return subject or spec.subject, body or spec.body, _addresses(to) or _lower(spec.recipients)


def is_recipient(member: Actor, to: frozenset[str]) -> bool:
    return not to.isdisjoint((member.user_id, *member.entries))


def _addresses(text: str) -> frozenset[str]:
    """From JSON, a list with commas, or one address."""
    try:
        addresses = msgspec.json.decode(text)
    except msgspec.DecodeError:
        addresses = text.split(",")
    return _lower(addresses if isinstance(addresses, list) else [addresses])


def _lower(addresses: list[Any]) -> frozenset[str]:
    return frozenset(word for address in addresses if (word := str(address).strip().lower()))
