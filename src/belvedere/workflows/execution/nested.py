"""A workflow job as a step of another one: permission to start it, and its row."""

from belvedere import access
from belvedere.access.actor import Actor, Level, trigger_actor
from belvedere.access.people import memberships, users
from belvedere.base.errors import Conflict, Forbidden
from belvedere.base.ids import new_id
from belvedere.base.text import trace_context
from belvedere.db import Tx
from belvedere.jobs import starters
from belvedere.jobs.model import WORKFLOW, JobRow, JobState, Lifecycle
from belvedere.jobs.people import participants
from belvedere.workflow_specs import store
from belvedere.workflow_specs.model import WorkflowRow
from belvedere.workflow_specs.nesting import MAX_DEPTH
from belvedere.workflows.execution.requests import RunContext, StepRequest


def check_start(tx: Tx, request: StepRequest) -> tuple[WorkflowRow, RunContext]:
    """The workflow of a node, and the context of its job. Checked as if the person who started the
    outermost job had started this one."""
    parent, workflow_id = request.parent, request.node.workflow_id
    row = store.find(tx, parent.customer_id, workflow_id)
    check_enabled(row)
    depth = _depth(tx, parent) + 1
    if depth > MAX_DEPTH:
        message = f"Workflows can be nested at most {MAX_DEPTH} levels deep."
        raise Conflict(message, code="workflow_too_deep")
    acl = access.acl_of(tx, parent.customer_id, "workflow", workflow_id)
    if not access.may_run(_person(tx, parent), acl):
        message = (
            f"The ACL of the workflow {row.name} does not let the person who started this run it."
        )
        raise Forbidden(message, code="may_not_run")
    context = RunContext(
        new_id(),
        row.id,
        parent.customer_id,
        parent.user_id,
        parent.username,
        parent.email,
        depth=depth,
        traceparent=trace_context.for_children(parent.traceparent, parent.id),
    )
    context.starters = _starters(tx, parent)
    context.assignees = (
        parent.assignees
        if isinstance(parent, RunContext)
        else participants.find(tx, parent.id).assignees
    )
    return row, context


def _starters(tx: Tx, parent: RunContext | JobRow) -> tuple[str, ...]:
    if isinstance(parent, RunContext):
        return parent.starters
    return () if parent.user_id else starters.for_source(tx, parent.customer_id, parent.id)


def check_enabled(row: WorkflowRow) -> None:
    if not row.enabled:
        message = f"The workflow {row.name} is disabled; enable it before running it."
        raise Conflict(message, code="workflow_disabled")


def _person(tx: Tx, parent: RunContext | JobRow) -> Actor:
    """Who started the outermost job, with current permissions. If no person did, all is allowed."""
    if not parent.user_id:
        return trigger_actor(parent.customer_id, "")
    user_id = users.current_account(tx, parent.customer_id, parent.user_id)
    member = memberships.for_user(tx, parent.customer_id, user_id)
    if member is not None and member.enabled and member.user_enabled:
        return memberships.actor_for(member, "")
    is_token = tx.row(
        "select 1 from tokens where id = ? and customer_id = ? and revoked_at is null",
        parent.user_id,
        parent.customer_id,
    )
    if is_token is not None:
        return trigger_actor(parent.customer_id, "")
    return Actor(parent.customer_id, "", Level.ANONYMOUS, "anonymous")


def _depth(tx: Tx, parent: RunContext | JobRow) -> int:
    if isinstance(parent, RunContext):
        return parent.depth
    depth, outer_id = 1, parent.workflow_job_id
    while outer_id is not None and depth <= MAX_DEPTH:
        depth += 1
        outer_id = tx.value("select workflow_job_id from jobs where id = ?", outer_id)
    return depth


def new_job_row(
    context: RunContext, row: WorkflowRow, origin: str, now: int, expires: int
) -> JobRow:
    """The row of a new workflow job."""
    return JobRow(
        id=context.id,
        customer_id=context.customer_id,
        task_id=None,
        task_version=None,
        workflow_id=row.id,
        workflow_job_id=None,
        host_id=None,
        script_id=None,
        script_sha256=None,
        script_filename=None,
        type=WORKFLOW,
        name=row.name,
        lifecycle=Lifecycle.READY.value,
        state=JobState.IN_PROGRESS.value,
        origin=origin,
        user_id=context.user_id,
        username=context.username,
        email=context.email,
        notify=1,
        expires_at=now + expires,
        created_at=now,
        updated_at=now,
        started_by=context.source,
        traceparent=context.traceparent,
    )
