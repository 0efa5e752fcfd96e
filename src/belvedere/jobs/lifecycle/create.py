"""Creating jobs: find the task, check permission and arguments, then insert."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere import access
from belvedere.access.actor import Actor
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.clock import SECOND, Millis
from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound, Refused
from belvedere.base.ids import is_id, new_id
from belvedere.db import Tx
from belvedere.db.commit_hooks import around_commit
from belvedere.db.signals import host_ready
from belvedere.hosts.model import HostRow, HostView
from belvedere.jobs import events, idempotency, scraper, specs, starters, store
from belvedere.jobs.approvals import plan
from belvedere.jobs.approvals.plan import Plan
from belvedere.jobs.attempts import ImmediateClaim, insert_attempts, no_claim
from belvedere.jobs.idempotency import IdempotencyKey, ScopedKey
from belvedere.jobs.lifecycle import job_arguments
from belvedere.jobs.model import APPROVAL, DEFAULT_TIMEOUT, JobRow, JobState, Lifecycle
from belvedere.jobs.people import approvers, participants
from belvedere.rest.patterns import matcher
from belvedere.tasks.definition import argument_values as arguments
from belvedere.tasks.definition.validation import pattern_texts
from belvedere.tasks.model import TaskSpec
from belvedere.tasks.store import Runnable, with_host

TYPES = {
    "script": "ScriptJob",
    "scraper": "ScraperJob",
    "approval": APPROVAL,
    "dummy": "DummyJob",
    "notification": "NotificationJob",
}
INITIAL_LIFECYCLES = {"ready": None, "onhold": Lifecycle.ONHOLD, "syncing": Lifecycle.SYNCING}


TaskCache = dict[tuple[str, str], "tuple[Runnable, HostView | None] | None"]


class JobRequest(msgspec.Struct):
    """One request to run a task."""

    actor: Actor
    task_id: str
    values: list[Any] | None
    origin: str = "user"
    # The task's secret key, if it replaces a login; checked in the creating transaction.
    secret: str | None = None
    keys: Keyring | None = None
    idempotency_key: IdempotencyKey | None = None
    lifecycle: str | None = None
    restarted_from: str | None = None
    # The version of the task and the encoded values of the job that is restarted.
    fitted_values: tuple[int | None, str] | None = None
    # Values by index over all definitions (webhooks, workflow outputs), extra ones ignored.
    by_index: bool = False
    # Values beyond the definitions are ignored instead of refused.
    ignores_extra: bool = False
    # A body without any known field: a task with one argument takes it as that argument.
    body: dict[str, Any] | None = None
    # The workflow that it is a step of.
    workflow_id: str | None = None
    workflow_job_id: str | None = None
    # The job may not start before this time has passed.
    delay: Millis = 0
    # The people to whom it is assigned: names of members, or user ids in a step of a workflow.
    assignees: Sequence[str] = ()
    assignee_ids: tuple[str, ...] = ()
    # For an approval: the tasks of its workflow that it allows to run.
    workflow_plan: Plan = []
    # Raise NotCompiled instead of compiling the patterns of arguments in the transaction.
    defers_patterns: bool = False
    # The trace context of the request.
    traceparent: str | None = None


class CreatedJob(msgspec.Struct):
    """A new job with everything that its record needs."""

    job: JobRow
    arguments: str
    task: Runnable
    host: HostView | None
    replayed: bool = False
    # User ids.
    assignees: tuple[str, ...] = ()
    # For an approval.
    plan: Plan | None = None
    # The values that no argument takes.
    ignored: tuple[str, ...] = ()


def create(
    tx: Tx, requests: list[JobRequest], claim: ImmediateClaim = no_claim
) -> Sequence[CreatedJob | Exception]:
    """Create a set of jobs; a refusal affects only its own request. `claim` locks hosts: pass it
    only if the transaction locks nothing else, neither before nor after."""
    tasks: TaskCache = {}
    answers: list[CreatedJob | Exception] = []
    new: list[tuple[JobRequest, CreatedJob]] = []
    by_key: dict[ScopedKey, tuple[IdempotencyKey, CreatedJob]] = {}
    for request in requests:
        try:
            _check_secret(tx, request)
            created = _find_replay(tx, request, by_key) or prepare(tx, request, tasks)
            if not created.replayed:
                new.append((request, created))
                if request.idempotency_key is not None:
                    by_key[_scoped_key(request)] = (request.idempotency_key, created)
            answers.append(created)
        except Refused as refusal:
            answers.append(refusal)
    write(tx, new, claim)
    return answers


def write(
    tx: Tx, new: Sequence[tuple[JobRequest, CreatedJob]], claim: ImmediateClaim = no_claim
) -> None:
    """Insert prepared jobs."""
    jobs = [created.job for _, created in new]
    # First: this may wait for another server that inserts the same key, and must not lock a host
    # meanwhile.
    keyed = [
        (_scoped_key(request), request.idempotency_key, [created.job.id])
        for request, created in new
        if request.idempotency_key is not None
    ]
    if keyed:
        idempotency.store_keys(tx, keyed)
    ready = [created for _, created in new if created.job.lifecycle == Lifecycle.READY]
    claimed = claim(tx, [(created.job, created.arguments) for created in ready])
    assigned = {job.id: job for job in claimed.jobs}
    store.insert(
        tx,
        [
            (
                assigned.get(created.job.id, created.job),
                created.arguments,
                created.arguments if created.job.is_over else None,
            )
            for _, created in new
        ],
    )
    participants.begin(tx, [(created.job, created.assignees) for _, created in new])
    for request, created in new:
        people = request.actor.starters
        if created.job.type == APPROVAL and request.workflow_job_id is None:
            people = starters.names_to_store(request.actor)
        if people:
            starters.store_names(tx, created.job.id, people)
        if created.job.type == APPROVAL and not created.job.is_over:
            created.plan = plan.write(
                tx, created.job, created.task.spec, created.arguments, request.workflow_plan
            )
        if created.ignored:
            store.save_warning(tx, created.job.id, job_arguments.ignored_text(created.ignored))
    insert_attempts(tx, claimed.attempts)
    events.publish_created(tx, jobs, claimed.jobs)
    host_ids = {created.job.host_id for created in ready} - claimed.claimed_hosts
    tx.signals.update([host_ready(host_id) for host_id in host_ids])
    around_commit(tx, "create")


def prepare(tx: Tx, request: JobRequest, tasks: TaskCache) -> CreatedJob:
    """A checked job that is not inserted yet; `tasks` caches the tasks that were read."""
    task, host = _require_task(tx, request, tasks)
    if not task.enabled:
        raise Conflict("The task is disabled. Enable it before you run it.", code="task_disabled")
    if task.lacks_host:
        raise Conflict(
            "The task's host was deleted. Choose another host for the task.", code="host_gone"
        )
    if request.lifecycle is not None and request.lifecycle not in INITIAL_LIFECYCLES:
        raise Invalid(
            f"A job cannot be created as {request.lifecycle!r}.", code="invalid_lifecycle"
        )
    assignees = _assignees(tx, request)
    if task.type == "approval":
        approvers.check_start(
            tx,
            request.actor,
            task.spec,
            assignees or _earlier_assignees(tx, request, task.spec),
            request.workflow_job_id,
        )
    lifecycle = _first_lifecycle(request, task)
    text = _fit_arguments(tx, request, task, lifecycle)
    created = CreatedJob(job_row(request, task, lifecycle, tx.now), text, task, host)
    created.assignees = assignees
    if request.ignores_extra and request.values:
        created.ignored = job_arguments.extra_values(
            job_arguments.definitions_of(task.spec), request.values
        )
    return created


def _assignees(tx: Tx, request: JobRequest) -> tuple[str, ...]:
    if not request.assignees:
        return request.assignee_ids
    return participants.resolve_members(tx, request.actor.customer_id, request.assignees)


def _earlier_assignees(tx: Tx, request: JobRequest, spec: TaskSpec) -> tuple[str, ...]:
    """Those that it takes over from its workflow job, or from the job that it repeats."""
    source_id = request.workflow_job_id or request.restarted_from
    if source_id is None or spec.approvals_target != "assignees":
        return ()
    return participants.find(tx, source_id).assignees


def create_failed(tx: Tx, request: JobRequest, refusal: Refused) -> CreatedJob | None:
    """For a step that cannot start: a job that ended in error, with the refusal as its reason."""
    row = with_host(tx, request.actor.customer_id, request.task_id, also_deleted=True)
    if row is None:
        return None
    task, host = row
    job = job_row(request, task, Lifecycle.FINISHED, tx.now)
    job.state, job.trigger_name = JobState.ERROR.value, "failure"
    job.reason = refusal.message
    return CreatedJob(job, "[]", task, _host_view(host, request.actor))


def _check_secret(tx: Tx, request: JobRequest) -> None:
    """The first check, also before a replay: without the secret a caller learns nothing."""
    if request.secret is None:
        return
    assert request.keys is not None
    customer_id = request.actor.customer_id
    if not (
        is_id(request.task_id)
        and secret_keys.check(
            tx, request.keys, customer_id, "task", request.task_id, request.secret
        )
    ):
        raise _wrong_secret()


def _wrong_secret() -> Forbidden:
    return Forbidden("Invalid secret key.", code="wrong_secret")


def _find_task(tx: Tx, actor: Actor, task_id: str) -> "tuple[Runnable, HostView | None] | None":
    row = with_host(tx, actor.customer_id, task_id) if is_id(task_id) else None
    return None if row is None else (row[0], _host_view(row[1], actor))


def _host_view(host: HostRow | None, actor: Actor) -> HostView | None:
    return None if host is None else HostView(host, actor.customer_name)


def _require_task(
    tx: Tx, request: JobRequest, tasks: TaskCache
) -> tuple[Runnable, HostView | None]:
    """The task, if the actor may run it; with a secret key the refusal is always the same."""
    actor = request.actor
    key = (actor.customer_id, request.task_id)
    if key not in tasks:
        tasks[key] = _find_task(tx, actor, request.task_id)
    task = tasks[key]
    if request.secret is not None:
        if task is None:
            raise _wrong_secret()
        return task
    needs_no_acl = task is None or actor.runs_all
    acl = [] if needs_no_acl else access.acl_of(tx, actor.customer_id, "task", request.task_id)
    if task is None or not (actor.sees_all or access.may_see(actor, acl)):
        raise NotFound("There is no such task.", code="task_not_found")
    if not access.may_run(actor, acl):
        raise Forbidden("The task's ACL does not let you run it.", code="may_not_run")
    return task


def _first_lifecycle(request: JobRequest, task: Runnable) -> Lifecycle:
    requested = INITIAL_LIFECYCLES.get(request.lifecycle or "ready")
    match task.type:
        case "approval":
            return Lifecycle.ONHOLD
        case "notification":
            return Lifecycle.FINISHED
        case "dummy":
            return Lifecycle.FINISHED if request.origin == "user" else Lifecycle.ONHOLD
    if task.spec.user_inputs and request.origin != "user":
        return Lifecycle.ONHOLD
    return requested or Lifecycle.READY


def _fit_arguments(tx: Tx, request: JobRequest, task: Runnable, lifecycle: Lifecycle) -> str:
    if request.fitted_values is not None and request.fitted_values[0] == task.version:
        return request.fitted_values[1]
    if lifecycle is Lifecycle.ONHOLD and request.values is None:
        return "[]"
    supplied: Sequence[Any] = request.values or []
    if request.values is None and request.body and arguments.takes_one(task.spec.task_arguments):
        supplied = [request.body]
    definitions = job_arguments.definitions_of(task.spec)
    if definitions is job_arguments.NOTE_ARGUMENTS:
        # Null means the value of the task, not the text null.
        supplied = ["" if value is None else value for value in supplied]
    if not (supplied or definitions):
        return "[]"
    if request.defers_patterns:
        matcher.require_compiled(pattern_texts(definitions))
    values = arguments.fit(
        definitions,
        supplied,
        by_index=request.by_index or definitions is job_arguments.NOTE_ARGUMENTS,
        ignores_extra=request.ignores_extra,
    )
    return job_arguments.encode(tx, request.actor.customer_id, task.spec, values)


def job_row(request: JobRequest, task: Runnable, lifecycle: Lifecycle, now: int) -> JobRow:
    """The row of a new job."""
    actor, spec = request.actor, task.spec
    is_over = lifecycle is Lifecycle.FINISHED
    grace = spec.grace_time * SECOND if request.origin == "trigger_by" else request.delay
    return JobRow(
        id=new_id(),
        customer_id=actor.customer_id,
        task_id=task.id,
        task_version=task.version,
        workflow_id=request.workflow_id,
        workflow_job_id=request.workflow_job_id,
        host_id=task.host_id,
        script_id=task.script_id,
        script_sha256=scraper.SHA256 if task.type == "scraper" else task.script_sha256,
        script_filename=scraper.FILENAME if task.type == "scraper" else task.script_filename,
        type=TYPES[task.type],
        name=task.name,
        lifecycle=str(lifecycle),
        state=str(JobState.SUCCESS if is_over else JobState.IN_PROGRESS),
        origin=request.origin,
        user_id=actor.user_id,
        username=actor.username,
        email=actor.email,
        notify=int(spec.notify),
        trigger_name="success" if is_over else None,
        timeout=spec.timeout or DEFAULT_TIMEOUT,
        concurrency=spec.concurrency,
        not_before_at=now + grace if grace else 0,
        expires_at=now + grace + specs.expires_ms(spec),
        restarted_from=request.restarted_from,
        created_at=now,
        updated_at=now,
        ended_at=now if is_over else None,
        started_by=actor.source,
        traceparent=request.traceparent,
    )


def _scoped_key(request: JobRequest) -> ScopedKey:
    """A key belongs to the principal, or to the task if the request has only its secret."""
    assert request.idempotency_key is not None
    caller = request.actor.principal if request.secret is None else f"secret:{request.task_id}"
    return (
        request.actor.customer_id,
        caller,
        request.idempotency_key.route,
        request.idempotency_key.key,
    )


def _find_replay(
    tx: Tx, request: JobRequest, by_key: dict[ScopedKey, tuple[IdempotencyKey, CreatedJob]]
) -> CreatedJob | None:
    """The job that this key created before, perhaps earlier in the same set."""
    if request.idempotency_key is None:
        return None
    if (earlier := by_key.get(_scoped_key(request))) is not None:
        idempotency.check_same_body(earlier[0].body_digest, request.idempotency_key)
        return msgspec.structs.replace(earlier[1], replayed=True)
    job_ids = idempotency.find_replay(tx, _scoped_key(request), request.idempotency_key)
    if job_ids is None:
        return None
    (job_id,) = job_ids
    job = idempotency.replayed_job(tx, request.actor.customer_id, job_id)
    row = with_host(tx, job.customer_id, job.task_id or "", also_deleted=True)
    assert row is not None
    task, host = row
    approved = plan.for_job(tx, job_id) if job.type == APPROVAL else None
    values = store.read_details(tx, job_id).arguments
    return CreatedJob(
        job, values, task, _host_view(host, request.actor), replayed=True, plan=approved
    )
