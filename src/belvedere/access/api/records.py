"""People, tokens, sessions and the audit log as the API returns them."""

from typing import Any

import msgspec

from belvedere.access.actor import Actor, Level
from belvedere.access.audit import AuditRow
from belvedere.access.credentials.one_time_links import OneTimeLink
from belvedere.access.credentials.tokens import Token
from belvedere.access.customers.history_limits import HistoryLimits
from belvedere.access.customers.service import Customer
from belvedere.access.people.memberships import Member
from belvedere.access.signin.sessions import Session
from belvedere.base.clock import iso, iso_or_none


class Tag(msgspec.Struct):
    k: str
    v: str


class MemberUserRecord(msgspec.Struct):
    id: str
    name: str
    username: str
    email: str
    enabled: bool


class LinkRecord(msgspec.Struct):
    """Shown once: anyone who has the link can use it."""

    kind: str
    link: str
    token: str
    expires: str


class MemberRecord(msgspec.Struct, omit_defaults=True):
    id: str
    user_id: str
    user: MemberUserRecord
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
    # Set for an enrolment token that was created for an existing host.
    host_id: str | None = None
    # Only in the response that created it.
    token: str | None = None


class SessionRecord(msgspec.Struct):
    id: str
    customer_id: str
    address: str
    agent: str
    creation_date: str
    last_use: str
    expires: str
    # The session of this request.
    current: bool
    # With what the person signed in: password, totp, recovery (a recovery code) or provider.
    method: str


class CustomerRecord(msgspec.Struct):
    id: str
    name: str
    enabled: bool
    creation_date: str
    last_update: str
    # Whether monitors may check loopback and private addresses.
    inner_checks: bool
    # Members from this level on need a second factor; empty: no member does.
    second_factor_level: str
    # Members sign in through a provider only; passwords are off.
    providers_only: bool
    # The ended jobs that tasks without limits of their own keep.
    history: HistoryLimits


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
    # JSON of any shape: what the audit stored of the object.
    before: Any
    after: Any


class AclRecord(msgspec.Struct):
    """E-mails and member tags; the same list under both names, because clients read either."""

    users: list[str]
    acl: list[str]
    # E-mail addresses among them that no member has; they take effect when such a member joins.
    pending: list[str]


def member(row: Member, actor: Actor, invitation: LinkRecord | None = None) -> MemberRecord:
    # Below manager, only the names of others are visible: no e-mail address, no tags.
    is_full = actor.sees_all or row.user_id == actor.user_id
    email, tags = (row.email, row.tag_list) if is_full else ("", [])
    user = MemberUserRecord(row.user_id, row.name, row.username, email, bool(row.user_enabled))
    pairs = [tag.partition(":") for tag in tags]
    return MemberRecord(
        row.id,
        row.user_id,
        user,
        row.customer_id,
        actor.customer_name,
        row.level,
        [Tag(key, value) for key, _, value in pairs],
        not row.enabled,
        row.invited_at is not None,
        row.version,
        iso(row.created_at),
        iso(row.updated_at),
        invitation,
        bool(row.has_second_factor) if actor.level.reaches(Level.MANAGER) else None,
    )


def link(row: OneTimeLink, token: str, base_url: str) -> LinkRecord:
    # After the #, so that no server or proxy logs the token.
    return LinkRecord(row.kind, f"{base_url}/ui/link#{token}", token, iso(row.expires_at))


def token(row: Token, text: str | None = None) -> TokenRecord:
    return TokenRecord(
        row.id,
        row.name,
        row.name,
        row.prefix,
        row.created_by_name,
        iso(row.created_at),
        iso_or_none(row.used_at),
        iso_or_none(row.expires_at),
        row.uses_left,
        row.host_id,
        text,
    )


def session(row: Session, actor: Actor) -> SessionRecord:
    return SessionRecord(
        row.id,
        row.customer_id,
        row.address,
        row.agent,
        iso(row.created_at),
        iso(row.used_at),
        iso(row.expires_at),
        row.id == actor.credential_id,
        row.method,
    )


def customer(row: Customer) -> CustomerRecord:
    return CustomerRecord(
        row.id,
        row.name,
        bool(row.enabled),
        iso(row.created_at),
        iso(row.updated_at),
        bool(row.inner_checks),
        row.second_factor_level,
        bool(row.providers_only),
        HistoryLimits(row.history_count, row.history_days),
    )


def audit(row: AuditRow) -> AuditRecord:
    return AuditRecord(
        row.id,
        iso(row.at),
        row.actor_id,
        row.actor_name,
        row.actor_kind,
        row.address,
        row.action,
        row.object,
        row.object_id,
        msgspec.json.decode(row.before or "null"),
        msgspec.json.decode(row.after or "null"),
    )
