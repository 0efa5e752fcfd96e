"""Who may see which job. A job has the ACL of its task or workflow, unless it has one of its own;
its assignees see it, too."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere import access
from belvedere.access.actor import Actor, Level
from belvedere.base.errors import Forbidden, NotFound
from belvedere.db import Tx
from belvedere.db.interface import Dialect
from belvedere.jobs import specs, starters, store
from belvedere.jobs.model import APPROVAL, JobRow
from belvedere.jobs.people import approvers, participants
from belvedere.jobs.people.participants import Role


def require_visible(tx: Tx, actor: Actor, job_id: str) -> JobRow:
    """The job; NotFound if it does not exist or the actor may not see it."""
    return check_visible(tx, actor, store.find(tx, actor.customer_id, job_id))


def check_visible(tx: Tx, actor: Actor, job: JobRow) -> JobRow:
    if not _may_see(tx, actor, job):
        raise NotFound("There is no such job.", code="job_not_found")
    return job


def require_runnable(tx: Tx, actor: Actor, job_id: str) -> JobRow:
    """The job, locked, if the actor may run its task or workflow."""
    job = store.lock(tx, actor.customer_id, job_id)
    if not _may_see(tx, actor, job):
        raise NotFound("There is no such job.", code="job_not_found")
    if not access.may_run(actor, acl_for(tx, job)):
        raise Forbidden("You may see this job, but not change it.", code="may_not_run")
    return job


def lock_visible(tx: Tx, actor: Actor, job_id: str) -> JobRow:
    job = store.lock(tx, actor.customer_id, job_id)
    if not _may_see(tx, actor, job):
        raise NotFound("There is no such job.", code="job_not_found")
    return job


def acl_for(tx: Tx, job: JobRow) -> Sequence[str]:
    """Its own ACL, else that of its workflow or task."""
    return participants.find(tx, job.id).observers or _inherited_acl(tx, job)


def _inherited_acl(tx: Tx, job: JobRow) -> list[str]:
    if job.workflow_id is not None:
        return access.acl_of(tx, job.customer_id, "workflow", job.workflow_id)
    return access.acl_of(tx, job.customer_id, "task", job.task_id or "")


def _may_see(tx: Tx, actor: Actor, job: JobRow) -> bool:
    if actor.level is Level.AGENT:
        return job.host_id == actor.host_id
    if actor.sees_all or (job.user_id and job.user_id == actor.user_id):
        return True
    people = participants.find(tx, job.id)
    acl = people.observers or _inherited_acl(tx, job)
    if access.may_see(actor, acl) or is_approver(tx, actor, job):
        return True
    ids = starters.account_ids(tx, actor) - {""}
    return job.user_id in ids or not ids.isdisjoint(people.assignees)


def may_see(tx: Tx, actor: Actor, job_id: str) -> bool:
    """Whether the job exists and the actor may see it."""
    try:
        require_visible(tx, actor, job_id)
    except NotFound:
        return False
    return True


def is_approver(tx: Tx, actor: Actor, job: JobRow) -> bool:
    """Whether the actor is named by user id, e-mail or member tag, or started it and decides."""
    if job.type != APPROVAL:
        return False
    names = approvers.for_job(tx, job, specs.for_job(tx, job))
    return approvers.is_named(names, actor, starters.account_ids(tx, actor))


class _Approvers(msgspec.Struct):
    approvers: list[str] = []
    assigned_users: list[str] = []


_approvers = msgspec.json.Decoder(_Approvers).decode


def approvers_in_use(tx: Tx, customer_id: str) -> set[str]:
    """User ids, e-mail addresses and tags, in lower case, that the approval tasks name now or that
    open approvals name."""
    rows = tx.rows(
        "select spec from tasks where customer_id = ? and type = 'approval' and deleted_at is null"
        " union select v.spec from jobs j join task_versions v on v.task_id = j.task_id"
        " and v.version = j.task_version where j.customer_id = ? and j.type = 'ApprovalJob'"
        " and j.lifecycle = 'onhold'",
        customer_id,
        customer_id,
    )
    names = [_approvers(spec) for (spec,) in rows]
    assignees = tx.rows(
        "select p.entry from jobs j join job_participants p on p.job_id = j.id"
        f" and p.role = '{Role.ASSIGNEE}' where j.customer_id = ? and j.type = 'ApprovalJob'"
        " and j.lifecycle = 'onhold'",
        customer_id,
    )
    return {
        *(entry.lower() for name in names for entry in (*name.approvers, *name.assigned_users)),
        *(user_id.lower() for (user_id,) in assignees),
    }


def may_decide(tx: Tx, actor: Actor, job: JobRow) -> bool:
    """An approver; with `four_eyes`, nobody who counts as having started the job."""
    if not is_approver(tx, actor, job):
        return False
    spec = specs.for_job(tx, job)
    return not (spec.four_eyes and approvers.counts_as_starter(tx, actor, job, spec))


def visible_filter(actor: Actor, dialect: Dialect) -> tuple[str, list[Any]]:
    """The rule of `may_see` as a condition on `jobs j`, for lists."""
    if actor.sees_all:
        return "1 = 1", []
    tasks, task_params = access.visible_filter(actor, "task", "j.task_id")
    flows, flow_params = access.visible_filter(actor, "workflow", "j.workflow_id")
    names = approvers.approver_entries(actor)
    votes = _approves(dialect, ", ".join("?" * len(names)) or "''")
    entries = actor.entries
    marks = ", ".join("?" * len(entries)) or "''"
    return (
        f"(j.user_id in {_ACCOUNTS}"
        f" or (((j.workflow_id is null and {tasks}) or {flows}) and not {_has(Role.OBSERVER)})"
        f" or {_named(Role.OBSERVER, f'({marks})')} or {_named(Role.ASSIGNEE, _ACCOUNTS)}"
        f" or {votes})",
        [
            *(*_accounts_of(actor), *task_params, *flow_params, *entries),
            *(*_accounts_of(actor), *names, *_accounts_of(actor)),
        ],
    )


def _has(role: Role) -> str:
    return f"exists (select 1 from job_participants p where p.job_id = j.id and p.role = '{role}')"


def _named(role: Role, entries: str) -> str:
    return (
        f"j.id in (select p.job_id from job_participants p where p.role = '{role}'"
        f" and p.entry in {entries})"
    )


# The account of the actor, and the accounts that its membership belonged to before.
_ACCOUNTS = (
    "(select ? union all select former_id from former_accounts"
    " where user_id = ? and customer_id = ?)"
)


def _accounts_of(actor: Actor) -> tuple[str, str, str]:
    user_id = actor.user_id or "-"
    return user_id, user_id, actor.customer_id


def _approves(dialect: Dialect, names: str) -> str:
    """`is_approver` in SQL: the definition that the job was created from names the actor."""
    return (
        "(j.type = 'ApprovalJob' and exists (select 1 from task_versions v"
        f" cross join {_approver_values(dialect)} where v.task_id = j.task_id"
        f" and v.version = j.task_version and {_names_approver(dialect, names)}"
        f" and not (coalesce({_target(dialect)}, '') = 'assignees' and {_has(Role.ASSIGNEE)})))"
    )


def list_approvals(tx: Tx, actor: Actor, limit: int) -> list[tuple[str, int, bool]]:
    """Versions of approval tasks that name the actor as an approver, and whether a job with
    assignees of its own replaces them."""
    names = approvers.approver_entries(actor)
    condition = _names_approver(tx.dialect, ", ".join("?" * len(names)) or "''")
    rows = tx.rows(
        f"select distinct v.task_id, v.version, coalesce({_target(tx.dialect)}, '')"
        f" from tasks t join task_versions v on v.task_id = t.id"
        f" cross join {_approver_values(tx.dialect)}"
        f" where t.customer_id = ? and t.type = 'approval' and {condition} limit ?",
        *(actor.customer_id, *names, *_accounts_of(actor), limit),
    )
    return [(task_id, version, target == "assignees") for task_id, version, target in rows]


def _target(dialect: Dialect) -> str:
    return dialect.json_text("v.spec", ["approvals_target"])


def _approver_values(dialect: Dialect) -> str:
    target = _target(dialect)
    key = f"(case when {target} = 'assignees' then 'assigned_users' else 'approvers' end)"
    return dialect.json_values("v.spec", "a", key)


def _names_approver(dialect: Dialect, names: str) -> str:
    return (
        f"(lower(a.value) in ({names}) or a.value in {_ACCOUNTS})"
        f" and coalesce({_target(dialect)}, '') <> 'initiator'"
    )
