"""Changes to members. Nobody assigns a level above their own, or changes a member above it."""

from belvedere.access.actor import Actor, Level
from belvedere.access.credentials import one_time_links, tokens
from belvedere.access.customers import approver_tags
from belvedere.access.people import memberships, users
from belvedere.access.people.memberships import Member
from belvedere.access.signin import sessions
from belvedere.base.errors import Conflict, Forbidden, Stale
from belvedere.db import Tx
from belvedere.db.ports import Port

# (account, organization): the providers of the organization no longer know the account.
delete_identities: Port[[Tx, str, str], None] = Port("member_changes.delete_identities")


def add_member(
    tx: Tx,
    actor: Actor,
    email: str,
    level: Level,
    *,
    name: str = "",
    tags: list[str] | None = None,
    password_hash: str | None = None,
) -> Member:
    """For the operator: an active member without a link, with the person's own account. A password
    is set only where there is none. Where nothing proves that the person set an existing password,
    the person is invited, and confirms it with the operator's link."""
    if actor.kind != "operator":
        raise Forbidden(
            "Only the operator can add members directly. Invite the person.", code="operator_only"
        )
    user = users.find_or_create(tx, email, name)
    memberships.require_current(tx, actor)
    is_proved = user.password_hash is None or bool(user.proof)
    proof = "operator" if is_proved else ""
    member = memberships.add(tx, actor, user, level, tags or [], proof=proof)
    one_time_links.delete_resets(tx, user.id)
    if password_hash is not None and user.password_hash is None:
        users.set_password(tx, user.id, password_hash, "operator")
    memberships.record_change(
        tx, actor, "add", "added", member.id, None, memberships.audit_fields(member)
    )
    return member


def change(
    tx: Tx,
    actor: Actor,
    member_id: str,
    *,
    level: Level | None = None,
    tags: list[str] | None = None,
    enabled: bool | None = None,
    version: int | None = None,
) -> Member:
    """Change the fields that are not None. A new level, or disabling, ends the member's
    sessions."""
    before = memberships.lock_member(tx, actor, member_id)
    if version is not None and version != before.version:
        raise Stale("This member was changed in the meantime. Reload it and try again.")
    new_level = before.level if level is None else level.value
    new_tags = before.tags if tags is None else memberships.tags_text(tags)
    new_enabled = before.enabled if enabled is None else int(enabled)
    memberships.check_grant(actor, Level(new_level))
    if tags is not None:
        approver_tags.check_change(tx, actor, before.tag_list, tags)
    if new_level != Level.OWNER or not new_enabled:
        _require_other_owner(tx, before)
    if (new_level, new_tags, new_enabled) == (before.level, before.tags, before.enabled):
        return before
    _save(tx, actor, before, new_level, new_tags, new_enabled)
    after = memberships.find(tx, actor.customer_id, member_id)
    memberships.record_change(
        tx,
        actor,
        "change",
        "changed",
        member_id,
        memberships.audit_fields(before),
        memberships.audit_fields(after),
    )
    return after


def remove(tx: Tx, actor: Actor, member_id: str) -> Member:
    """Remove a person from the organization and from its ACLs."""
    member = memberships.lock_member(tx, actor, member_id)
    _require_other_owner(tx, member)
    delete_membership(tx, actor, member)
    memberships.record_change(
        tx, actor, "remove", "removed", member_id, memberships.audit_fields(member), None
    )
    return member


def delete_membership(tx: Tx, actor: Actor, member: Member) -> None:
    """Delete the membership and everything that belongs to it; the caller has checked
    permissions."""
    member_id = member.id
    tx.execute("delete from members where customer_id = ? and id = ?", actor.customer_id, member_id)
    tx.execute(
        "delete from acl where customer_id = ? and entry = ?", actor.customer_id, member.email
    )
    # A person who is invited again is matched by e-mail address again.
    delete_identities(tx, member.user_id, actor.customer_id)
    _end_access(tx, member)
    tokens.revoke_created_by(tx, actor, member.user_id)
    if member.scope:
        users.retire(tx, member.user_id)
    users.delete_unused(tx, member.user_id)


def set_level(tx: Tx, actor: Actor, member: Member, level: Level) -> None:
    _save(tx, actor, member, level.value, member.tags, member.enabled)


def _require_other_owner(tx: Tx, member: Member) -> None:
    """Refuse to remove or demote the last active owner."""
    if member.level != Level.OWNER or not member.enabled or member.invited_at is not None:
        return
    others = tx.value(
        "select count(*) from members m join users u on u.id = m.user_id where m.customer_id = ?"
        " and m.id <> ? and m.level = ? and m.enabled = 1 and m.invited_at is null"
        " and u.enabled = 1",
        member.customer_id,
        member.id,
        Level.OWNER.value,
    )
    if not others:
        raise Conflict("This is the last owner. Transfer the ownership first.", code="last_owner")


def _save(tx: Tx, actor: Actor, member: Member, level: str, tags: str, enabled: int) -> None:
    tx.execute(
        "update members set level = ?, tags = ?, enabled = ?, version = version + 1,"
        " updated_at = ? where customer_id = ? and id = ?",
        level,
        tags,
        enabled,
        tx.now,
        member.customer_id,
        member.id,
    )
    if (level, enabled) != (member.level, member.enabled):
        sessions.revoke_for_user(tx, member.user_id, member.customer_id)
        _delete_links(tx, actor, member, level, enabled)
    if not enabled or not Level(level).reaches(Level.ADMIN):
        tokens.revoke_created_by(tx, actor, member.user_id)


def _delete_links(tx: Tx, actor: Actor, member: Member, level: str, enabled: int) -> None:
    """The sender of an invitation knows its link and could use it, so it must not give a higher
    level than the sender may grant. It stays valid if the level is lowered or if the actor has
    created it."""
    if not enabled or member.invited_at is None:
        one_time_links.delete_open(tx, member.user_id, member.customer_id)
    elif not Level(member.level).reaches(Level(level)):
        one_time_links.delete_invitations_of_others(
            tx, member.user_id, member.customer_id, actor.user_id
        )


def _end_access(tx: Tx, member: Member) -> None:
    sessions.revoke_for_user(tx, member.user_id, member.customer_id)
    one_time_links.delete_open(tx, member.user_id, member.customer_id)
