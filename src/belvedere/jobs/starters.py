"""Who counts as having started a job. An approval with `four_eyes` is decided by somebody else.

A job that no person started (task secret, webhook, schedule, trigger) counts as started by everyone
who could have caused it: the people behind the job that triggered it, the people who created or
changed its schedule, else every admin, because admins can read secrets and set up webhooks.

A membership may have belonged to another account before; that account's jobs and rights are the
same person's. For a job that is older than this record, the cause is unknown: every admin counts as
its starter as long as another approver can decide it.
"""

from collections.abc import Iterable, Set

import msgspec

from belvedere.access.actor import Actor, Level
from belvedere.access.people import memberships, users
from belvedere.base.errors import Conflict, Invalid
from belvedere.db import Tx
from belvedere.jobs.model import JobRow
from belvedere.tasks.model import TaskSpec, Type

# In place of a user id: every member whose level is admin or above.
ADMINS = "@admins"
# Workflows are nested less deep than this.
MAX_DEPTH = 50


class Starters(msgspec.Struct, frozen=True):
    """User ids, and perhaps ADMINS."""

    names: frozenset[str]
    # False: no person started the job, and nothing says what did.
    is_recorded: bool = True

    def include(self, actor: Actor, ids: Set[str]) -> bool:
        """`ids` are the accounts of the actor."""
        is_admin = ADMINS in self.names and actor.level.reaches(Level.ADMIN)
        return is_admin or not (ids - {""}).isdisjoint(self.names)


class _Start(msgspec.Struct):
    job_id: str
    workflow_job_id: str | None
    user_id: str


def store_names(tx: Tx, job_id: str, names: Iterable[str]) -> None:
    """Record the starters of a job that no person started."""
    tx.execute_many(
        "insert into job_starters (job_id, user_id) values (?, ?)",
        [(job_id, name) for name in sorted(set(names))],
    )


def names_to_store(actor: Actor) -> tuple[str, ...]:
    """For a job that is not a step of a workflow; empty if a person starts it."""
    return actor.starters or (() if actor.user_id else (ADMINS,))


def for_job(tx: Tx, job: JobRow) -> Starters:
    names = _recorded(tx, _Start(job.id, job.workflow_job_id, job.user_id))
    names |= {job.user_id} - {""}
    starters = _with_token_creators(tx, job.customer_id, names or {ADMINS})
    return msgspec.structs.replace(starters, is_recorded=bool(names))


def counts_as_starter(tx: Tx, actor: Actor, job: JobRow, spec: TaskSpec) -> bool:
    """Whether this approver counts as having started the job."""
    starters = for_job(tx, job)
    if not starters.include(actor, account_ids(tx, actor)):
        return False
    return starters.is_recorded or _has_other_approver(tx, actor, spec, starters)


def account_ids(tx: Tx, actor: Actor) -> frozenset[str]:
    return users.account_ids(tx, actor.customer_id, actor.user_id)


def for_source(tx: Tx, customer_id: str, job_id: str) -> tuple[str, ...]:
    """For a job that this job triggers: the same people."""
    source = _start(tx, job_id)
    names = {ADMINS} if source is None else _names(tx, source)
    return tuple(sorted(_with_token_creators(tx, customer_id, names).names))


def for_changes(tx: Tx, customer_id: str, object: str, object_id: str) -> tuple[str, ...]:
    """The people who created or changed an object that starts jobs, from the audit log."""
    rows = tx.rows(
        "select distinct actor_id from audit where object_id = ? and object = ?"
        " and customer_id = ? and actor_id <> ''",
        object_id,
        object,
        customer_id,
    )
    return tuple(sorted(name for (name,) in rows)) or (ADMINS,)


def require_approvers(spec: TaskSpec) -> None:
    """A task that an integration token imported has no approvers until a person sets them."""
    is_fixed = spec.type is Type.APPROVAL and spec.approvals_target == "fixed"
    if is_fixed and not spec.approvers:
        raise Invalid(
            "The task has no approvers, so nobody could decide. Set its approvers first.",
            code="no_approver",
        )


def check_approver_left(tx: Tx, actor: Actor, workflow_job_id: str | None, spec: TaskSpec) -> None:
    """Reject an approval that no person starts and that nobody could decide."""
    above = None
    if workflow_job_id is not None and not actor.starters:
        above = _start(tx, workflow_job_id)
    names = set(actor.starters) or {ADMINS} if above is None else _names(tx, above)
    starters = _with_token_creators(tx, actor.customer_id, names)
    if _has_other_approver(tx, actor, spec, starters):
        return
    raise Conflict(
        "Nobody could decide this approval: it has four_eyes and no person starts it, so it counts"
        " as started by everyone who could have caused the start, and every approver is one of"
        " them. Name an approver who is not, for example one below the level admin, or start it"
        " as a person.",
        code="no_approver",
    )


def _has_other_approver(tx: Tx, actor: Actor, spec: TaskSpec, starters: Starters) -> bool:
    """Whether an approver of the organization does not count as one of the starters."""
    for member in memberships.list_members(tx, actor):
        is_active = member.enabled and member.user_enabled and member.invited_at is None
        person = memberships.actor_for(member, "")
        ids = account_ids(tx, person) if is_active else frozenset[str]()
        if is_active and is_named_approver(spec, person, ids) and not starters.include(person, ids):
            return True
    return False


def is_named_approver(spec: TaskSpec, actor: Actor, ids: Set[str]) -> bool:
    """Whether the task names this member as approver, by user id, e-mail or member tag. User names
    do not count: one that equals a tag would give the right of the tag."""
    entries = spec.assigned_users if spec.approvals_target == "assignees" else spec.approvers
    named = {entry.lower() for entry in entries}
    return not named.isdisjoint({*ids, *approver_entries(actor)} - {""})


def approver_entries(actor: Actor) -> tuple[str, ...]:
    return tuple(entry.lower() for entry in (actor.email, *actor.tags) if entry)


def _names(tx: Tx, start: _Start) -> set[str]:
    return _recorded(tx, start) or {ADMINS}


def _recorded(tx: Tx, start: _Start) -> set[str]:
    """The starter of a step is the starter of the outermost workflow."""
    for _ in range(MAX_DEPTH):
        above = None if start.workflow_job_id is None else _start(tx, start.workflow_job_id)
        if above is None:
            break
        start = above
    if start.user_id:
        return {start.user_id}
    rows = tx.rows("select user_id from job_starters where job_id = ?", start.job_id)
    return {name for (name,) in rows}


def _start(tx: Tx, job_id: str) -> _Start | None:
    return tx.one(_Start, "select id, workflow_job_id, user_id from jobs where id = ?", job_id)


def _with_token_creators(tx: Tx, customer_id: str, names: Set[str]) -> Starters:
    """A token is used by the person who created it."""
    rows = tx.rows(
        f"select created_by from tokens where customer_id = ? and id in {tx.dialect.in_texts}",
        customer_id,
        msgspec.json.encode(sorted(names)).decode(),
    )
    return Starters(frozenset(names) | {name for (name,) in rows})
