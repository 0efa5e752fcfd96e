"""Credentials of programs: integration, agent and enrolment tokens. Shown once, stored as
hashes."""

import re

import msgspec

from belvedere import events
from belvedere.access import audit
from belvedere.access.actor import Actor, Level, require, require_person
from belvedere.access.crypto.keyring import AGENT, INTEGRATION, Keyring, make_token
from belvedere.access.people import memberships, naming
from belvedere.base.clock import DAY, SECOND, Millis
from belvedere.base.errors import Conflict, Fault, Invalid, NotFound
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns
from belvedere.db.ports import Port
from belvedere.db.signals import ACCESS_CHANGED

# The kinds, which are also the prefixes of their events and audit actions.
TOKEN, AGENT_TOKEN, ENROLMENT = "token", "agent_token", "enrolment"

MAX_LIFE_S = 3_650 * DAY // SECOND
# Enough to recognise a token in a list, too little to help a guess.
_PREFIX_LENGTH = len(INTEGRATION) + 4
_OWN_TEXT = re.compile(rf"{INTEGRATION}[\x21-\x7e]{{32,500}}")
# An SQL condition on a row of `tokens`: a TheEye agent signs in with this enrolment token.
is_client_in_use: Port[[], str] = Port("tokens.is_client_in_use")


class Token(msgspec.Struct, frozen=True):
    id: str
    kind: str
    customer_id: str
    name: str
    prefix: str
    host_id: str | None
    uses_left: int | None
    expires_at: int | None
    created_by: str
    created_by_name: str
    created_at: int
    used_at: int | None


def create_token(
    tx: Tx, keys: Keyring, actor: Actor, name: str, life_s: int | None = None
) -> tuple[Token, str]:
    """An integration token and its text, which is never shown again."""
    require_token_creator(tx, actor)
    if life_s is not None and not 0 < life_s <= MAX_LIFE_S:
        message = f"must be 1 to {MAX_LIFE_S}"
        raise Invalid(f"expires_in {message}.", faults=(Fault("expires_in", message),))
    expires_at = None if life_s is None else tx.now + life_s * SECOND
    text = make_token(INTEGRATION)
    return insert(tx, keys, actor, TOKEN, name, text, expires_at=expires_at), text


def adopt_token(tx: Tx, keys: Keyring, actor: Actor, name: str, text: str) -> Token:
    """For the operator: an integration token with this text."""
    require_token_creator(tx, actor)
    if not _OWN_TEXT.fullmatch(text):
        raise Invalid(
            f"The access token must be {INTEGRATION} and at least 32 characters without spaces.",
            code="bad_access_token",
        )
    return insert(tx, keys, actor, TOKEN, name, text)


def create_agent_token(
    tx: Tx, keys: Keyring, customer_id: str, host_id: str, name: str
) -> tuple[Token, str]:
    """The credential of a host's agent, created when an enrolment token is redeemed."""
    text = make_token(AGENT)
    actor = Actor(customer_id, "", Level.AGENT, "agent", username=name, host_id=host_id)
    return insert(tx, keys, actor, AGENT_TOKEN, name, text, host_id=host_id), text


def list_active(tx: Tx, actor: Actor, kind: str = TOKEN) -> list[Token]:
    """Tokens that were not revoked."""
    return tx.all(
        Token,
        f"select {columns(Token)} from tokens"
        " where customer_id = ? and kind = ? and revoked_at is null order by id",
        actor.customer_id,
        kind,
    )


def revoke(tx: Tx, actor: Actor, token_id: str, kind: str = TOKEN) -> Token:
    """Effective immediately, on every server. A token may revoke itself, but no other."""
    require(actor, Level.ADMIN)
    if token_id != actor.credential_id:
        require_person(actor)
    token = tx.one(
        Token,
        "update tokens set revoked_at = ? where customer_id = ? and kind = ? and id = ?"
        f" and revoked_at is null returning {columns(Token)}",
        tx.now,
        actor.customer_id,
        kind,
        token_id,
    )
    if token is None:
        raise NotFound("There is no such token.", code="token_not_found")
    _record_revocation(tx, actor, token)
    return token


def revoke_created_by(tx: Tx, actor: Actor, user_id: str) -> None:
    """For a member who leaves, is disabled or is no longer an admin: the creator of a token knows
    its text. Enrolment tokens that TheEye agents sign in with are not revoked."""
    revoked = tx.all(
        Token,
        f"update tokens set revoked_at = ? where customer_id = ? and kind in (?, ?)"
        f" and created_by = ? and revoked_at is null and not {is_client_in_use()}"
        f" returning {columns(Token)}",
        tx.now,
        actor.customer_id,
        TOKEN,
        ENROLMENT,
        user_id,
    )
    for token in revoked:
        _record_revocation(tx, actor, token)


def _record_revocation(tx: Tx, actor: Actor, token: Token) -> None:
    kind, details = token.kind, {"name": token.name}
    audit.record(tx, actor, f"{kind}.revoke", kind, token.id, details, None)
    events.append(tx, actor.customer_id, f"{kind}.revoked", token.id, details)
    tx.signals.add(ACCESS_CHANGED)


def revoke_agent_tokens(tx: Tx, customer_id: str, host_id: str) -> int:
    """For a host that is deleted or enrolled again; the host's own event reports it."""
    return _revoke_for_host(tx, AGENT_TOKEN, customer_id, host_id)


def revoke_host_enrolments(tx: Tx, customer_id: str, host_id: str) -> int:
    """For a host that is deleted: the tokens that were created to enrol it again."""
    return _revoke_for_host(tx, ENROLMENT, customer_id, host_id)


def _revoke_for_host(tx: Tx, kind: str, customer_id: str, host_id: str) -> int:
    tx.signals.add(ACCESS_CHANGED)
    return tx.execute(
        "update tokens set revoked_at = ? where customer_id = ? and kind = ? and host_id = ?"
        " and revoked_at is null",
        tx.now,
        customer_id,
        kind,
        host_id,
    )


def require_token_creator(tx: Tx, actor: Actor) -> None:
    """Refuse all but people who are still admins."""
    memberships.require_current(tx, actor)
    require(actor, Level.ADMIN)
    require_person(actor)


def insert(
    tx: Tx,
    keys: Keyring,
    actor: Actor,
    kind: str,
    name: str,
    text: str,
    *,
    host_id: str | None = None,
    uses_left: int | None = None,
    expires_at: Millis | None = None,
) -> Token:
    name = naming.person(name)
    if not name:
        raise Invalid("The token needs a name.", faults=(Fault("name", "is empty"),))
    token = Token(
        new_id(),
        kind,
        actor.customer_id,
        name,
        text[:_PREFIX_LENGTH],
        host_id,
        uses_left,
        expires_at,
        actor.user_id,
        actor.email or actor.username,
        tx.now,
        None,
    )
    inserted = tx.execute(
        f"insert into tokens ({columns(Token)}, digest)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (digest) do nothing",
        *msgspec.structs.astuple(token),
        keys.digest(text),
    )
    if not inserted:
        raise Conflict("This token text is already in use. Choose another one.", code="token_taken")
    after = {"name": name, "host_id": host_id, "uses": uses_left, "expires_at": expires_at}
    audit.record(tx, actor, f"{kind}.create", kind, token.id, None, after)
    events.append(tx, actor.customer_id, f"{kind}.created", token.id, {"name": name})
    return token
