"""A person's second factor: set up, confirmed, its recovery codes, disabled; reset by an admin."""

from functools import partial

import msgspec

from belvedere.access.api import records
from belvedere.access.api.doors import plain
from belvedere.access.api.sessions import Done, rotated
from belvedere.access.crypto import totp
from belvedere.access.customers import second_factor_changes
from belvedere.access.limits.rate_limits import Kind
from belvedere.access.people import users
from belvedere.access.people.users import User
from belvedere.access.request import AnyRequest, Request
from belvedere.base.clock import iso_or_none
from belvedere.base.errors import Conflict, Forbidden
from belvedere.rest.route import Reply


class PasswordAgain(msgspec.Struct, forbid_unknown_fields=True):
    """Whoever found a screen unlocked does not know it."""

    password: str


class Code(msgspec.Struct, forbid_unknown_fields=True):
    code: str


class SecondFactorRecord(msgspec.Struct):
    enabled: bool
    since: str | None
    # How many are left.
    recovery_codes: int
    # An organization of this person asks for it.
    required: bool
    # False for somebody without a password, who signs in through a provider.
    available: bool


class SecretShown(msgspec.Struct):
    """Shown once: the secret, its otpauth address, and that as a QR code in SVG."""

    secret: str
    uri: str
    qr: str


class RecoveryCodes(msgspec.Struct):
    """Shown once; each works once."""

    recovery_codes: list[str]


async def show(request: Request[None]) -> SecondFactorRecord:
    found = await request.services.db.read(second_factor_changes.standing, request.actor)
    user = await request.services.db.read(users.require, request.actor.user_id)
    return SecondFactorRecord(
        found.since is not None,
        iso_or_none(found.since),
        found.codes_left,
        found.is_required,
        user.password_hash is not None,
    )


async def begin(request: Request[PasswordAgain]) -> Reply:
    user = await _known_by_password(request)
    secret = await request.services.db.write(
        second_factor_changes.begin, request.services.keyring, request.actor
    )
    return Reply(shown(secret, user.email), status=201)


async def confirm(request: Request[Code]) -> Reply:
    limits, address = request.services.passwords.limits, request.actor.address
    limits.check(address, Kind.CODE)
    codes = await request.services.db.write(
        second_factor_changes.confirm, request.services.keyring, request.actor, request.body.code
    )
    if codes is None:
        limits.wrong(address, kind=Kind.CODE, user_ids=[request.actor.user_id])
        # Not 401: the session is good, and a client that reads 401 would throw it away.
        raise Forbidden("The code is wrong; is the clock of the device right?", code="wrong_code")
    return await rotated(request, RecoveryCodes(codes))


async def renew_codes(request: Request[PasswordAgain]) -> RecoveryCodes:
    await _known_by_password(request)
    codes = await request.services.db.write(
        second_factor_changes.renew_codes, request.services.keyring, request.actor
    )
    return RecoveryCodes(codes)


async def disable(request: Request[PasswordAgain]) -> Reply:
    await _known_by_password(request)
    await request.services.db.write(second_factor_changes.disable, request.actor)
    return await rotated(
        request, Done("The second factor is off; the password alone signs you in.")
    )


async def reset(request: Request[None]) -> records.MemberRecord:
    found = await request.services.db.write(
        second_factor_changes.reset, request.actor, request.path["id"]
    )
    return records.member(found, request.actor)


def shown(secret: str, email: str) -> SecretShown:
    uri = totp.uri(secret, email)
    return SecretShown(secret, uri, totp.picture(uri))


async def _known_by_password(request: AnyRequest) -> User:
    """The person, who has just given the password again."""
    services, actor = request.services, request.actor
    if actor.kind != "member":
        raise Forbidden("Only a person has a second factor; sign in.", code="no_session")
    user: User = await services.db.read(users.require, actor.user_id)
    kept = user.password_hash
    if kept is None:
        raise Conflict(
            "You have no password that a second factor could guard; your provider has its own.",
            code="no_password",
        )
    whose = (actor.address, user.id, kept)
    if not await services.passwords.verify(*whose, request.body.password, user_id=user.id):
        raise Forbidden("The password is wrong.", code="wrong_password")
    return user


_mine = partial(plain, known=False, people=True)
_BASE = "/api/auth/second-factor"
_BEGUN, _OFF = ("second_factor_on", "no_password"), ("no_second_factor", "no_password")

ROUTES = (
    _mine("GET", _BASE, "viewer", show, "My second factor", answer=SecondFactorRecord),
    _mine(
        "POST",
        _BASE,
        "viewer",
        begin,
        "Begin to set up a second factor; the secret is shown once",
        body=PasswordAgain,
        answer=SecretShown,
        codes=_BEGUN,
    ),
    _mine(
        "PUT",
        _BASE,
        "viewer",
        confirm,
        "Confirm it with a code; the recovery codes are shown once",
        body=Code,
        answer=RecoveryCodes,
        codes=("no_second_factor",),
    ),
    _mine(
        "POST",
        f"{_BASE}/recovery-codes",
        "viewer",
        renew_codes,
        "New recovery codes; the old ones are dead",
        body=PasswordAgain,
        answer=RecoveryCodes,
        codes=_OFF,
    ),
    _mine(
        "POST",
        f"{_BASE}/disable",
        "viewer",
        disable,
        "Disable my second factor",
        body=PasswordAgain,
        answer=Done,
        codes=(*_OFF, "second_factor_required"),
    ),
    _mine(
        "DELETE",
        "/api/member/{id}/second-factor",
        "admin",
        reset,
        "Reset a member's second factor; the member's sessions end",
        answer=records.MemberRecord,
        codes=("no_second_factor",),
    ),
)
