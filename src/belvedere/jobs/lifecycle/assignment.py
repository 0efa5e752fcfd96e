"""People involved in one job: its assignees, its own ACL, and the list of its participants."""

from collections.abc import Collection, Sequence

import msgspec

from belvedere.access import Level, audit, may_see, require, resolve
from belvedere.access.actor import Actor
from belvedere.access.people import memberships, users
from belvedere.access.people.memberships import Member
from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx
from belvedere.jobs import events, permissions, specs, store
from belvedere.jobs.model import APPROVAL, JobRow
from belvedere.jobs.people import approvers, participants
from belvedere.jobs.people.participants import Role


class JobPerson(msgspec.Struct):
    id: str
    username: str
    email: str


class JobPeople(msgspec.Struct):
    """`owner` is the person or token that started it, null if neither did; `observers` are the
    members that its ACL names, empty for a caller whom it does not name. Below manager, `email` of
    other people is empty."""

    owner: JobPerson | None
    assignee: list[JobPerson]
    observers: list[JobPerson]


def assign(tx: Tx, actor: Actor, job_id: str, names: Sequence[str]) -> list[str]:
    """Make these members its only assignees, and those of its steps; returns their member ids."""
    require(actor, Level.ADMIN)
    job = permissions.lock_visible(tx, actor, job_id)
    user_ids = participants.resolve_members(tx, job.customer_id, names)
    job_ids = participants.with_steps(tx, job.id)
    for approval in _open_approvals(tx, job_ids):
        approvers.check_assignees(tx, approval, specs.for_job(tx, approval), user_ids)
    before = participants.find(tx, job.id).assignees
    participants.replace(tx, job_ids, Role.ASSIGNEE, user_ids)
    _record_change(tx, actor, job, "assign", "assignees", before, user_ids)
    _publish(tx, "assignees_changed", [job, *_open_approvals(tx, job_ids[1:])])
    by_user = {member.user_id: member.id for member in memberships.list_in(tx, job.customer_id)}
    return [by_user[user_id] for user_id in user_ids]


def replace_acl(tx: Tx, actor: Actor, job_id: str, entries: Sequence[str]) -> list[str]:
    """Give the job and its steps an ACL of their own, instead of that of the task or workflow."""
    require(actor, Level.ADMIN)
    job = permissions.lock_visible(tx, actor, job_id)
    if not entries:
        raise Invalid(
            "Name at least one user: the ACL of a job cannot be empty.",
            code="missing_users",
            faults=(Fault("users", "is empty"),),
        )
    acl = sorted(resolve(tx, job.customer_id, entries))
    before = participants.find(tx, job.id).observers
    participants.replace(tx, participants.with_steps(tx, job.id), Role.OBSERVER, acl)
    _record_change(tx, actor, job, "acl", "acl", before, acl)
    _publish(tx, "acl_changed", [job])
    return acl


def list_people(tx: Tx, actor: Actor, job_id: str) -> JobPeople:
    job = permissions.require_visible(tx, actor, job_id)
    members = memberships.list_in(tx, job.customer_id)
    acl = permissions.acl_for(tx, job)
    return JobPeople(
        JobPerson(job.user_id, job.username, job.email) if job.user_id else None,
        [_person(member, actor) for member in _assignees(tx, job, members)],
        [_person(member, actor) for member in members if _is_named(member, acl)]
        if may_see(actor, acl)
        else [],
    )


def _assignees(tx: Tx, job: JobRow, members: Sequence[Member]) -> list[Member]:
    """Without people who have left the organization."""
    current_ids = {
        users.current_account(tx, job.customer_id, user_id)
        for user_id in participants.find(tx, job.id).assignees
    }
    return [member for member in members if member.user_id in current_ids]


def _person(member: Member, actor: Actor) -> JobPerson:
    """Below manager, the e-mail addresses of others are not shown, as in the list of members."""
    is_shown = actor.sees_all or member.user_id == actor.user_id
    return JobPerson(member.user_id, member.username, member.email if is_shown else "")


def _is_named(member: Member, acl: Collection[str]) -> bool:
    return not set(acl).isdisjoint(memberships.actor_for(member, "").entries)


def _open_approvals(tx: Tx, job_ids: Sequence[str]) -> list[JobRow]:
    jobs = store.lock_many(tx, job_ids).values()
    return [job for job in jobs if job.type == APPROVAL and not job.is_over]


def _record_change(
    tx: Tx,
    actor: Actor,
    job: JobRow,
    action: str,
    field: str,
    before: Sequence[str],
    after: Sequence[str],
) -> None:
    audit.record(
        tx, actor, f"job.{action}", "job", job.id, {field: list(before)}, {field: list(after)}
    )


def _publish(tx: Tx, event: str, jobs: Sequence[JobRow]) -> None:
    """Without triggers and signals: the job may have ended long ago."""
    for job in {job.id: job for job in jobs}.values():
        job.version += 1
        job.updated_at = tx.now
        store.save(tx, [job])
        events.append(tx, event, [job])
