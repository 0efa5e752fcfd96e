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
from belvedere.access.signin import sessions
from belvedere.base.errors import Forbidden
from belvedere.rest.route import Ask, Reply


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


async def recover(ask: Ask) -> Done:
    body = ask.body
    identifier = (
        (body.email or body.username or body.identifier).strip().lower()[: users.MAX_IDENTIFIER]
    )
    limits, address = ask.house.turnstile.limits, ask.actor.address
    limits.check(address, Kind.RECOVERY)
    # Each counts like a wrong password: asking about many names is guessing, too.
    limits.wrong(address, kind=Kind.RECOVERY)
    if limits.may_ask(identifier):
        # Only an account makes work here, so it is done after the answer.
        ask.house.turnstile.later(ask.house.db.write(password_recovery.ask_for_help, identifier))
    return Done("If this account exists, a mail is on its way, or a manager has been told.")


async def look(ask: Ask) -> LinkShown:
    found = await _greeting(ask)
    return LinkShown(
        found.kind,
        found.email,
        found.customer_name,
        found.password_hash is not None,
        not found.passwords_off,
    )


async def reset(ask: Ask) -> Done:
    found = await _greeting(ask, one_time_links.RESET)
    about = (found.email, found.customer_name)
    kept = await ask.house.turnstile.digest(ask.actor.address, ask.body.password, about)
    await ask.house.db.write(
        password_recovery.redeem_reset, ask.house.keys, ask.body.token, kept, ask.actor.address
    )
    return Done("The new password counts from now on; sign in with it.")


async def accept(ask: Ask) -> Reply:
    found = await _greeting(ask, one_time_links.INVITATION)
    house, body, address = ask.house, ask.body, ask.actor.address
    seen, made = found.password_hash, None
    if body.account:
        seen = await house.db.read(invitations.account_password, found.email)
    if seen is None and not body.account:
        about = (found.email, found.customer_name)
        made = await house.turnstile.digest(address, body.password, about)
    elif not await house.turnstile.verify(
        address, found.email, seen, body.password, user_id=found.user_id
    ):
        raise sessions.bad_login()
    entered = await house.db.write(
        invitations.accept, house.keys, body.token, seen, made, address, agent_of(ask)
    )
    return answered(ask, entered)


async def change(ask: Ask) -> Reply:
    sessions.require_session(ask.actor)
    house, actor, body = ask.house, ask.actor, ask.body
    user = await house.db.read(users.find, actor.user_id)
    whose = (actor.address, user.id, user.password_hash)
    if not await house.turnstile.verify(*whose, body.current, user_id=user.id):
        # Not 401: the session is good, and a client that reads 401 would throw it away.
        raise Forbidden("The current password is wrong.", code="wrong_password")
    about = (user.email, user.username, user.name, actor.customer_name)
    kept = await house.turnstile.digest(actor.address, body.password, about)
    await house.db.write(password_recovery.change_password, actor, user.password_hash, kept)
    return await rotated(ask, Done("The new password counts; your other sessions have ended."))


async def _greeting(ask: Ask, kind: str | None = None) -> Greeting:
    """What the link in the body is for; whoever tries many is slowed like a guesser."""
    limits, address = ask.house.turnstile.limits, ask.actor.address
    limits.check(address, Kind.LINK)
    found: Greeting | None = await ask.house.db.read(
        invitations.greet, ask.house.keys, ask.body.token
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
