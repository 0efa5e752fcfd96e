"""Organizations, to which all other records belong."""

import msgspec

from belvedere import events
from belvedere.access import audit
from belvedere.access.actor import Actor, Level, require, require_person
from belvedere.access.credentials import one_time_links
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.customers import member_changes
from belvedere.access.people import memberships, naming, users
from belvedere.access.signin import second_factors, sessions
from belvedere.base.clock import Millis
from belvedere.base.errors import Conflict, Invalid, NotFound
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns
from belvedere.db.ports import Port
from belvedere.db.signals import ACCESS_CHANGED

# (organization, provider): whether an owner has signed in through an enabled provider other than
# this one. Only then the organization can certainly be administered without a password.
has_owner_with_provider: Port[[Tx, str, str], bool] = Port("customers.has_owner_with_provider")


class Customer(msgspec.Struct, frozen=True):
    id: str
    name: str
    enabled: int
    created_at: int
    updated_at: int
    inner_checks: int
    second_factor_level: str
    providers_only: int
    history_count: int = 1_000
    history_days: int = 90


class NewCustomer(msgspec.Struct, frozen=True):
    """A new organization, its owner, and the owner's link where there is no password yet."""

    customer: Customer
    owner: memberships.Member
    token: str | None


def by_name(tx: Tx, name: str) -> Customer | None:
    """Whatever the case of the name; None for an invalid name, too."""
    key = naming.customer_key(name)
    return (
        None
        if key is None
        else tx.one(Customer, f"select {columns(Customer)} from customers where name_key = ?", key)
    )


def find(tx: Tx, customer_id: str) -> Customer:
    customer = tx.one(
        Customer, f"select {columns(Customer)} from customers where id = ?", customer_id
    )
    if customer is None:
        raise _not_found()
    return customer


def operator(customer: Customer) -> Actor:
    """The actor for the person who administers the server's own machine."""
    return Actor(customer.id, customer.name, Level.OWNER, "operator", username="operator")


def create_customer(
    tx: Tx,
    keys: Keyring,
    name: str,
    owner_email: str,
    *,
    reserved: frozenset[str],
    password_hash: str | None = None,
) -> NewCustomer:
    """For the operator: an organization and its owner, who may have an account already."""
    name = naming.customer_name(name, reserved)
    customer = Customer(new_id(), name, 1, tx.now, tx.now, 1, "", 0)
    inserted = tx.execute(
        f"insert into customers ({columns(Customer)}, name_key)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " on conflict (name_key) do nothing",
        *msgspec.structs.astuple(customer),
        name,
    )
    if not inserted:
        raise _name_taken(name)
    actor = operator(customer)
    audit.record(tx, actor, "customer.create", "customer", customer.id, None, {"name": name})
    events.append(tx, customer.id, "customer.created", customer.id, {"name": name})
    owner = member_changes.add_member(
        tx, actor, owner_email, Level.OWNER, password_hash=password_hash
    )
    user = users.find(tx, owner.user_id)
    is_invited = owner.invited_at is not None
    if not is_invited and (user is None or user.password_hash is not None):
        return NewCustomer(customer, owner, None)
    kind = one_time_links.INVITATION if is_invited else one_time_links.RESET
    account = (kind, owner.user_id, customer.id, "operator")
    _, token = one_time_links.create(tx, keys, *account, proof=one_time_links.OPERATOR)
    return NewCustomer(customer, owner, token)


def rename(tx: Tx, actor: Actor, name: str, reserved: frozenset[str]) -> Customer:
    """Owner only. Ids stay the same; clients that name the organization must use the new name."""
    memberships.require_current(tx, actor)
    require(actor, Level.OWNER)
    require_person(actor)
    before, name = find(tx, actor.customer_id), naming.customer_name(name, reserved)
    changed = tx.execute(
        "update customers set name = ?, name_key = ?, updated_at = ? where id = ?"
        " and not exists (select 1 from customers o where o.name_key = ? and o.id <> ?)",
        name,
        name,
        tx.now,
        before.id,
        name,
        before.id,
    )
    if not changed:
        raise _name_taken(name)
    record_change(tx, actor, "rename", "renamed", {"name": before.name}, {"name": name})
    return find(tx, before.id)


def allow_internal_checks(tx: Tx, actor: Actor, allowed: bool) -> Customer:
    """Owner only: whether monitors may check loopback and private addresses."""
    memberships.require_current(tx, actor)
    require(actor, Level.OWNER)
    before = find(tx, actor.customer_id)
    if bool(before.inner_checks) == allowed:
        return before
    tx.execute(
        "update customers set inner_checks = ?, updated_at = ? where id = ?",
        int(allowed),
        tx.now,
        before.id,
    )
    old: dict[str, object] = {"inner_checks": not allowed}
    record_change(tx, actor, "change", "changed", old, {"inner_checks": allowed})
    return find(tx, before.id)


def require_second_factor(tx: Tx, actor: Actor, level: str) -> Customer:
    """Owner only: members from this level on need a second factor; empty: no member does."""
    memberships.require_current(tx, actor)
    require(actor, Level.OWNER)
    required_level = naming.level(level).value if level else ""
    before = find(tx, actor.customer_id)
    if required_level and actor.kind == "member" and second_factors.find(tx, actor.user_id) is None:
        raise Conflict(
            "Set up your own second factor first. Otherwise you would be locked out.",
            code="second_factor_off",
        )
    if before.second_factor_level == required_level:
        return before
    tx.execute(
        "update customers set second_factor_level = ?, updated_at = ? where id = ?",
        required_level,
        tx.now,
        before.id,
    )
    old: dict[str, object] = {"second_factor_level": before.second_factor_level}
    record_change(tx, actor, "change", "changed", old, {"second_factor_level": required_level})
    return find(tx, before.id)


def use_providers_only(tx: Tx, actor: Actor, enabled: bool) -> Customer:
    """Owner only: whether members sign in through a provider only, and passwords are off."""
    memberships.require_current(tx, actor)
    require(actor, Level.OWNER)
    before = find(tx, actor.customer_id)
    if bool(before.providers_only) == enabled:
        return before
    if enabled and not has_owner_with_provider(tx, before.id, ""):
        raise Conflict(
            "No owner has signed in through a provider yet. Sign in through one first, so that you"
            " are not locked out.",
            code="no_other_way",
        )
    tx.execute(
        "update customers set providers_only = ?, updated_at = ? where id = ?",
        int(enabled),
        tx.now,
        before.id,
    )
    if enabled:
        sessions.revoke_without_provider(tx, before.id)
    old: dict[str, object] = {"providers_only": not enabled}
    record_change(tx, actor, "change", "changed", old, {"providers_only": enabled})
    return find(tx, before.id)


def allow_passwords(tx: Tx, name: str) -> Customer:
    """For the operator, when the provider is unreachable and nobody can sign in."""
    customer = by_name(tx, name)
    if customer is None:
        raise _not_found()
    return use_providers_only(tx, operator(customer), False)


def disable(tx: Tx, actor: Actor, confirm: str) -> Customer:
    """What deleting an organization does: all its credentials stop working, nothing runs, its
    records and its name are kept, and the operator can enable it again."""
    memberships.require_current(tx, actor)
    require(actor, Level.OWNER)
    require_person(actor)
    customer = find(tx, actor.customer_id)
    if confirm.strip().lower() != customer.name:
        raise Invalid("Confirm with the name of the organization.", code="not_confirmed")
    _set_enabled(tx, customer.id, 0)
    tx.execute(
        "update sessions set revoked_at = ? where customer_id = ? and revoked_at is null",
        tx.now,
        customer.id,
    )
    record_change(tx, actor, "disable", "disabled", {"enabled": True}, {"enabled": False})
    return find(tx, customer.id)


def enable(tx: Tx, name: str) -> Customer:
    """For the operator: enable a disabled organization."""
    customer = by_name(tx, name)
    if customer is None:
        raise _not_found()
    _set_enabled(tx, customer.id, 1)
    record_change(
        tx, operator(customer), "enable", "enabled", {"enabled": False}, {"enabled": True}
    )
    return find(tx, customer.id)


def hand_over(tx: Tx, actor: Actor, member_id: str) -> memberships.Member:
    """Owner only: another member becomes the owner, and the owner an admin."""
    require(actor, Level.OWNER)
    new_owner = memberships.lock_member(tx, actor, member_id)
    if new_owner.id == actor.member_id:
        raise Conflict("You are already the owner of this organization.", code="already_owner")
    if new_owner.invited_at is not None or not new_owner.enabled:
        raise Conflict("Only an active member can become the owner.", code="not_active")
    member_changes.set_level(tx, actor, new_owner, Level.OWNER)
    if actor.member_id:
        former_owner = memberships.find(tx, actor.customer_id, actor.member_id)
        member_changes.set_level(tx, actor, former_owner, Level.ADMIN)
    record_change(
        tx, actor, "hand_over", "handed_over", {"owner": actor.email}, {"owner": new_owner.email}
    )
    return memberships.find(tx, actor.customer_id, new_owner.id)


def _set_enabled(tx: Tx, customer_id: str, enabled: int) -> None:
    tx.execute(
        "update customers set enabled = ?, updated_at = ? where id = ?",
        enabled,
        tx.now,
        customer_id,
    )


# Columns that other packages change through these functions.


def bump_secrets_version(tx: Tx, customer_id: str) -> None:
    """First of all in a change of secrets: two changes at once run one after the other, and caches
    of the organization's secrets are read again."""
    tx.execute(
        "update customers set secrets_version = secrets_version + 1 where id = ?", customer_id
    )


def bump_all_secrets_versions(tx: Tx) -> None:
    """All caches of secrets are read again."""
    tx.execute("update customers set secrets_version = secrets_version + 1")


def raise_purge_mark(tx: Tx, customer_id: str) -> Millis:
    """Hide all jobs that have ended until now; returns the mark. It is never lowered, so that
    hidden jobs do not reappear when the clock is set back."""
    lock = tx.dialect.lock_rows
    current = tx.value(f"select purged_until from customers where id = ?{lock}", customer_id)
    until: Millis = max(current, tx.now)
    tx.execute("update customers set purged_until = ? where id = ?", until, customer_id)
    return until


def clear_purge_mark(tx: Tx, customer_id: str, until: Millis) -> None:
    """Unless it was raised meanwhile."""
    tx.execute(
        "update customers set purged_until = 0 where id = ? and purged_until = ?",
        customer_id,
        until,
    )


def record_change(
    tx: Tx,
    actor: Actor,
    action: str,
    kind: str,
    before: dict[str, object],
    after: dict[str, object],
) -> None:
    """Audit the change, publish it, and make every server read it again."""
    customer_id = actor.customer_id
    audit.record(tx, actor, f"customer.{action}", "customer", customer_id, before, after)
    events.append(tx, customer_id, f"customer.{kind}", customer_id, after)
    tx.signals.add(ACCESS_CHANGED)


def _not_found() -> NotFound:
    return NotFound("There is no such organization.", code="customer_not_found")


def _name_taken(name: str) -> Conflict:
    return Conflict(f"The name {name!r} is already in use. Choose another name.", code="name_taken")
