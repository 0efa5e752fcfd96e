"""Passwords and one-time links: what somebody does who cannot sign in, or wants a new password."""

from functools import partial

import msgspec

from belvedere.access.api import doors
from belvedere.access.api.doors import plain
from belvedere.access.api.sessions import Done, LoginAnswer, agent_of, answered, rotated
from belvedere.access.credentials import one_time_links
from belvedere.access.customers import invitations, password_recovery
from belvedere.access.customers.invitations import Greeting
from belvedere.access.limits.rate_limits import Kind
from belvedere.access.people import users
from belvedere.access.request import AnyRequest, Request
from belvedere.access.signin import sessions
from belvedere.base.errors import Forbidden
from belvedere.rest.route import Reply


class Recover(msgspec.Struct):
    email: str = ""
    username: str = ""
    identifier: str = ""


class Redeem(msgspec.Struct):
    token: str
    password: str


class Accept(msgspec.Struct, forbid_unknown_fields=True):
    token: str
    # A new one, or the one in use of the person's own account.
    password: str
    # The person has an account here and joins with it: the password is that account's.
    account: bool = False


class Look(msgspec.Struct, forbid_unknown_fields=True):
    token: str


class LinkShown(msgspec.Struct):
    kind: str
    email: str
    customer_name: str
    # Whether the page asks for the password in use or for a new one.
    has_password: bool
    # False: no password opens it; the person signs in through a provider, which accepts an
    # invitation too.
    password: bool


class Change(msgspec.Struct):
    current: str
    password: str


async def recover(request: Request[Recover]) -> Done:
    body = request.body
    identifier = (
        (body.email or body.username or body.identifier).strip().lower()[: users.MAX_IDENTIFIER]
    )
    limits, address = request.services.passwords.limits, request.actor.address
    limits.check(address, Kind.RECOVERY)
    # Each counts like a wrong password: asking about many names is guessing, too.
    limits.wrong(address, kind=Kind.RECOVERY)
    if limits.may_ask(identifier):
        # Only an account makes work here, so it is done after the answer.
        request.services.passwords.later(
            request.services.db.write(password_recovery.ask_for_help, identifier)
        )
    return Done("If this account exists, a mail is on its way, or a manager has been told.")


async def look(request: Request[Look]) -> LinkShown:
    found = await _greeting(request)
    return LinkShown(
        found.kind,
        found.email,
        found.customer_name,
        found.password_hash is not None,
        not found.passwords_off,
    )


async def reset(request: Request[Redeem]) -> Done:
    found = await _greeting(request, one_time_links.RESET)
    about = (found.email, found.customer_name)
    kept = await request.services.passwords.digest(
        request.actor.address, request.body.password, about
    )
    await request.services.db.write(
        password_recovery.redeem_reset,
        request.services.keyring,
        request.body.token,
        kept,
        request.actor.address,
    )
    return Done("The new password counts from now on; sign in with it.")


async def accept(request: Request[Accept]) -> Reply:
    found = await _greeting(request, one_time_links.INVITATION)
    services, body, address = request.services, request.body, request.actor.address
    seen, made = found.password_hash, None
    if body.account:
        seen = await services.db.read(invitations.account_password, found.email)
    if seen is None and not body.account:
        about = (found.email, found.customer_name)
        made = await services.passwords.digest(address, body.password, about)
    elif not await services.passwords.verify(
        address, found.email, seen, body.password, user_id=found.user_id
    ):
        raise sessions.bad_login()
    entered = await services.db.write(
        invitations.accept, services.keyring, body.token, seen, made, address, agent_of(request)
    )
    return answered(request, entered)


async def change(request: Request[Change]) -> Reply:
    sessions.require_session(request.actor)
    services, actor, body = request.services, request.actor, request.body
    user = await services.db.read(users.require, actor.user_id)
    whose = (actor.address, user.id, user.password_hash)
    seen = user.password_hash
    if not await services.passwords.verify(*whose, body.current, user_id=user.id) or seen is None:
        # Not 401: the session is good, and a client that reads 401 would throw it away.
        raise Forbidden("The current password is wrong.", code="wrong_password")
    about = (user.email, user.username, user.name, actor.customer_name)
    kept = await services.passwords.digest(actor.address, body.password, about)
    await services.db.write(password_recovery.change_password, actor, seen, kept)
    return await rotated(request, Done("The new password counts; your other sessions have ended."))


async def _greeting(request: AnyRequest, kind: str | None = None) -> Greeting:
    """What the link in the body is for; whoever tries many is slowed like a guesser."""
    limits, address = request.services.passwords.limits, request.actor.address
    limits.check(address, Kind.LINK)
    found: Greeting | None = await request.services.db.read(
        invitations.greet, request.services.keyring, request.body.token
    )
    if found is None or kind not in (None, found.kind):
        limits.wrong(address, kind=Kind.LINK)
        raise one_time_links.gone()
    if kind is not None and found.passwords_off:
        raise sessions.passwords_off(found.customer_name)
    return found


_LINK_CODES = ("link_gone", "too_many_requests")
_by_link = partial(plain, codes=(*_LINK_CODES, "passwords_off"))

ROUTES = (
    plain(
        "POST",
        "/api/auth/password/recover",
        "anonymous",
        recover,
        "Say that a password is forgotten",
        body=Recover,
        **doors.anonymous(Kind.RECOVERY),
        answer=Done,
        codes=("too_many_requests",),
    ),
    _by_link(
        "PUT",
        "/api/auth/password/reset",
        "anonymous",
        reset,
        "Set a new password with a reset link",
        body=Redeem,
        **doors.anonymous(Kind.LINK),
        answer=Done,
    ),
    plain(
        "POST",
        "/api/auth/password/change",
        "viewer",
        change,
        "Change my password",
        body=Change,
        answer=Done,
        codes=("too_many_requests",),
        people=True,
    ),
    plain(
        "POST",
        "/api/auth/link",
        "anonymous",
        look,
        "What a one-time link is for",
        body=Look,
        **doors.anonymous(Kind.LINK),
        answer=LinkShown,
        codes=_LINK_CODES,
        known=False,
    ),
    _by_link(
        "POST",
        "/api/auth/invitation",
        "anonymous",
        accept,
        "Accept an invitation and sign in",
        body=Accept,
        **doors.anonymous(Kind.LINK),
        answer=LoginAnswer,
        known=False,
    ),
)
