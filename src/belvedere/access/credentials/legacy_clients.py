"""TheEye agents sign in with a client id and secret: the id and the text of an enrolment
token."""

import msgspec

from belvedere.access.actor import Actor, Level
from belvedere.access.credentials import enrolment, tokens
from belvedere.access.credentials.enrolment import EnrolmentGrant
from belvedere.access.crypto.keyring import AGENT, Keyring, make_token
from belvedere.base.errors import Unauthenticated
from belvedere.base.ids import is_id
from belvedere.db import Tx
from belvedere.db.signals import ACCESS_CHANGED


class LegacyClient(msgspec.Struct, frozen=True):
    """An enrolment token that a TheEye agent uses as its client id and secret."""

    id: str
    customer_id: str
    customer_name: str
    name: str
    # Null where the token has expired or is used up: then it is only valid for hosts that it
    # enrolled before.
    open_uses: int | None


_CLIENT = (
    "select t.id, c.id, c.name, t.name, case when t.expires_at > ? and t.uses_left > 0"
    " then t.uses_left end from tokens t join customers c on c.id = t.customer_id"
    " where t.kind = ? and t.revoked_at is null and c.enabled = 1 and "
)


def authenticate(tx: Tx, keys: Keyring, client_id: str, secret: str) -> LegacyClient:
    """The client with this id and secret."""
    client = None
    if is_id(client_id):
        client = tx.one(
            LegacyClient,
            f"{_CLIENT} t.id = ? and t.digest = ?",
            tx.now,
            tokens.ENROLMENT,
            client_id,
            keys.digest(secret),
        )
    if client is None:
        raise invalid_client()
    return client


def invalid_client() -> Unauthenticated:
    return Unauthenticated(
        "The client id and secret are unknown, used up or expired. Use the id and the text of an"
        " enrolment token.",
        code="bad_client",
    )


def for_token(tx: Tx, actor: Actor) -> LegacyClient | None:
    """The client to which this agent's token was issued; None for an agent of Belvedere."""
    return tx.one(
        LegacyClient,
        f"{_CLIENT} t.id = (select a.created_by from tokens a where a.id = ?)",
        tx.now,
        tokens.ENROLMENT,
        actor.credential_id,
    )


def issue(tx: Tx, keys: Keyring, client: LegacyClient, host_id: str | None) -> str:
    """An agent token; without a host it is useless until it is bound to one."""
    text = make_token(AGENT)
    actor = Actor(
        client.customer_id,
        client.customer_name,
        Level.AGENT,
        "agent",
        user_id=client.id,
        username=client.name,
        host_id=host_id or "",
    )
    tokens.insert(tx, keys, actor, tokens.AGENT_TOKEN, client.name, text, host_id=host_id)
    return text


def redeem(tx: Tx, client: LegacyClient, hostname: str, fingerprint: str) -> EnrolmentGrant:
    """Count the enrolment of one more host."""
    return enrolment.redeem(tx, "id", client.id, hostname, fingerprint)


def bind(tx: Tx, token_id: str, host_id: str) -> None:
    """Assign the token to this host."""
    tx.execute("update tokens set host_id = ? where id = ?", host_id, token_id)
    tx.signals.add(ACCESS_CHANGED)


def delete_other_tokens(tx: Tx, token_id: str, host_id: str) -> None:
    """Delete the host's other agent tokens: every new agent process signs in again."""
    tx.execute(
        "delete from tokens where kind = ? and host_id = ? and id <> ?",
        tokens.AGENT_TOKEN,
        host_id,
        token_id,
    )
    tx.signals.add(ACCESS_CHANGED)
