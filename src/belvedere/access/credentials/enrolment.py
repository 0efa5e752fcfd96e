"""Enrolment tokens: short-lived credentials with which new hosts join an organization."""

import msgspec

from belvedere import events
from belvedere.access import audit
from belvedere.access.actor import Actor, Level
from belvedere.access.credentials import tokens
from belvedere.access.credentials.tokens import Token
from belvedere.access.crypto.keyring import ENROLMENT, Keyring, make_token
from belvedere.base.clock import DAY, HOUR, SECOND
from belvedere.base.errors import Fault, Invalid, Unauthenticated
from belvedere.base.text.json_text import clean
from belvedere.db import Tx

LIFE_S = HOUR // SECOND
MAX_LIFE_S = 30 * DAY // SECOND
MAX_USES = 10_000


class EnrolmentGrant(msgspec.Struct, frozen=True):
    """Permission to create a host: in which organization, by which enrolment token."""

    token_id: str
    customer_id: str
    customer_name: str
    # The existing host that the token was created for; None: it is only valid for new hosts.
    host_id: str | None = None


def create_enrolment(
    tx: Tx,
    keys: Keyring,
    actor: Actor,
    name: str = "",
    uses: int = 1,
    life_s: int = LIFE_S,
    host_id: str | None = None,
) -> tuple[Token, str]:
    """A token for `uses` new hosts or for one existing host. Its text is never shown again."""
    tokens.require_token_creator(tx, actor)
    _check("uses", uses, MAX_USES)
    _check("expires_in", life_s, MAX_LIFE_S)
    text = make_token(ENROLMENT)
    expires_at = tx.now + life_s * SECOND
    token = tokens.insert(
        tx,
        keys,
        actor,
        tokens.ENROLMENT,
        name or "enrolment",
        text,
        host_id=host_id,
        uses_left=uses,
        expires_at=expires_at,
    )
    return token, text


def redeem_enrolment(
    tx: Tx, keys: Keyring, token_text: str, hostname: str, fingerprint: str
) -> EnrolmentGrant:
    """Redeem a token by its text. The caller creates the host."""
    return redeem(tx, "digest", keys.digest(token_text), hostname, fingerprint)


def redeem(tx: Tx, column: str, value: str, hostname: str, fingerprint: str) -> EnrolmentGrant:
    """Count one use; two agents can never share the last one."""
    assert column in ("id", "digest")
    row = tx.row(
        f"update tokens set uses_left = uses_left - 1, used_at = ? where {column} = ?"
        " and kind = ? and revoked_at is null and expires_at > ? and uses_left > 0"
        " and exists (select 1 from customers c where c.id = tokens.customer_id and c.enabled = 1)"
        " returning id, customer_id, name, host_id",
        tx.now,
        value,
        tokens.ENROLMENT,
        tx.now,
    )
    if row is None:
        raise Unauthenticated(
            "This enrolment token is unknown, used up or expired. Create a new one.",
            code="bad_enrolment",
        )
    token_id, customer_id, name, host_id = row
    hostname, fingerprint = clean(hostname), clean(fingerprint)
    customer_name: str = tx.value("select name from customers where id = ?", customer_id)
    actor = Actor(customer_id, customer_name, Level.AGENT, "agent", username=hostname)
    details = {"name": name, "hostname": hostname, "fingerprint": fingerprint}
    audit.record(tx, actor, "enrolment.redeem", tokens.ENROLMENT, token_id, None, details)
    events.append(tx, customer_id, "enrolment.redeemed", token_id, {"hostname": hostname})
    return EnrolmentGrant(token_id, customer_id, customer_name, host_id)


def _check(field: str, value: int, maximum: int) -> None:
    if not 1 <= value <= maximum:
        message = f"must be 1 to {maximum}"
        raise Invalid(f"{field} {message}.", code=f"bad_{field}", faults=(Fault(field, message),))
