"""Starts workflows: find it, check permission and the first step, then write the job."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere import access
from belvedere.access.actor import Actor
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Forbidden, Invalid, Refused
from belvedere.base.ids import is_id, new_id
from belvedere.db import Tx
from belvedere.db.commit_hooks import around_commit
from belvedere.jobs import idempotency, starters
from belvedere.jobs.idempotency import IdempotencyKey, ScopedKey
from belvedere.jobs.lifecycle.create import TaskCache
from belvedere.jobs.model import JobRow
from belvedere.jobs.people import participants
from belvedere.workflow_specs import skipped_approvals, store
from belvedere.workflow_specs.model import Node, WorkflowRow, WorkflowSpec, decode
from belvedere.workflows.execution import nested, step_jobs
from belvedere.workflows.execution.requests import RunContext, StepRequest, WorkflowRun


class WorkflowJobRequest(msgspec.Struct):
    """A request to run a workflow."""

    actor: Actor
    workflow_id: str
    values: list[Any] | None
    origin: str = "user"
    # The workflow's secret key, if it is used instead of a login.
    secret: str | None = None
    keys: Keyring | None = None
    idempotency_key: IdempotencyKey | None = None
    by_index: bool = False
    # Values beyond the definitions of the first task are ignored instead of refused.
    ignores_extra: bool = False
    # Members to whom the job and its steps are assigned.
    assignees: Sequence[str] = ()
    # Start with this node, or with the node of this task or workflow.
    start: str | None = None
    # If a job is run again: the task version that its arguments fit, and the stored arguments.
    stored_arguments: tuple[int | None, str] | None = None
    restarted_from: str | None = None
    # The trace context of the request.
    traceparent: str | None = None


class PreparedWorkflowJob(msgspec.Struct):
    """A workflow job that is checked and not yet written, or the earlier one of the same key."""

    request: WorkflowJobRequest
    job: JobRow
    run: WorkflowRun | None = None

    @property
    def is_replayed(self) -> bool:
        return self.run is None

    @property
    def ignored(self) -> tuple[str, ...]:
        """The values that no argument of the first step takes."""
        step = None if self.run is None else self.run.first_step
        return () if step is None or step.task_job is None else step.task_job[1].ignored


def run(tx: Tx, requests: list[WorkflowJobRequest]) -> Sequence[PreparedWorkflowJob | Exception]:
    """Start several workflows; if one is refused, the others still start."""
    tasks: TaskCache = {}
    answers: list[PreparedWorkflowJob | Exception] = []
    for request in requests:
        try:
            _check_secret(tx, request)
            prepared = _find_replay(tx, request) or prepare(tx, request, tasks)
            if not prepared.is_replayed:
                # Written one by one: whether the next job must wait depends on it.
                write(tx, [prepared])
            answers.append(prepared)
        except Refused as refusal:
            answers.append(refusal)
    return answers


def prepare(tx: Tx, request: WorkflowJobRequest, tasks: TaskCache) -> PreparedWorkflowJob:
    """Every check that can fail is made here."""
    row = _workflow(tx, request)
    nested.check_enabled(row)
    node = _start(tx, request, decode(row.spec))
    context = _run_context(request, row, new_id())
    context.assignees = _assignees(tx, request)
    step_request = StepRequest(
        context,
        node,
        request.values or [],
        request.origin,
        request.by_index,
        request.ignores_extra,
        stored_arguments=request.stored_arguments,
    )
    run = step_jobs.prepare_run(tx, row, context, step_request, tasks, start=node)
    run.job.restarted_from = request.restarted_from
    return PreparedWorkflowJob(request, run.job, run)


def write(tx: Tx, prepared: Sequence[PreparedWorkflowJob]) -> None:
    """Write the jobs; where a workflow runs one job at a time, the others wait."""
    for job in prepared:
        assert job.run is not None
        step_jobs.begin_run(tx, job.run, starters.names_to_store(job.request.actor))
        if job.request.idempotency_key is not None:
            idempotency.store_keys(
                tx, [(_key(job.request), job.request.idempotency_key, [job.job.id])]
            )
    around_commit(tx, "start")


def _check_secret(tx: Tx, request: WorkflowJobRequest) -> None:
    """Before anything else, also before a replay: a wrong secret must reveal nothing."""
    if request.secret is None:
        return
    assert request.keys is not None
    workflow_key = (request.actor.customer_id, "workflow", request.workflow_id)
    if not (
        is_id(request.workflow_id)
        and secret_keys.check(tx, request.keys, *workflow_key, request.secret)
    ):
        raise Forbidden("Invalid secret key.", code="wrong_secret")


def _workflow(tx: Tx, request: WorkflowJobRequest) -> WorkflowRow:
    """The workflow, if the actor may run it."""
    actor = request.actor
    row = store.find(tx, actor.customer_id, request.workflow_id)
    if request.secret is not None or actor.runs_all:
        return row
    acl = access.acl_of(tx, actor.customer_id, "workflow", request.workflow_id)
    if not access.may_see(actor, acl):
        raise store.not_found()
    if not access.may_run(actor, acl):
        raise Forbidden("The workflow's ACL does not let you run it.", code="may_not_run")
    return row


def _start(tx: Tx, request: WorkflowJobRequest, spec: WorkflowSpec) -> Node:
    node = _start_node(spec, request.start)
    if node.id != spec.start and not request.actor.runs_all:
        skipped_approvals.refuse(tx, spec.graph, node)
    return node


def _start_node(spec: WorkflowSpec, start: str | None) -> Node:
    if start is None:
        return spec.graph.node(spec.start)
    for node in spec.graph.nodes:
        if start in (node.id, node.task_id, node.workflow_id) and start:
            return node
    raise Invalid("The workflow has no such node or task to start with.", code="invalid_start")


def _run_context(request: WorkflowJobRequest, row: WorkflowRow, job_id: str) -> RunContext:
    actor = request.actor
    return RunContext(
        job_id,
        row.id,
        row.customer_id,
        actor.user_id,
        actor.username,
        actor.email,
        starters=actor.starters,
        source=actor.source,
        traceparent=request.traceparent,
    )


def _assignees(tx: Tx, request: WorkflowJobRequest) -> tuple[str, ...]:
    """User ids; a job that runs again takes over those of the earlier one."""
    if request.assignees:
        return participants.resolve_members(tx, request.actor.customer_id, request.assignees)
    if request.restarted_from is not None:
        return participants.find(tx, request.restarted_from).assignees
    return ()


def _key(request: WorkflowJobRequest) -> ScopedKey:
    """The owner of the idempotency key: the principal, or the secret key if nobody is signed in."""
    assert request.idempotency_key is not None
    owner = request.actor.principal if request.secret is None else f"secret:{request.workflow_id}"
    return (
        request.actor.customer_id,
        owner,
        request.idempotency_key.route,
        request.idempotency_key.key,
    )


def _find_replay(tx: Tx, request: WorkflowJobRequest) -> PreparedWorkflowJob | None:
    """The job that this idempotency key created before."""
    job_ids = (
        None
        if request.idempotency_key is None
        else idempotency.find_replay(tx, _key(request), request.idempotency_key)
    )
    if job_ids is None:
        return None
    return PreparedWorkflowJob(
        request, idempotency.replayed_job(tx, request.actor.customer_id, job_ids[0])
    )
