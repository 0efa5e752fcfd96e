"""Jobs that end badly, and jobs that wait for somebody."""

from typing import Any

import msgspec

from belvedere.access import Actor, Level
from belvedere.access.crypto import sealed_values
from belvedere.db import Tx, columns
from belvedere.events import Event
from belvedere.jobs import permissions, specs
from belvedere.jobs.approvals import plan
from belvedere.jobs.model import APPROVAL, JobRow
from belvedere.notifications.model import AddressedNotice, NoticeSeverity
from belvedere.server.notices.batch import Turn, tags_of, told

BAD = frozenset({"failure", "timeout", "error"})
_WORDS = {
    "job.lost": "{} is lost: nobody can know how it ended",
    "job.expired": "{} waited too long and did not run",
    "job.voided": "{} must be asked for anew: what would run has changed",
    "job.finished": "{} ended in {}",
    "job.unreachable": "{} runs on a host that is silent",
}


def tell(turn: Turn, event: Event, data: dict[str, Any]) -> AddressedNotice | None:
    """None, without a look at the database, for what nobody wants to hear: most jobs."""
    is_asked = event.kind == "job.created" and data["lifecycle"] == "onhold"
    is_note = event.kind == "job.created" and data["type"] == "NotificationJob"
    is_bad = event.kind in ("job.lost", "job.expired", "job.voided") or (
        event.kind == "job.finished" and data["state"] in BAD
    )
    if not (is_asked or is_note or is_bad or turn.is_named(event)):
        return None
    job = turn.tx.one(JobRow, f"select {columns(JobRow)} from jobs where id = ?", event.object_id)
    if job is None or not job.notify:
        return None
    if is_note:
        return _note(turn, event, data, job)
    # How a step ended is the business of its workflow, which may well have foreseen it; that
    # something was changed under it, nobody has.
    is_foreseen = not is_asked and event.kind != "job.voided"
    is_step = job.workflow_job_id is not None and is_foreseen
    return told(
        turn,
        event,
        data,
        title=_asked(job) if is_asked else _title(event, data),
        text=_would_run(turn.tx, job) if is_asked else "",
        severity=NoticeSeverity.HIGH if is_asked or is_bad else NoticeSeverity.LOW,
        place="jobs",
        is_alert=(is_asked or is_bad) and not is_step,
        about=(job.task_id, job.workflow_id, job.workflow_job_id, job.host_id),
        tags=_tags(turn.tx, job),
        people=_people(turn, job, is_asked=is_asked)
        if is_asked or (is_bad and not is_step)
        else (),
    )


def _title(event: Event, data: dict[str, Any]) -> str:
    words = _WORDS.get(event.kind)
    return words.format(data["name"], data["state"]) if words else ""


def _asked(job: JobRow) -> str:
    what = "an approval" if job.type == APPROVAL else "input"
    return f"{job.name} waits for {what}"


def _would_run(tx: Tx, job: JobRow) -> str:
    """What an approval is about, in a line."""
    found = [f"{one.name} on {one.hostname or 'no host'}" for one in plan.of_job(tx, job.id)]
    return f"It lets run: {', '.join(found)}." if found else ""


def _tags(tx: Tx, job: JobRow) -> list[str]:
    if job.task_id is not None and job.task_version is not None:
        return specs.of_job(tx, job).tags
    return tags_of(tx.value("select tags from workflows where id = ?", job.workflow_id))


def _people(turn: Turn, job: JobRow, *, is_asked: bool) -> tuple[str, ...]:
    """The approvers; else who started it; else, as nobody did, the admins and those whom its ACL
    names."""
    if is_asked and job.type == APPROVAL:
        return turn.people(job.customer_id, lambda one: permissions.may_decide(turn.tx, one, job))
    starter = turn.people(job.customer_id, lambda one: one.user_id == job.user_id)
    if starter:
        return starter
    of = ("workflow", job.workflow_id) if job.workflow_id else ("task", job.task_id)
    named = frozenset(turn.acl(job.customer_id, of[0], of[1] or ""))
    return turn.people(
        job.customer_id,
        lambda one: one.level.reaches(Level.ADMIN) or not named.isdisjoint(one.entries),
    )


def _note(turn: Turn, event: Event, data: dict[str, Any], job: JobRow) -> AddressedNotice:
    """A notification task: its subject, to those whom it names."""
    subject, body, to = note_of(turn.tx, job)
    return told(
        turn,
        event,
        data,
        title=subject,
        text=body,
        place="jobs",
        about=(job.task_id, job.workflow_id, job.workflow_job_id),
        tags=specs.of_job(turn.tx, job).tags,
        people=turn.people(job.customer_id, lambda one: is_recipient(one, to)),
    )


def note_of(tx: Tx, job: JobRow) -> tuple[str, str, frozenset[str]]:
    """Subject, body and recipients: from the arguments, where they are empty from the task."""
    spec = specs.of_job(tx, job)
    kept = tx.value("select arguments from jobs where id = ?", job.id)
    values = sealed_values.mask_values(msgspec.json.decode(kept or "[]"))
    given = [str(one or "") for one in values]
    subject, body, to = (*given, "", "", "")[:3]
    return subject or spec.subject, body or spec.body, _addresses(to) or _lower(spec.recipients)


def is_recipient(member: Actor, to: frozenset[str]) -> bool:
    return not to.isdisjoint((member.user_id, *member.entries))


def _addresses(text: str) -> frozenset[str]:
    """JSON, a list with commas, or one address."""
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        found = text.split(",")
    return _lower(found if isinstance(found, list) else [found])


def _lower(given: list[Any]) -> frozenset[str]:
    return frozenset(word for one in given if (word := str(one).strip().lower()))
