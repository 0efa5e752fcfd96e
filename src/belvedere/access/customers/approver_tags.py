"""The right to decide approvals: only admins grant it, revoke it, or create links for those who
have it."""

from collections.abc import Collection

from belvedere.access.actor import Actor, Level
from belvedere.base.errors import Fault, Forbidden
from belvedere.db import Tx
from belvedere.db.ports import Port

# (organization): everybody who decides approvals now: user ids, e-mail addresses and tags in lower
# case.
approvers_in_use: Port[[Tx, str], set[str]] = Port("approver_tags.approvers_in_use")


def check_change(tx: Tx, actor: Actor, before: Collection[str], after: Collection[str]) -> None:
    """Refuse a change by a manager that would make somebody an approver, or no longer one."""
    if actor.level.reaches(Level.ADMIN):
        return
    changed = {tag.lower() for tag in before} ^ {tag.lower() for tag in after}
    approver_tags = sorted(changed & approvers_in_use(tx, actor.customer_id)) if changed else []
    if approver_tags:
        raise Forbidden(
            f"The tag {approver_tags[0]!r} names approvers of a task. Ask an admin to add it to a"
            " member or to remove it.",
            code="approver_tag",
            faults=(Fault("tags", f"{approver_tags[0]!r} names approvers"),),
        )


def check_credential(tx: Tx, actor: Actor, entries: Collection[str]) -> None:
    """Refuse a manager a link for an approver: a person who uses the link decides as that approver.
    `entries` are the user id, the e-mail address and the tags of the account."""
    if actor.level.reaches(Level.ADMIN):
        return
    if not approvers_in_use(tx, actor.customer_id).isdisjoint(entry.lower() for entry in entries):
        raise Forbidden(
            "This person decides approvals. Only an admin can create an invitation or a link for a"
            " new password.",
            code="approver",
        )
