"""Who may see a job, as scopes of the text index.

A search of a member names the scopes of that member, so that it reads no other jobs: neither what
it finds nor how far one step gets depends on jobs that the member may not see. The rule is that of
`permissions.visible_filter`. ACLs of tasks and workflows are not copied: changing one changes no
row of the index.
"""

from collections.abc import Sequence

from belvedere.access.actor import Actor, Level
from belvedere.db import Tx
from belvedere.jobs import permissions, starters, store
from belvedere.jobs.model import APPROVAL
from belvedere.jobs.people.participants import Participants, Role
from belvedere.jobs.search.texts import SearchRow

# Limits of one query. A member who may see more tasks and workflows searches without the index.
MAX_SCOPES = 500


def participants_of(tx: Tx, job_ids: Sequence[str]) -> dict[str, Participants]:
    """The participants of those jobs that have any."""
    rows = tx.rows(
        "select job_id, role, entry from job_participants"
        f" where job_id in {tx.dialect.in_texts} order by job_id, entry",
        store.json_array(job_ids),
    )
    entries: dict[str, dict[str, list[str]]] = {}
    for job_id, role, entry in rows:
        entries.setdefault(job_id, {}).setdefault(role, []).append(entry)
    return {
        job_id: Participants(
            tuple(roles.get(Role.ASSIGNEE, ())), tuple(roles.get(Role.OBSERVER, ()))
        )
        for job_id, roles in entries.items()
    }


def job_scopes(row: SearchRow, people: Participants) -> list[str]:
    scopes = [_assignee(user_id) for user_id in people.assignees]
    if row.user_id:
        scopes.append(_starter(row.user_id))
    if people.observers:
        scopes += [_observer(entry) for entry in people.observers]
    elif row.workflow_id or row.task_id:
        scopes.append(_object(row.workflow_id or row.task_id or ""))
    if row.type == APPROVAL:
        has_assignees = bool(people.assignees)
        scopes.append(_approval(row.task_id, row.task_version, has_assignees=has_assignees))
    return scopes


def actor_scopes(tx: Tx, actor: Actor) -> list[str] | None:
    """A job that the actor may see has one of them; None if there are too many."""
    accounts = sorted(starters.account_ids(tx, actor) - {""})
    objects = _visible_objects(tx, actor)
    approvals = permissions.list_approvals(tx, actor, MAX_SCOPES + 1)
    scopes = [
        *(scope(user_id) for user_id in accounts for scope in (_starter, _assignee)),
        *(_observer(entry) for entry in actor.entries),
        *map(_object, objects),
    ]
    for task_id, version, is_for_assignees in approvals:
        for has_assignees in (False,) if is_for_assignees else (False, True):
            scopes.append(_approval(task_id, version, has_assignees=has_assignees))
    return scopes if len(scopes) <= MAX_SCOPES else None


def _visible_objects(tx: Tx, actor: Actor) -> list[str]:
    """Tasks and workflows whose ACL names the actor."""
    entries = actor.entries
    if not entries or not actor.level.reaches(Level.VIEWER):
        return []
    rows = tx.rows(
        "select distinct object_id from acl where customer_id = ? and object in"
        f" ('task', 'workflow') and entry in ({', '.join('?' * len(entries))}) limit ?",
        *(actor.customer_id, *entries, MAX_SCOPES + 1),
    )
    return [object_id for (object_id,) in rows]


def _starter(user_id: str) -> str:
    return f"starter {user_id}"


def _assignee(user_id: str) -> str:
    return f"assignee {user_id}"


def _observer(entry: str) -> str:
    return f"observer {entry}"


def _object(object_id: str) -> str:
    return f"acl {object_id}"


def _approval(task_id: str | None, version: int | None, *, has_assignees: bool) -> str:
    return f"approval {task_id} {version}{' assigned' if has_assignees else ''}"
