"""Who decides an approval: the people that its task names, the assignees of the job, or the person
who started it. An approval that nobody could decide is not created."""

from collections.abc import Sequence, Set

from belvedere.access.actor import Actor
from belvedere.access.people import memberships, users
from belvedere.base.errors import Invalid
from belvedere.db import Tx
from belvedere.jobs import starters
from belvedere.jobs.model import JobRow
from belvedere.jobs.people import participants
from belvedere.jobs.starters import Starters
from belvedere.tasks.model import TaskSpec

_NOBODY_STARTED = Starters(frozenset())
# What to do if none of the named people can decide, by `approvals_target`.
_REMEDIES = {
    "fixed": "none of its approvers is an active member. Change the task's approvers.",
    "assignees": "none of its assignees is an active member. Name members with `assignee` when you"
    " run it, or set the task's assigned_users.",
    "initiator": "the person who starts it decides, and no person starts it. Set the task's"
    " approvals_target to fixed and name its approvers.",
}


def for_job(tx: Tx, job: JobRow, spec: TaskSpec) -> frozenset[str]:
    """User ids, e-mail addresses and member tags of those who may decide it, in lower case."""
    return _lower(list_for_job(tx, job, spec))


def list_for_job(tx: Tx, job: JobRow, spec: TaskSpec) -> list[str]:
    """The same as they were written, in their order."""
    assignees: Sequence[str] = ()
    if spec.approvals_target == "assignees":
        assignees = participants.find(tx, job.id).assignees
    return _names_in(spec, job.user_id, assignees)


def _names_in(spec: TaskSpec, starter_id: str, assignees: Sequence[str]) -> list[str]:
    match spec.approvals_target:
        case "initiator":
            return [starter_id] if starter_id else []
        case "assignees":
            return list(assignees or spec.assigned_users)
    return spec.approvers


def _lower(names: Sequence[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names if name)


def is_named(names: Set[str], actor: Actor, ids: Set[str]) -> bool:
    """Whether this member is named by user id, e-mail or member tag; `ids` are its accounts. User
    names do not count: one that equals a tag would give the right of the tag."""
    return not names.isdisjoint({*ids, *approver_entries(actor)} - {""})


def approver_entries(actor: Actor) -> tuple[str, ...]:
    return tuple(entry.lower() for entry in (actor.email, *actor.tags) if entry)


def counts_as_starter(tx: Tx, actor: Actor, job: JobRow, spec: TaskSpec) -> bool:
    """Whether this approver counts as having started the job."""
    people = starters.for_job(tx, job)
    if not people.include(actor, starters.account_ids(tx, actor)):
        return False
    names = for_job(tx, job, spec)
    return people.is_recorded or _has_approver(tx, actor.customer_id, names, people)


def check_start(
    tx: Tx,
    actor: Actor,
    spec: TaskSpec,
    assignees: Sequence[str],
    workflow_job_id: str | None = None,
) -> None:
    """Reject an approval that nobody could decide if this actor started it now."""
    if spec.approvals_target == "initiator" and actor.user_id:
        # Perhaps a token, which is not a member.
        return
    people = starters.for_start(tx, actor, workflow_job_id) if spec.four_eyes else _NOBODY_STARTED
    _check(tx, actor.customer_id, spec, _lower(_names_in(spec, "", assignees)), people)


def check_assignees(tx: Tx, job: JobRow, spec: TaskSpec, assignees: Sequence[str]) -> None:
    """Reject assignees of whom none could decide this approval."""
    if spec.approvals_target == "assignees":
        people = starters.for_job(tx, job) if spec.four_eyes else _NOBODY_STARTED
        _check(tx, job.customer_id, spec, _lower(_names_in(spec, "", assignees)), people)


def _check(
    tx: Tx, customer_id: str, spec: TaskSpec, names: frozenset[str], people: Starters
) -> None:
    if _has_approver(tx, customer_id, names, people):
        return
    if people.names and _has_approver(tx, customer_id, names, _NOBODY_STARTED):
        raise Invalid(
            "Nobody could decide this approval: it has four_eyes, and every approver counts as"
            " having started it. If no person starts it, these are all who could have caused the"
            " start. Name an approver who is not one of them, for example one below the level"
            " admin, or let another person start it.",
            code="no_approver",
        )
    remedy = _REMEDIES.get(spec.approvals_target, _REMEDIES["fixed"])
    raise Invalid(f"Nobody could decide this approval: {remedy}", code="no_approver")


def _has_approver(tx: Tx, customer_id: str, names: frozenset[str], people: Starters) -> bool:
    """Whether a member is named who can decide now, or after accepting the invitation, and does not
    count as one of the starters."""
    if not names:
        return False
    former = users.former_accounts(tx, customer_id)
    for member in memberships.list_in(tx, customer_id):
        if member.enabled and member.user_enabled:
            person = memberships.actor_for(member, "")
            ids = {member.user_id, *former.get(member.user_id, ())}
            if is_named(names, person, ids) and not people.include(person, ids):
                return True
    return False
