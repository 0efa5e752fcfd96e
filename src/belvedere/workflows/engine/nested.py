"""A job of a whole workflow as a step of another one's: who may start it, and its row."""

from belvedere import access
from belvedere.access.actor import Actor, Level, starter
from belvedere.access.people import memberships, users
from belvedere.base.errors import Conflict, Forbidden
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.jobs import starters
from belvedere.jobs.model import WORKFLOW, JobRow, Lifecycle, State
from belvedere.workflow_specs import store
from belvedere.workflow_specs.model import WorkflowRow
from belvedere.workflow_specs.nesting import MAX_DEPTH
from belvedere.workflows.engine.requests import Of, Wanted


def to_start(tx: Tx, wanted: Wanted) -> tuple[WorkflowRow, Of]:
    """The workflow of a node, and what its job begins with; checked as if who started it all asked
    for it alone."""
    of, workflow_id = wanted.of, wanted.node.workflow_id
    row = store.find(tx, of.customer_id, workflow_id)
    check_enabled(row)
    depth = _depth(tx, of) + 1
    if depth > MAX_DEPTH:
        message = f"Workflows may run each other {MAX_DEPTH} deep, no deeper."
        raise Conflict(message, code="workflow_too_deep")
    acl = access.acl_of(tx, of.customer_id, "workflow", workflow_id)
    if not access.may_run(_person(tx, of), acl):
        message = f"Who started this may not run the workflow {row.name}: its ACL does not say so."
        raise Forbidden(message, code="may_not_run")
    stem = Of(new_id(), row.id, of.customer_id, of.user_id, of.username, of.email, depth=depth)
    stem.starters = _starters(tx, of)
    return row, stem


def _starters(tx: Tx, of: Of | JobRow) -> tuple[str, ...]:
    if isinstance(of, Of):
        return of.starters
    return () if of.user_id else starters.of_source(tx, of.customer_id, of.id)


def check_enabled(row: WorkflowRow) -> None:
    if not row.enabled:
        message = f"The workflow {row.name} is disabled; enable it before running it."
        raise Conflict(message, code="workflow_disabled")


def _person(tx: Tx, of: Of | JobRow) -> Actor:
    """Who started it all, with the rights of today; what nobody started runs all."""
    if not of.user_id:
        return starter(of.customer_id, "")
    user_id = users.current_account(tx, of.customer_id, of.user_id)
    member = memberships.of_user(tx, of.customer_id, user_id)
    if member is not None and member.enabled and member.user_enabled:
        return memberships.acting(member, "")
    is_token = tx.row(
        "select 1 from tokens where id = ? and customer_id = ? and revoked_at is null",
        of.user_id,
        of.customer_id,
    )
    if is_token is not None:
        return starter(of.customer_id, "")
    return Actor(of.customer_id, "", Level.ANONYMOUS, "anonymous")


def _depth(tx: Tx, of: Of | JobRow) -> int:
    if isinstance(of, Of):
        return of.depth
    depth, above = 1, of.workflow_job_id
    while above is not None and depth <= MAX_DEPTH:
        depth += 1
        above = tx.value("select workflow_job_id from jobs where id = ?", above)
    return depth


def job_of(of: Of, row: WorkflowRow, origin: str, now: int, expires: int) -> JobRow:
    """As it is born."""
    return JobRow(
        id=of.id,
        customer_id=of.customer_id,
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
        state=State.IN_PROGRESS.value,
        version=1,
        fence=0,
        attempts=0,
        origin=origin,
        user_id=of.user_id,
        username=of.username,
        email=of.email,
        notify=1,
        ran="no",
        reason=None,
        trigger_name=None,
        timeout=0,
        concurrency=None,
        not_before_at=0,
        expires_at=now + expires,
        cancel_requested_at=None,
        canceled_by=None,
        unreachable_at=None,
        reconciled=0,
        resolved_by=None,
        restarted_from=None,
        created_at=now,
        updated_at=now,
        assigned_at=None,
        started_at=None,
        ended_at=None,
        deadline_at=None,
    )
