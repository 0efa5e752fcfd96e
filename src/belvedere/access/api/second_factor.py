"""The caller's second factor: set-up, confirmation, recovery codes; and its reset by an admin."""

from functools import partial

import msgspec

from belvedere.access.api import records
from belvedere.access.api.route_builders import plain_route
from belvedere.access.api.sessions import StatusMessage, reply_with_new_token
from belvedere.access.crypto import totp
from belvedere.access.customers import second_factor_changes
from belvedere.access.limits.rate_limits import AttemptKind
from belvedere.access.people import users
from belvedere.access.people.users import User
from belvedere.access.request import AnyRequest, Request
from belvedere.base.clock import iso_or_none
from belvedere.base.errors import Conflict, Forbidden
from belvedere.rest.route import Reply


class PasswordBody(msgspec.Struct, forbid_unknown_fields=True):
    """The password again: somebody at an unlocked screen does not know it."""

    password: str


class CodeBody(msgspec.Struct, forbid_unknown_fields=True):
    code: str


class SecondFactorRecord(msgspec.Struct):
    enabled: bool
    since: str | None
    # Number of unused recovery codes.
    recovery_codes: int
    # One of the person's organizations requires it.
    required: bool
    # False for a person without a password, who signs in through a provider.
    available: bool


class TotpSecretRecord(msgspec.Struct):
    """Shown once: the secret, its otpauth address, and that as a QR code in SVG."""

    secret: str
    uri: str
    qr: str


class RecoveryCodes(msgspec.Struct):
    """Shown once; each works once."""

    recovery_codes: list[str]


async def show(request: Request[None]) -> SecondFactorRecord:
    status = await request.services.db.read(second_factor_changes.status, request.actor)
    user = await request.services.db.read(users.require, request.actor.user_id)
    return SecondFactorRecord(
        status.since is not None,
        iso_or_none(status.since),
        status.codes_left,
        status.is_required,
        user.password_hash is not None,
    )


async def begin(request: Request[PasswordBody]) -> Reply:
    user = await _verify_password(request)
    secret = await request.services.db.write(
        second_factor_changes.begin, request.services.keyring, request.actor
    )
    return Reply(totp_secret(secret, user.email), status=201)


async def confirm(request: Request[CodeBody]) -> Reply:
    limits, address = request.services.passwords.limits, request.actor.address
    limits.check(address, AttemptKind.CODE)
    codes = await request.services.db.write(
        second_factor_changes.confirm, request.services.keyring, request.actor, request.body.code
    )
    if codes is None:
        limits.record_failure(address, kind=AttemptKind.CODE, user_ids=[request.actor.user_id])
        # Not 401: the session is valid, and a client would discard it after a 401.
        raise Forbidden("The code is wrong. Check the clock of the device.", code="wrong_code")
    return await reply_with_new_token(request, RecoveryCodes(codes))


async def renew_codes(request: Request[PasswordBody]) -> RecoveryCodes:
    await _verify_password(request)
    codes = await request.services.db.write(
        second_factor_changes.renew_codes, request.services.keyring, request.actor
    )
    return RecoveryCodes(codes)


async def disable(request: Request[PasswordBody]) -> Reply:
    await _verify_password(request)
    await request.services.db.write(second_factor_changes.disable, request.actor)
    return await reply_with_new_token(
        request, StatusMessage("The second factor is off. You sign in with the password only.")
    )


async def reset(request: Request[None]) -> records.MemberRecord:
    member = await request.services.db.write(
        second_factor_changes.reset, request.actor, request.path["id"]
    )
    return records.member(member, request.actor)


def totp_secret(secret: str, email: str) -> TotpSecretRecord:
    uri = totp.uri(secret, email)
    return TotpSecretRecord(secret, uri, totp.qr_svg(uri))


async def _verify_password(request: AnyRequest) -> User:
    """The caller's account, after a check of the password in the body."""
    services, actor = request.services, request.actor
    if actor.kind != "member":
        raise Forbidden(
            "Tokens have no second factor. Sign in as a member of the organization.",
            code="no_session",
        )
    user: User = await services.db.read(users.require, actor.user_id)
    password_hash = user.password_hash
    if password_hash is None:
        raise Conflict(
            "You have no password, so you need no second factor here. Your provider has its own.",
            code="no_password",
        )
    whose = (actor.address, user.id, password_hash)
    if not await services.passwords.verify(*whose, request.body.password, user_id=user.id):
        raise Forbidden("The password is wrong.", code="wrong_password")
    return user


_route = partial(plain_route, from_interface=False, people=True)
_BASE = "/api/auth/second-factor"
_BEGUN, _OFF = ("second_factor_on", "no_password"), ("no_second_factor", "no_password")

ROUTES = (
    _route("GET", _BASE, "viewer", show, "Show my second factor", answer=SecondFactorRecord),
    _route(
        "POST",
        _BASE,
        "viewer",
        begin,
        "Begin to set up a second factor; the secret is shown once",
        body=PasswordBody,
        answer=TotpSecretRecord,
        codes=_BEGUN,
    ),
    _route(
        "PUT",
        _BASE,
        "viewer",
        confirm,
        "Confirm the second factor with a code; the recovery codes are shown once",
        body=CodeBody,
        answer=RecoveryCodes,
        codes=("no_second_factor",),
    ),
    _route(
        "POST",
        f"{_BASE}/recovery-codes",
        "viewer",
        renew_codes,
        "Create new recovery codes; the old ones become invalid",
        body=PasswordBody,
        answer=RecoveryCodes,
        codes=_OFF,
    ),
    _route(
        "POST",
        f"{_BASE}/disable",
        "viewer",
        disable,
        "Disable my second factor",
        body=PasswordBody,
        answer=StatusMessage,
        codes=(*_OFF, "second_factor_required"),
    ),
    _route(
        "DELETE",
        "/api/member/{id}/second-factor",
        "admin",
        reset,
        "Reset a member's second factor; the member's sessions end",
        answer=records.MemberRecord,
        codes=("no_second_factor",),
    ),
)
