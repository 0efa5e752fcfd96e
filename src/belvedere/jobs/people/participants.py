"""People involved in one job: its assignees, and the observers that its own ACL names."""

from collections.abc import Collection, Sequence
from enum import StrEnum

import msgspec

from belvedere.access.people import memberships
from belvedere.base.errors import Fault, Invalid
from belvedere.db import Tx
from belvedere.jobs.model import JobRow

MAX_ASSIGNEES = 100
# Workflows are nested less deep than this.
MAX_DEPTH = 50


class Role(StrEnum):
    # Entries are user ids.
    ASSIGNEE = "assignee"
    # Entries are those of an ACL: e-mail addresses and member tags.
    OBSERVER = "observer"


class Participants(msgspec.Struct, frozen=True):
    assignees: tuple[str, ...] = ()
    observers: tuple[str, ...] = ()


def find(tx: Tx, job_id: str) -> Participants:
    rows = tx.rows(
        "select role, entry from job_participants where job_id = ? order by role, entry", job_id
    )
    return Participants(
        tuple(entry for role, entry in rows if role == Role.ASSIGNEE),
        tuple(entry for role, entry in rows if role == Role.OBSERVER),
    )


def with_any(tx: Tx, job_ids: Collection[str]) -> set[str]:
    """Those of the jobs that have participants of their own."""
    rows = tx.rows(
        f"select distinct job_id from job_participants where job_id in {tx.dialect.in_texts}",
        msgspec.json.encode(sorted(job_ids)).decode(),
    )
    return {job_id for (job_id,) in rows}


def begin(tx: Tx, jobs: Sequence[tuple[JobRow, Sequence[str]]]) -> None:
    """For new jobs with their assignees: a step has the participants of its workflow job, a
    restarted job those of the earlier one, unless it gets others."""
    jobs = [
        (job, assignees)
        for job, assignees in jobs
        if assignees or job.workflow_job_id or job.restarted_from
    ]
    if not jobs:
        return
    tx.execute_many(
        "insert into job_participants (job_id, role, entry)"
        " select ?, role, entry from job_participants where job_id = ? and role <> ?",
        [
            (job.id, source_id, str(Role.ASSIGNEE) if assignees else "")
            for job, assignees in jobs
            if (source_id := job.workflow_job_id or job.restarted_from) is not None
        ],
    )
    tx.execute_many(
        "insert into job_participants (job_id, role, entry) values (?, ?, ?)",
        [
            (job.id, str(Role.ASSIGNEE), user_id)
            for job, assignees in jobs
            for user_id in dict.fromkeys(assignees)
        ],
    )


def replace(tx: Tx, job_ids: Sequence[str], role: Role, entries: Collection[str]) -> None:
    """Make these the only entries of the role."""
    ids = msgspec.json.encode(list(job_ids)).decode()
    tx.execute(
        f"delete from job_participants where role = ? and job_id in {tx.dialect.in_texts}",
        str(role),
        ids,
    )
    tx.execute_many(
        "insert into job_participants (job_id, role, entry) select id, ?, ? from jobs"
        f" where id in {tx.dialect.in_texts}",
        [(str(role), entry, ids) for entry in sorted(set(entries))],
    )


def with_steps(tx: Tx, job_id: str) -> list[str]:
    """The job, and the jobs of its steps, those of nested workflows too."""
    job_ids, level = [job_id], [job_id]
    for _ in range(MAX_DEPTH):
        rows = tx.rows(
            f"select id from jobs where workflow_job_id in {tx.dialect.in_texts} order by id",
            msgspec.json.encode(level).decode(),
        )
        level = [step_id for (step_id,) in rows]
        if not level:
            break
        job_ids += level
    return job_ids


def resolve_members(tx: Tx, customer_id: str, names: Sequence[str]) -> tuple[str, ...]:
    """The user ids of members that are named by e-mail, user name, user id or member id."""
    if not 1 <= len(names) <= MAX_ASSIGNEES:
        raise _invalid([Fault("assignee", f"Name 1 to {MAX_ASSIGNEES} members.")])
    ids: dict[str, str] = {}
    for member in memberships.list_in(tx, customer_id):
        for name in (member.id, member.user_id, member.email, member.username):
            ids[name.lower()] = member.user_id
    user_ids = [ids.get(name.strip().lower()) for name in names]
    faults = [
        Fault(f"assignee[{position}]", f"{names[position][:254]!r} is not a member.")
        for position, user_id in enumerate(user_ids)
        if user_id is None
    ]
    if faults:
        raise _invalid(faults)
    return tuple(dict.fromkeys(user_id for user_id in user_ids if user_id is not None))


def _invalid(faults: Sequence[Fault]) -> Invalid:
    return Invalid(f"assignee: {faults[0].message}", code="unknown_members", faults=tuple(faults))
