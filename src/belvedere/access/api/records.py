"""The shapes in which people, tokens and sessions leave the server."""

from typing import Any

import msgspec

from belvedere.access.actor import Actor, Level
from belvedere.access.audit import AuditRow
from belvedere.access.credentials.one_time_links import Link
from belvedere.access.credentials.tokens import Token
from belvedere.access.customers.service import Customer
from belvedere.access.people.memberships import Member
from belvedere.access.signin.sessions import Session
from belvedere.base.clock import iso, iso_or_none


class Tag(msgspec.Struct):
    k: str
    v: str


class UserRecord(msgspec.Struct):
    id: str
    name: str
    username: str
    email: str
    enabled: bool


class LinkRecord(msgspec.Struct):
    """Shown once: whoever holds it may use it."""

    kind: str
    link: str
    token: str
    expires: str


class MemberRecord(msgspec.Struct, omit_defaults=True):
    id: str
    user_id: str
    user: UserRecord
    customer_id: str
    customer_name: str
    credential: str
    tags: list[Tag]
    disabled: bool
    # The person has not used the invitation yet.
    invited: bool
    version: int
    creation_date: str
    last_update: str
    invitation: LinkRecord | None = None
    # Only for those who manage members.
    second_factor: bool | None = None


class TokenRecord(msgspec.Struct, omit_defaults=True):
    id: str
    username: str
    name: str
    prefix: str
    created_by: str
    creation_date: str
    last_use: str | None
    expires: str | None
    uses_left: int | None = None
    # Of an enrolment token that was created for an existing host.
    host_id: str | None = None
    # Only in the answer that made it.
    token: str | None = None


class SessionRecord(msgspec.Struct):
    id: str
    customer_id: str
    address: str
    agent: str
    creation_date: str
    last_use: str
    expires: str
    # The one that asks.
    current: bool
    # By what it began: password, totp, recovery (a code of paper) or provider.
    method: str


class CustomerRecord(msgspec.Struct):
    id: str
    name: str
    enabled: bool
    creation_date: str
    last_update: str
    # Whether monitors may check loopback and inner addresses.
    inner_checks: bool
    # From this level on members need a second factor; empty: nobody does.
    second_factor_level: str
    # Members sign in through a provider only; passwords are off.
    providers_only: bool


class AuditRecord(msgspec.Struct):
    id: str
    date: str
    user_id: str
    user: str
    kind: str
    address: str
    action: str
    object: str
    object_id: str
    before: Any
    after: Any


class AclRecord(msgspec.Struct):
    """E-mails and member tags; the same list under both names, as old clients read either."""

    users: list[str]
    acl: list[str]


def member(found: Member, actor: Actor, invitation: LinkRecord | None = None) -> MemberRecord:
    # Below manager, others are a name: no address, no tags.
    is_whole = actor.sees_all or found.user_id == actor.user_id
    email, tags = (found.email, found.tag_list) if is_whole else ("", [])
    user = UserRecord(found.user_id, found.name, found.username, email, bool(found.user_enabled))
    pairs = [tag.partition(":") for tag in tags]
    return MemberRecord(
        found.id,
        found.user_id,
        user,
        found.customer_id,
        actor.customer_name,
        found.level,
        [Tag(key, value) for key, _, value in pairs],
        not found.enabled,
        found.invited_at is not None,
        found.version,
        iso(found.created_at),
        iso(found.updated_at),
        invitation,
        bool(found.has_second_factor) if actor.level.reaches(Level.MANAGER) else None,
    )


def link(found: Link, token: str, base_url: str) -> LinkRecord:
    # Behind the #, so that no server on the way ever logs the token.
    return LinkRecord(found.kind, f"{base_url}/ui/link#{token}", token, iso(found.expires_at))


def token(found: Token, text: str | None = None) -> TokenRecord:
    return TokenRecord(
        found.id,
        found.name,
        found.name,
        found.prefix,
        found.created_by_name,
        iso(found.created_at),
        iso_or_none(found.used_at),
        iso_or_none(found.expires_at),
        found.uses_left,
        found.host_id,
        text,
    )


def session(found: Session, actor: Actor) -> SessionRecord:
    return SessionRecord(
        found.id,
        found.customer_id,
        found.address,
        found.agent,
        iso(found.created_at),
        iso(found.used_at),
        iso(found.expires_at),
        found.id == actor.credential_id,
        found.method,
    )


def customer(found: Customer) -> CustomerRecord:
    return CustomerRecord(
        found.id,
        found.name,
        bool(found.enabled),
        iso(found.created_at),
        iso(found.updated_at),
        bool(found.inner_checks),
        found.second_factor_level,
        bool(found.providers_only),
    )


def audit(found: AuditRow) -> AuditRecord:
    return AuditRecord(
        found.id,
        iso(found.at),
        found.actor_id,
        found.actor_name,
        found.actor_kind,
        found.address,
        found.action,
        found.object,
        found.object_id,
        msgspec.json.decode(found.before or "null"),
        msgspec.json.decode(found.after or "null"),
    )
