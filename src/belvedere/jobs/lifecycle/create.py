"""Making jobs: the task is found, the caller may run it, the arguments fit; then one insert."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere import access
from belvedere.access.actor import Actor
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto import sealed_values
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.clock import SECOND, Millis
from belvedere.base.errors import Conflict, Forbidden, Invalid, NotFound, Refused
from belvedere.base.ids import is_id, new_id
from belvedere.db import Tx
from belvedere.db.crash import around_commit
from belvedere.db.signals import host_ready
from belvedere.hosts.model import HostRow, HostView
from belvedere.jobs import events, scraper, specs, starters, store, taking
from belvedere.jobs import idempotency as once
from belvedere.jobs.approvals import plan
from belvedere.jobs.approvals.plan import Plan
from belvedere.jobs.attempts import insert_attempts
from belvedere.jobs.idempotency import Key, Once
from belvedere.jobs.model import APPROVAL, DEFAULT_TIMEOUT, JobRow, Lifecycle, State
from belvedere.jobs.taking import Take
from belvedere.rest.patterns import matcher
from belvedere.tasks.definition import argument_values as arguments
from belvedere.tasks.definition.argument_types import Value
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
MAY_ASK = {"ready": None, "onhold": Lifecycle.ONHOLD, "syncing": Lifecycle.SYNCING}


Tasks = dict[tuple[str, str], "tuple[Runnable, HostView | None] | None"]


class NewJob(msgspec.Struct):
    """One request to run a task."""

    actor: Actor
    task_id: str
    given: list[Any] | None
    origin: str = "user"
    # The task's secret key, where it stands in for a level; checked in this very transaction.
    secret: str | None = None
    keys: Keyring | None = None
    once: Once | None = None
    lifecycle: str | None = None
    restarted_from: str | None = None
    # Values of the job that is restarted, and the version of the task that they were fitted to.
    kept: tuple[int | None, str] | None = None
    # Values by index over all definitions (webhooks, workflow outputs), extra ones ignored.
    by_index: bool = False
    # A body that names nothing we know: a task with one argument takes it whole.
    whole: dict[str, Any] | None = None
    # The workflow that it is a step of.
    workflow_id: str | None = None
    workflow_job_id: str | None = None
    # It may not start earlier than this from now.
    delay: Millis = 0
    # What an approval lets run in its workflow.
    follows: Plan = []
    # Raise NotCompiled instead of compiling the patterns of arguments in the transaction.
    defers_patterns: bool = False


class Created(msgspec.Struct):
    """A job that is now durable, with what its record needs."""

    job: JobRow
    arguments: str
    task: Runnable
    host: HostView | None
    replayed: bool = False
    # Of an approval.
    plan: Plan | None = None


def create(
    tx: Tx, wanted: list[NewJob], take: Take = taking.nobody
) -> Sequence[Created | Exception]:
    """Make a set of jobs; a refused one harms no other. `take` holds hosts: give it only where
    nothing else is locked in this transaction, neither before nor after."""
    tasks: Tasks = {}
    answers: list[Created | Exception] = []
    fresh: list[tuple[NewJob, Created]] = []
    by_key: dict[Key, tuple[Once, Created]] = {}
    for item in wanted:
        try:
            _check_secret(tx, item)
            made = _again(tx, item, by_key) or prepare(tx, item, tasks)
            if not made.replayed:
                fresh.append((item, made))
                if item.once is not None:
                    by_key[_key(item)] = (item.once, made)
            answers.append(made)
        except Refused as refusal:
            answers.append(refusal)
    write(tx, fresh, take)
    return answers


def write(tx: Tx, fresh: Sequence[tuple[NewJob, Created]], take: Take = taking.nobody) -> None:
    """Make prepared jobs durable, in one go."""
    jobs = [made.job for _, made in fresh]
    # First: whoever waits here for another server with the same key must not hold a host meanwhile.
    keyed = [
        (_key(item), item.once, [made.job.id]) for item, made in fresh if item.once is not None
    ]
    if keyed:
        once.remember(tx, keyed)
    ready = [made for _, made in fresh if made.job.lifecycle == Lifecycle.READY]
    taken = take(tx, [(made.job, made.arguments) for made in ready])
    assigned = {job.id: job for job in taken.jobs}
    store.insert(
        tx,
        [
            (
                assigned.get(made.job.id, made.job),
                made.arguments,
                made.arguments if made.job.is_over else None,
            )
            for _, made in fresh
        ],
    )
    for item, made in fresh:
        people = item.actor.starters
        if made.job.type == APPROVAL and item.workflow_job_id is None:
            people = starters.to_remember(item.actor)
        if people:
            starters.remember(tx, made.job.id, people)
        if made.job.type == APPROVAL and not made.job.is_over:
            made.plan = plan.write(tx, made.job, made.task.spec, made.arguments, item.follows)
    insert_attempts(tx, taken.attempts)
    events.tell_born(tx, jobs, taken.jobs)
    waited_for = {made.job.host_id for made in ready} - taken.settled
    tx.signals.update([host_ready(host_id) for host_id in waited_for])
    around_commit(tx, "create")


def prepare(tx: Tx, item: NewJob, tasks: Tasks) -> Created:
    """A job that could be made, checked and not yet written; `tasks` remembers what was read."""
    task, host = _task(tx, item, tasks)
    if not task.enabled:
        raise Conflict("The task is disabled; enable it before running it.", code="task_disabled")
    if task.lacks_host:
        raise Conflict("The task's host was deleted; give it another one.", code="host_gone")
    if item.lifecycle is not None and item.lifecycle not in MAY_ASK:
        raise Invalid(f"A job cannot be created as {item.lifecycle!r}.", code="invalid_lifecycle")
    if task.spec.four_eyes and not item.actor.user_id:
        starters.check_approver_left(tx, item.actor, item.workflow_job_id, task.spec)
    lifecycle = _first_lifecycle(item, task)
    text = _fitted(tx, item, task, lifecycle)
    return Created(row(item, task, lifecycle, tx.now), text, task, host)


def stillborn(tx: Tx, item: NewJob, refusal: Refused) -> Created | None:
    """For a step that cannot start: a job that has ended in error, with the reason to read."""
    found = with_host(tx, item.actor.customer_id, item.task_id, also_deleted=True)
    if found is None:
        return None
    task, host = found
    job = row(item, task, Lifecycle.FINISHED, tx.now)
    job.state, job.trigger_name = State.ERROR.value, "failure"
    job.reason = refusal.message
    return Created(job, "[]", task, _shown(host, item.actor))


def _check_secret(tx: Tx, item: NewJob) -> None:
    """Before anything else, a replay too: whoever has no right secret learns nothing."""
    if item.secret is None:
        return
    assert item.keys is not None
    customer_id = item.actor.customer_id
    if not (
        is_id(item.task_id)
        and secret_keys.check(tx, item.keys, customer_id, "task", item.task_id, item.secret)
    ):
        raise _wrong_secret()


def _wrong_secret() -> Forbidden:
    return Forbidden("Invalid secret key.", code="wrong_secret")


def _find(tx: Tx, actor: Actor, task_id: str) -> "tuple[Runnable, HostView | None] | None":
    found = with_host(tx, actor.customer_id, task_id) if is_id(task_id) else None
    return None if found is None else (found[0], _shown(found[1], actor))


def _shown(host: HostRow | None, actor: Actor) -> HostView | None:
    return None if host is None else HostView(host, actor.customer_name)


def _task(tx: Tx, item: NewJob, tasks: Tasks) -> tuple[Runnable, HostView | None]:
    """The task, for somebody who may run it; how a refusal looks depends on the door."""
    actor = item.actor
    key = (actor.customer_id, item.task_id)
    if key not in tasks:
        tasks[key] = _find(tx, actor, item.task_id)
    task = tasks[key]
    if item.secret is not None:
        if task is None:
            raise _wrong_secret()
        return task
    asks_nobody = task is None or actor.runs_all
    acl = [] if asks_nobody else access.acl_of(tx, actor.customer_id, "task", item.task_id)
    if task is None or not (actor.sees_all or access.may_see(actor, acl)):
        raise NotFound("There is no such task.", code="task_not_found")
    if not access.may_run(actor, acl):
        raise Forbidden("The task's ACL does not let you run it.", code="may_not_run")
    return task


def _first_lifecycle(item: NewJob, task: Runnable) -> Lifecycle:
    asked = MAY_ASK.get(item.lifecycle or "ready")
    match task.type:
        case "approval":
            return Lifecycle.ONHOLD
        case "notification":
            return Lifecycle.FINISHED
        case "dummy":
            return Lifecycle.FINISHED if item.origin == "user" else Lifecycle.ONHOLD
    if task.spec.user_inputs and item.origin != "user":
        return Lifecycle.ONHOLD
    return asked or Lifecycle.READY


def _fitted(tx: Tx, item: NewJob, task: Runnable, lifecycle: Lifecycle) -> str:
    if item.kept is not None and item.kept[0] == task.version:
        return item.kept[1]
    if lifecycle is Lifecycle.ONHOLD and item.given is None:
        return "[]"
    given: Sequence[Any] = item.given or []
    if item.given is None and item.whole and arguments.takes_one(task.spec.task_arguments):
        given = [item.whole]
    if not (given or task.spec.task_arguments):
        return "[]"
    if item.defers_patterns:
        matcher.require_compiled(pattern_texts(task.spec.task_arguments))
    values = arguments.fit(task.spec.task_arguments, given, by_index=item.by_index)
    return arguments_of(tx, item.actor.customer_id, task.spec, values)


def arguments_of(tx: Tx, customer_id: str, spec: TaskSpec, values: Sequence[Value]) -> str:
    """Values as a job keeps them: files by their content, masked ones sealed."""
    kept = arguments.keep_files(tx, customer_id, values)
    masked = {n for n, one in enumerate(spec.task_arguments) if one.masked}
    return store.json_list(
        sealed_values.seal_values(tx, customer_id, kept, masked) if masked else kept
    )


def row(item: NewJob, task: Runnable, lifecycle: Lifecycle, now: int) -> JobRow:
    """As it is born."""
    actor, spec = item.actor, task.spec
    over = lifecycle is Lifecycle.FINISHED
    grace = spec.grace_time * SECOND if item.origin == "trigger_by" else item.delay
    return JobRow(
        id=new_id(),
        customer_id=actor.customer_id,
        task_id=task.id,
        task_version=task.version,
        workflow_id=item.workflow_id,
        workflow_job_id=item.workflow_job_id,
        host_id=task.host_id,
        script_id=task.script_id,
        script_sha256=scraper.SHA256 if task.type == "scraper" else task.script_sha256,
        script_filename=scraper.FILENAME if task.type == "scraper" else task.script_filename,
        type=TYPES[task.type],
        name=task.name,
        lifecycle=str(lifecycle),
        state=str(State.SUCCESS if over else State.IN_PROGRESS),
        version=1,
        fence=0,
        attempts=0,
        origin=item.origin,
        user_id=actor.user_id,
        username=actor.username,
        email=actor.email,
        notify=int(spec.notify),
        ran="no",
        reason=None,
        trigger_name="success" if over else None,
        timeout=spec.timeout or DEFAULT_TIMEOUT,
        concurrency=spec.concurrency,
        not_before_at=now + grace if grace else 0,
        expires_at=now + grace + specs.expires_ms(spec),
        cancel_requested_at=None,
        canceled_by=None,
        unreachable_at=None,
        reconciled=0,
        resolved_by=None,
        restarted_from=item.restarted_from,
        created_at=now,
        updated_at=now,
        assigned_at=None,
        started_at=None,
        ended_at=now if over else None,
        deadline_at=None,
    )


def _key(item: NewJob) -> Key:
    """Whose key it is: the principal's, or the secret's where nobody signed in."""
    assert item.once is not None
    who = item.actor.principal if item.secret is None else f"secret:{item.task_id}"
    return (item.actor.customer_id, who, item.once.route, item.once.key)


def _again(tx: Tx, item: NewJob, by_key: dict[Key, tuple[Once, Created]]) -> Created | None:
    """The job that this key made before, perhaps a moment ago in this same set."""
    if item.once is None:
        return None
    if (earlier := by_key.get(_key(item))) is not None:
        once.check_same(earlier[0].body_digest, item.once)
        return msgspec.structs.replace(earlier[1], replayed=True)
    made = once.made_before(tx, _key(item), item.once)
    if made is None:
        return None
    (job_id,) = made
    job = once.job_of(tx, item.actor.customer_id, job_id)
    found = with_host(tx, job.customer_id, job.task_id or "", also_deleted=True)
    assert found is not None
    task, host = found
    asked = plan.of_job(tx, job_id) if job.type == APPROVAL else None
    values = store.heavy(tx, job_id).arguments
    return Created(job, values, task, _shown(host, item.actor), replayed=True, plan=asked)
