"""The actor of a token or session: one look-up by keyed hash, with a check of everything that could
have changed since it was created."""

from collections.abc import Callable, Sequence

import msgspec

from belvedere.access.actor import Actor, Level
from belvedere.access.credentials import tokens
from belvedere.access.crypto import keyring
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.signin import sessions
from belvedere.base.clock import DAY, Millis
from belvedere.db import Tx

# How long rows of expired sessions, links and tokens are stored for later investigation.
RETENTION: Millis = 30 * DAY
MAX_TOKEN = 600


def authenticate(tx: Tx, keys: Keyring, token_text: str) -> Actor | None:
    """The actor of a token; None if it is unknown, revoked, expired or disabled.

    An enrolment token is not a credential of an actor: it is redeemed for one."""
    find_actor = _AUTHENTICATORS.get(token_text[:4])
    if find_actor is None or len(token_text) > MAX_TOKEN:
        return None
    return find_actor(tx, keys.digest(token_text))


def touch(tx: Tx, used: Sequence[tuple[str, Millis]]) -> None:
    """Store last uses of tokens and sessions; called once a minute, not per request."""
    for table in ("tokens", "sessions"):
        tx.execute_many(
            f"update {table} set used_at = ? where id = ? and coalesce(used_at, 0) < ?",
            # In one order on every server, so that two of them cannot wait for each other.
            [(at, credential_id, at) for credential_id, at in sorted(used)],
        )


def purge_expired(tx: Tx, limit: int = 500) -> int:
    """Delete a small batch of sessions, links and tokens that expired long ago."""
    long_ago = tx.now - RETENTION
    return sum(
        tx.execute(
            f"delete from {table} where id in (select id from {table} where {over} limit ?)",
            long_ago,
            limit,
        )
        for table, over in (
            ("sessions", "expires_at < ?"),
            ("links", "expires_at < ?"),
            # Agents of TheEye sign in with their enrolment token as long as they exist.
            (
                "tokens",
                f"kind = 'enrolment' and expires_at < ? and not {tokens.is_client_in_use()}",
            ),
            ("tokens", "kind = 'agent_token' and host_id is null and created_at < ?"),
        )
    )


def _session(tx: Tx, digest: str) -> Actor | None:
    row = tx.row(
        "select c.id, c.name, m.level, u.id, u.username, u.email, m.tags, s.id, m.id, s.method,"
        " c.second_factor_level, c.providers_only, s.provider_id"
        " from sessions s join customers c on c.id = s.customer_id"
        " join users u on u.id = s.user_id"
        " join members m on m.customer_id = s.customer_id and m.user_id = s.user_id"
        " where s.digest = ? and s.revoked_at is null and s.expires_at > ? and s.used_at > ?"
        f" and {sessions.ACTIVE}",
        digest,
        tx.now,
        tx.now - sessions.IDLE,
    )
    if row is None:
        return None
    *identity, method, from_level, providers_only, provider_id = row
    customer_id, customer_name, level, user_id, username, email, tags, session_id, member_id = (
        identity
    )
    # Checked at every use: after a change of the settings, no session of a password (alone) works.
    if method != sessions.PROVIDER and providers_only:
        return None
    if method == sessions.PASSWORD and sessions.needs_second_factor(level, from_level):
        return None
    return Actor(
        customer_id,
        customer_name,
        Level(level),
        "member",
        user_id=user_id,
        username=username,
        email=email,
        tags=tuple(msgspec.json.decode(tags, type=list[str])),
        credential_id=session_id,
        member_id=member_id,
        provider_id=provider_id or "",
    )


def _token(tx: Tx, digest: str) -> Actor | None:
    row = _live_token(tx, digest, tokens.TOKEN)
    if row is None:
        return None
    customer_id, customer_name, token_id, name, _ = row
    return Actor(
        customer_id,
        customer_name,
        Level.ADMIN,
        "token",
        user_id=token_id,
        username=name,
        credential_id=token_id,
        source=f"token {token_id} {name}",
    )


def _agent(tx: Tx, digest: str) -> Actor | None:
    row = _live_token(tx, digest, tokens.AGENT_TOKEN)
    if row is None:
        return None
    customer_id, customer_name, token_id, name, host_id = row
    return Actor(
        customer_id,
        customer_name,
        Level.AGENT,
        "agent",
        user_id=token_id,
        username=name,
        credential_id=token_id,
        host_id=host_id or "",
    )


def _live_token(tx: Tx, digest: str, kind: str) -> tuple[str, str, str, str, str | None] | None:
    return tx.row(
        "select c.id, c.name, t.id, t.name, t.host_id from tokens t"
        " join customers c on c.id = t.customer_id where t.digest = ? and t.kind = ?"
        " and t.revoked_at is null and (t.expires_at is null or t.expires_at > ?)"
        " and c.enabled = 1",
        digest,
        kind,
        tx.now,
    )


_AUTHENTICATORS: dict[str, Callable[[Tx, str], Actor | None]] = {
    keyring.SESSION: _session,
    keyring.INTEGRATION: _token,
    keyring.AGENT: _agent,
}
