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
from belvedere.access.people import users
from belvedere.db import Tx
from belvedere.jobs.model import JobRow

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


def for_start(tx: Tx, actor: Actor, workflow_job_id: str | None) -> Starters:
    """For a job that this actor is about to start, perhaps as a step of a workflow job."""
    above = None
    if workflow_job_id is not None and not actor.starters:
        above = _start(tx, workflow_job_id)
    if actor.user_id:
        names = {actor.user_id}
    else:
        names = set(actor.starters) or {ADMINS} if above is None else _names(tx, above)
    return _with_token_creators(tx, actor.customer_id, names)


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
