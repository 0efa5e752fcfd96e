"""Records of jobs in responses."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.access.actor import Actor
from belvedere.base.clock import iso, iso_or_none
from belvedere.jobs.approvals.plan import PlannedTask
from belvedere.jobs.attempts import Attempt
from belvedere.jobs.model import APPROVAL, HELD, RESTORED, WORKFLOW, JobRow, Lifecycle
from belvedere.tasks.definition.argument_values import mask_values
from belvedere.tasks.model import TaskSpec, mask_arguments

# Everybody who sees the job may see their names.
PUBLIC_STARTERS = frozenset({"webhook", "schedule", "token"})


class JobUserRecord(msgspec.Struct):
    id: str
    username: str
    email: str


class JobStarter(msgspec.Struct):
    """What started a job: a webhook, a schedule, a token, or a task, workflow, monitor or indicator
    whose event did. `name` is empty if the caller may not see it."""

    kind: str
    id: str
    name: str


class TaskInJob(msgspec.Struct):
    """The fields of the task in the record of a job."""

    id: str
    task_arguments: list[Any]
    output_parameters: list[Any]
    name: str = ""
    type: str = ""
    approvers: list[str] = []


class AttemptRecord(msgspec.Struct):
    number: int
    fence: int
    state: str
    claimed_at: str
    started_at: str | None
    ended_at: str | None


class JobRecord(msgspec.Struct):
    """A job. Lists omit the large fields unless `include[...]` requests them."""

    id: str
    type_: str = msgspec.field(name="_type")
    name: str
    task_id: str | None
    host_id: str | None
    # A host object in the response to a creation, else the id of the host.
    host: Any
    hostname: str | None
    script_id: str | None
    script_runas: str
    lifecycle: str
    state: str
    trigger_name: str | None
    origin: str
    notify: bool
    customer_id: str
    customer_name: str
    user_id: str
    user: JobUserRecord
    workflow_id: str | None
    workflow_job_id: str | None
    timeout: int
    version: int
    ran: str
    reason: str | None
    waiting_reason: str | None
    waiting_detail: dict[str, Any] | None
    attempt_count: int
    cancel_requested: bool
    canceled_by: str | None
    unreachable_since: str | None
    reconciled: bool
    resolved_by: str | None
    restarted_from: str | None
    script_sha256: str | None
    task_version: int | None
    creation_date: str
    last_update: str
    assigned_at: str | None
    started_at: str | None
    ended_at: str | None
    not_before: str | None
    expires_at: str
    # Null: a person started it, or it is older than this record.
    started_by: JobStarter | None = None
    task: TaskInJob | None | UnsetType = UNSET
    task_arguments_values: list[Any] | UnsetType = UNSET
    # JSON of any shape, as the script wrote it.
    output: Any = UNSET
    result: dict[str, Any] | UnsetType = UNSET
    # For an approval: what runs after it.
    will_run: list[PlannedTask] | UnsetType = UNSET
    attempts: list[AttemptRecord] | UnsetType = UNSET
    # What in the request to run it had no effect.
    warnings: list[str] | UnsetType = UNSET
    # For `/job/{id}/secret/{secret}/result`; only in the response to a start by a secret.
    secret: str | UnsetType = UNSET
    # The W3C trace context of the request that created it, if it had one.
    traceparent: str | UnsetType = UNSET


class InputRecord(msgspec.Struct):
    """The values of a job's arguments, with their definitions."""

    id: str
    task_arguments_values: list[Any]
    creation_date: str
    task: TaskInJob | None | UnsetType = UNSET


def summary(job: JobRow, customer_name: str, now: int, runas: str = "") -> JobRecord:
    """The record in lists."""
    reason, detail = waiting_reason(job, now)
    return JobRecord(
        id=job.id,
        type_=job.type,
        name=job.name,
        task_id=job.task_id,
        host_id=job.host_id,
        host=job.host_id,
        hostname=None,
        script_id=job.script_id,
        script_runas=runas,
        lifecycle=job.lifecycle,
        state=job.state,
        trigger_name=job.trigger_name,
        origin=job.origin,
        notify=bool(job.notify),
        customer_id=job.customer_id,
        customer_name=customer_name,
        user_id=job.user_id,
        user=JobUserRecord(job.user_id, job.username, job.email),
        workflow_id=job.workflow_id,
        workflow_job_id=job.workflow_job_id,
        timeout=job.timeout,
        version=job.version,
        ran=job.may_have_run,
        reason=job.reason,
        waiting_reason=reason,
        waiting_detail=detail,
        attempt_count=job.attempts,
        cancel_requested=job.cancel_requested_at is not None,
        canceled_by=job.canceled_by,
        unreachable_since=iso_or_none(job.unreachable_at),
        reconciled=bool(job.reconciled),
        resolved_by=job.resolved_by,
        restarted_from=job.restarted_from,
        script_sha256=job.script_sha256,
        task_version=job.task_version,
        creation_date=iso(job.created_at),
        last_update=iso(job.updated_at),
        assigned_at=iso_or_none(job.assigned_at),
        started_at=iso_or_none(job.started_at),
        ended_at=iso_or_none(job.ended_at),
        not_before=iso(job.not_before_at) if job.not_before_at > now else None,
        expires_at=iso(job.expires_at),
        started_by=_starter(job.started_by),
        traceparent=UNSET if job.traceparent is None else job.traceparent,
    )


def _starter(text: str) -> JobStarter | None:
    """Without the name of an object that has an ACL of its own: see `add_starter_name`."""
    if not text:
        return None
    kind, object_id, name = text.split(" ", 2)
    return JobStarter(kind, object_id, name if kind in PUBLIC_STARTERS else "")


def add_starter_name(record: JobRecord, job: JobRow, actor: Actor) -> None:
    """Managers see every object, so they also see the name of what started the job."""
    if record.started_by is not None and actor.sees_all:
        record.started_by.name = job.started_by.split(" ", 2)[2]


def waiting_reason(job: JobRow, now: int) -> tuple[str | None, dict[str, Any] | None]:
    """Why a job does not run, as far as its row shows."""
    if job.is_over:
        return ("lost", {"reason": job.reason}) if job.is_lost else (None, None)
    match job.lifecycle:
        case Lifecycle.ASSIGNED if job.unreachable_at is not None:
            return "unreachable", {"since": iso(job.unreachable_at)}
        case Lifecycle.ASSIGNED if job.cancel_requested_at is not None:
            return "canceling", {"since": iso(job.cancel_requested_at)}
        case Lifecycle.READY | Lifecycle.STARTED if job.cancel_requested_at is not None:
            return "canceling", {"since": iso(job.cancel_requested_at)}
        case Lifecycle.ONHOLD if job.is_held:
            return RESTORED, {"until": iso(job.expires_at)}
        case Lifecycle.ONHOLD if job.reason == HELD:
            return HELD, {"until": iso(job.expires_at)}
        case Lifecycle.ONHOLD if job.type == WORKFLOW:
            return "concurrency_limit", {"until": iso(job.expires_at)}
        case Lifecycle.READY if job.not_before_at > now:
            reason = "retry_at" if job.attempts else "grace_time"
            return reason, {"at": iso(job.not_before_at)}
        case Lifecycle.READY:
            return "queued", None
        case Lifecycle.SYNCING:
            return "syncing", None
        case Lifecycle.ONHOLD if job.type == APPROVAL:
            return "approval", {"until": iso(job.expires_at)}
        case Lifecycle.ONHOLD:
            return "input", {"until": iso(job.expires_at)}
    return None, None


def add_task(record: JobRecord, task_id: str, spec: TaskSpec, arguments: str) -> JobRecord:
    """Add the task's definition and the values; masked arguments are masked."""
    record.script_runas = spec.script_runas
    record.task = TaskInJob(
        id=task_id,
        task_arguments=mask_arguments(spec.task_arguments),
        output_parameters=spec.output_parameters,
        name=record.name,
        type=spec.type,
        approvers=spec.approvers,
    )
    record.task_arguments_values = (
        []
        if arguments == "[]"
        else mask_values(spec.task_arguments, msgspec.json.decode(arguments))
    )
    return record


def attempt_record(row: Attempt) -> AttemptRecord:
    return AttemptRecord(
        number=row.number,
        fence=row.fence,
        state=row.state,
        claimed_at=iso(row.claimed_at),
        started_at=iso_or_none(row.started_at),
        ended_at=iso_or_none(row.ended_at),
    )
