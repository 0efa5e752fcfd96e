"""The right to decide approvals: only admins grant it, revoke it, or create links for those who
have it."""

from collections.abc import Collection

import msgspec

from belvedere.access.actor import Actor, Level
from belvedere.base.errors import Fault, Forbidden
from belvedere.db import Tx


class _Approval(msgspec.Struct):
    approvers: list[str] = []
    assigned_users: list[str] = []


_decode = msgspec.json.Decoder(_Approval).decode


def check_change(tx: Tx, actor: Actor, before: Collection[str], after: Collection[str]) -> None:
    """Refuse a change by a manager that would make somebody an approver, or no longer one."""
    if actor.level.reaches(Level.ADMIN):
        return
    changed = {tag.lower() for tag in before} ^ {tag.lower() for tag in after}
    approver_tags = sorted(changed & _in_use(tx, actor.customer_id)) if changed else []
    if approver_tags:
        raise Forbidden(
            f"The tag {approver_tags[0]!r} names approvers of a task. Ask an admin to add it to a"
            " member or to remove it.",
            code="approver_tag",
            faults=(Fault("tags", f"{approver_tags[0]!r} names approvers"),),
        )


def check_credential(tx: Tx, actor: Actor, entries: Collection[str]) -> None:
    """Refuse a manager a link for an approver: whoever uses the link decides as that approver.
    `entries` are the user id, the e-mail address and the tags of the account."""
    if actor.level.reaches(Level.ADMIN):
        return
    if not _in_use(tx, actor.customer_id).isdisjoint(entry.lower() for entry in entries):
        raise Forbidden(
            "This person decides approvals. Only an admin can create an invitation or a link for a"
            " new password.",
            code="approver",
        )


def _in_use(tx: Tx, customer_id: str) -> set[str]:
    """Approvers of the approval tasks as they are now, and of the open approvals. The packages of
    tasks and jobs are above this one, so their tables are read by name."""
    rows = tx.rows(
        "select spec from tasks where customer_id = ? and type = 'approval' and deleted_at is null"
        " union select v.spec from jobs j join task_versions v on v.task_id = j.task_id"
        " and v.version = j.task_version where j.customer_id = ? and j.type = 'ApprovalJob'"
        " and j.lifecycle = 'onhold'",
        customer_id,
        customer_id,
    )
    specs = [_decode(spec) for (spec,) in rows]
    return {entry.lower() for spec in specs for entry in (*spec.approvers, *spec.assigned_users)}
