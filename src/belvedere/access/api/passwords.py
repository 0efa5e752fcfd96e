"""Passwords and one-time links, for people who cannot sign in or want a new password."""

from functools import partial

import msgspec

from belvedere.access.api import route_builders
from belvedere.access.api.route_builders import plain_route
from belvedere.access.api.sessions import (
    LoginAnswer,
    StatusMessage,
    agent_of,
    login_reply,
    reply_with_new_token,
)
from belvedere.access.credentials import one_time_links
from belvedere.access.customers import invitations, password_recovery
from belvedere.access.customers.invitations import LinkDetails
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.people import users
from belvedere.access.request import AnyRequest, Request
from belvedere.access.signin import sessions
from belvedere.base.errors import Forbidden
from belvedere.rest.route import Reply


class PasswordRecovery(msgspec.Struct):
    email: str = ""
    username: str = ""
    identifier: str = ""


class PasswordReset(msgspec.Struct):
    token: str
    password: str


class InvitationAcceptance(msgspec.Struct, forbid_unknown_fields=True):
    token: str
    # A new one, or the current one of the person's own account.
    password: str
    # The person joins with an existing account: the password is that of the account.
    account: bool = False


class LinkQuery(msgspec.Struct, forbid_unknown_fields=True):
    token: str


class LinkDetailsRecord(msgspec.Struct):
    kind: str
    email: str
    customer_name: str
    # Whether the page asks for the current password or for a new one.
    has_password: bool
    # False: passwords are off; the person signs in through a provider, which accepts an invitation
    # too.
    password: bool


class PasswordChange(msgspec.Struct):
    current: str
    password: str


async def recover(request: Request[PasswordRecovery]) -> StatusMessage:
    body = request.body
    identifier = (
        (body.email or body.username or body.identifier).strip().lower()[: users.MAX_IDENTIFIER]
    )
    limits, address = request.services.passwords.limits, request.actor.address
    limits.check(address, AttemptKind.RECOVERY)
    # Each request counts like a wrong password: trying many names is guessing, too.
    limits.record_failure(address, kind=AttemptKind.RECOVERY)
    if limits.may_report(identifier):
        # Only existing accounts need work here, so it runs after the response.
        request.services.passwords.run_later(
            request.services.db.write(password_recovery.report_forgotten, identifier)
        )
    return StatusMessage(
        "If this account exists, an e-mail is being sent or a manager was notified."
    )


async def show_link(request: Request[LinkQuery]) -> LinkDetailsRecord:
    details = await _read_link(request)
    return LinkDetailsRecord(
        details.kind,
        details.email,
        details.customer_name,
        details.password_hash is not None,
        not details.passwords_off,
    )


async def reset(request: Request[PasswordReset]) -> StatusMessage:
    details = await _read_link(request, one_time_links.RESET)
    names = (details.email, details.customer_name)
    password_hash = await request.services.passwords.digest(
        request.actor.address, request.body.password, names
    )
    await request.services.db.write(
        password_recovery.redeem_reset,
        request.services.keyring,
        request.body.token,
        password_hash,
        request.actor.address,
    )
    return StatusMessage("The password was changed. Sign in with the new one.")


async def accept(request: Request[InvitationAcceptance]) -> Reply:
    details = await _read_link(request, one_time_links.INVITATION)
    services, body, address = request.services, request.body, request.actor.address
    current_hash, new_hash = details.password_hash, None
    if body.account:
        current_hash = await services.db.read(invitations.account_password, details.email)
    if current_hash is None and not body.account:
        names = (details.email, details.customer_name)
        new_hash = await services.passwords.digest(address, body.password, names)
    elif not await services.passwords.verify(
        address, details.email, current_hash, body.password, user_id=details.user_id
    ):
        raise sessions.bad_login()
    result = await services.db.write(
        invitations.accept,
        services.keyring,
        body.token,
        current_hash,
        new_hash,
        address,
        agent_of(request),
    )
    return login_reply(request, result)


async def change(request: Request[PasswordChange]) -> Reply:
    sessions.require_session(request.actor)
    services, actor, body = request.services, request.actor, request.body
    user = await services.db.read(users.require, actor.user_id)
    stored = (actor.address, user.id, user.password_hash)
    current_hash = user.password_hash
    if (
        not await services.passwords.verify(*stored, body.current, user_id=user.id)
        or current_hash is None
    ):
        # Not 401: the session is valid, and a client would discard it after a 401.
        raise Forbidden("The current password is wrong.", code="wrong_password")
    names = (user.email, user.username, user.name, actor.customer_name)
    new_hash = await services.passwords.digest(actor.address, body.password, names)
    await services.db.write(password_recovery.change_password, actor, current_hash, new_hash)
    return await reply_with_new_token(
        request, StatusMessage("The password was changed. Your other sessions have ended.")
    )


async def _read_link(request: AnyRequest, kind: str | None = None) -> LinkDetails:
    """What the link in the body is for. Invalid links are limited like wrong passwords."""
    limits, address = request.services.passwords.limits, request.actor.address
    limits.check(address, AttemptKind.LINK)
    details: LinkDetails | None = await request.services.db.read(
        invitations.link_details, request.services.keyring, request.body.token
    )
    if details is None or kind not in (None, details.kind):
        limits.record_failure(address, kind=AttemptKind.LINK)
        raise one_time_links.link_gone()
    if kind is not None and details.passwords_off:
        raise sessions.passwords_off(details.customer_name)
    return details


_LINK_CODES = ("link_gone", "too_many_requests")
_by_link = partial(plain_route, codes=(*_LINK_CODES, "passwords_off"))

ROUTES = (
    plain_route(
        "POST",
        "/api/auth/password/recover",
        "anonymous",
        recover,
        "Report a forgotten password",
        body=PasswordRecovery,
        **route_builders.anonymous_options(AttemptKind.RECOVERY),
        answer=StatusMessage,
        codes=("too_many_requests",),
    ),
    _by_link(
        "PUT",
        "/api/auth/password/reset",
        "anonymous",
        reset,
        "Set a new password with a reset link",
        body=PasswordReset,
        **route_builders.anonymous_options(AttemptKind.LINK),
        answer=StatusMessage,
    ),
    plain_route(
        "POST",
        "/api/auth/password/change",
        "viewer",
        change,
        "Change my password",
        body=PasswordChange,
        answer=StatusMessage,
        codes=("too_many_requests",),
        people=True,
    ),
    plain_route(
        "POST",
        "/api/auth/link",
        "anonymous",
        show_link,
        "Show what a one-time link is for",
        body=LinkQuery,
        **route_builders.anonymous_options(AttemptKind.LINK),
        answer=LinkDetailsRecord,
        codes=_LINK_CODES,
        from_interface=False,
    ),
    _by_link(
        "POST",
        "/api/auth/invitation",
        "anonymous",
        accept,
        "Accept an invitation and sign in",
        body=InvitationAcceptance,
        **route_builders.anonymous_options(AttemptKind.LINK),
        answer=LoginAnswer,
        from_interface=False,
    ),
)
