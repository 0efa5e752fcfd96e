"""Who counts as having started a job. An approval with `four_eyes` is decided by somebody else.

A job that no person started (task secret, webhook, schedule, trigger) counts as started by everyone
who could have caused it: the people behind the job that triggered it, the people who created or
changed its schedule, else every admin, because admins can read secrets and set up webhooks.
"""

from collections.abc import Iterable, Set

import msgspec

from belvedere.access import roster
from belvedere.access.model import Actor, Level
from belvedere.base.errors import Conflict
from belvedere.db import Tx
from belvedere.jobs.model import JobRow
from belvedere.tasks.model import TaskSpec

# In place of a user id: every member whose level is admin or above.
ADMINS = "@admins"
# Workflows run each other less deep than this.
MAX_DEPTH = 50


class Starters(msgspec.Struct, frozen=True):
    """User ids, and perhaps ADMINS."""

    names: frozenset[str]

    def include(self, actor: Actor) -> bool:
        is_admin = ADMINS in self.names and actor.level.reaches(Level.ADMIN)
        return is_admin or (bool(actor.user_id) and actor.user_id in self.names)


class _Start(msgspec.Struct):
    job_id: str
    workflow_job_id: str | None
    user_id: str


def remember(tx: Tx, job_id: str, names: Iterable[str]) -> None:
    """For a job that no person started."""
    tx.many(
        "insert into job_starters (job_id, user_id) values (?, ?)",
        [(job_id, name) for name in sorted(set(names))],
    )


def of_job(tx: Tx, job: JobRow) -> Starters:
    names = _names(tx, _Start(job.id, job.workflow_job_id, job.user_id))
    return _with_token_creators(tx, job.customer_id, names | ({job.user_id} - {""}))


def of_source(tx: Tx, customer_id: str, job_id: str) -> tuple[str, ...]:
    """Of a job that this job triggers: the same people."""
    source = _start(tx, job_id)
    names = {ADMINS} if source is None else _names(tx, source)
    return tuple(sorted(_with_token_creators(tx, customer_id, names).names))


def of_changes(tx: Tx, customer_id: str, object: str, object_id: str) -> tuple[str, ...]:
    """The people who created or changed something that starts jobs, as the audit knows them."""
    rows = tx.rows(
        "select distinct actor_id from audit where object_id = ? and object = ?"
        " and customer_id = ? and actor_id <> ''",
        object_id,
        object,
        customer_id,
    )
    return tuple(sorted(name for (name,) in rows)) or (ADMINS,)


def check_approver_left(tx: Tx, actor: Actor, workflow_job_id: str | None, spec: TaskSpec) -> None:
    """Refuse an approval that no person starts and that nobody could decide."""
    above = None
    if workflow_job_id is not None and not actor.starters:
        above = _start(tx, workflow_job_id)
    names = set(actor.starters) or {ADMINS} if above is None else _names(tx, above)
    starters = _with_token_creators(tx, actor.customer_id, names)
    for member in roster.everybody(tx, actor):
        is_active = member.enabled and member.user_enabled and member.invited_at is None
        person = roster.acting(member, "")
        if is_active and is_named(spec, person) and not starters.include(person):
            return
    raise Conflict(
        "Nobody could decide this approval: it has four_eyes and no person starts it, so it counts"
        " as started by everyone who could have caused the start, and every approver is one of"
        " them. Name an approver who is not, for example one below the level admin, or start it"
        " as a person.",
        code="no_approver",
    )


def is_named(spec: TaskSpec, actor: Actor) -> bool:
    """Whether the task names this member as approver, by user id, e-mail or member tag. User names
    do not count: one that equals a tag would give the right of the tag."""
    entries = spec.assigned_users if spec.approvals_target == "assignees" else spec.approvers
    named = {entry.lower() for entry in entries}
    return actor.user_id in named or bool(named.intersection(approver_entries(actor)))


def approver_entries(actor: Actor) -> tuple[str, ...]:
    return tuple(entry.lower() for entry in (actor.email, *actor.tags) if entry)


def _names(tx: Tx, start: _Start) -> set[str]:
    """A step of a workflow was started by whoever started the outermost workflow."""
    for _ in range(MAX_DEPTH):
        above = None if start.workflow_job_id is None else _start(tx, start.workflow_job_id)
        if above is None:
            break
        start = above
    if start.user_id:
        return {start.user_id}
    rows = tx.rows("select user_id from job_starters where job_id = ?", start.job_id)
    return {name for (name,) in rows} or {ADMINS}


def _start(tx: Tx, job_id: str) -> _Start | None:
    return tx.one(_Start, "select id, workflow_job_id, user_id from jobs where id = ?", job_id)


def _with_token_creators(tx: Tx, customer_id: str, names: Set[str]) -> Starters:
    """A token is used by the person who created it."""
    rows = tx.rows(
        f"select created_by from tokens where customer_id = ? and id in {tx.sql.texts}",
        customer_id,
        msgspec.json.encode(sorted(names)).decode(),
    )
    return Starters(frozenset(names) | {name for (name,) in rows})
