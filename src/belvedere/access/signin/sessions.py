"""Sessions of people who signed in, in one organization at a time."""

import msgspec

from belvedere import events
from belvedere.access import audit
from belvedere.access.actor import Actor, Level
from belvedere.access.crypto.keyring import SESSION, Keyring, make_token
from belvedere.access.signin import known_browsers, login_tickets
from belvedere.base.clock import DAY, HOUR, Millis
from belvedere.base.errors import Forbidden, NotFound, Unauthenticated
from belvedere.base.ids import new_id
from belvedere.db import Tx, columns
from belvedere.db.signals import ACCESS_CHANGED

IDLE: Millis = 8 * HOUR
LIFE: Millis = 7 * DAY
PASSWORD, PROVIDER = "password", "provider"
# Sessions that a person has at once by passwords, and by each provider; the oldest ends. Providers
# are counted separately: an organization must not be able to end sessions in another one.
MAX_SESSIONS = 100

# The condition of a usable membership; statements call the tables c, u and m.
ACTIVE = "c.enabled = 1 and u.enabled = 1 and m.enabled = 1 and m.invited_at is null"


class Session(msgspec.Struct, frozen=True):
    id: str
    user_id: str
    customer_id: str
    address: str
    agent: str
    created_at: int
    used_at: int
    expires_at: int
    # With what the person signed in: password, totp, recovery or provider.
    method: str
    # Through which provider; then the session is only valid in this organization.
    provider_id: str | None
    # Digest of the browser's token; empty for programs.
    browser: str


class Membership(msgspec.Struct, frozen=True):
    """An organization that a person can sign in to."""

    customer_id: str
    customer_name: str
    member_id: str
    level: str
    email: str
    second_factor_level: str
    providers_only: int

    @property
    def needs_second_factor(self) -> bool:
        return needs_second_factor(self.level, self.second_factor_level)


def needs_second_factor(level: str, from_level: str) -> bool:
    """Whether a member of `level` needs one where it is required from `from_level` on."""
    return from_level != "" and Level(level).reaches(Level(from_level))


def list_memberships(tx: Tx, user_id: str) -> list[Membership]:
    """In the order in which the person joined."""
    return tx.all(
        Membership,
        "select c.id, c.name, m.id, m.level, u.email, c.second_factor_level,"
        " c.providers_only from members m"
        " join customers c on c.id = m.customer_id join users u on u.id = m.user_id"
        f" where m.user_id = ? and {ACTIVE} order by m.id",
        user_id,
    )


def begin(
    tx: Tx,
    keys: Keyring,
    user_id: str,
    customer_name: str | None,
    address: str,
    agent: str,
    method: str = PASSWORD,
    provider_id: str | None = None,
    browser: str = "",
) -> tuple[Session, str]:
    """A session and its token, in the named organization, else in the one used last."""
    place = choose_membership(tx, user_id, customer_name, method)
    agent = agent[:200]
    is_familiar = known_browsers.is_familiar(
        tx, user_id, browser, address, agent, provider_id or ""
    )
    times = (tx.now, tx.now, tx.now + LIFE)
    session = Session(
        new_id(),
        user_id,
        place.customer_id,
        address,
        agent,
        *times,
        method,
        provider_id,
        browser,
    )
    token = make_token(SESSION)
    tx.execute(
        f"insert into sessions ({columns(Session)}, digest)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *msgspec.structs.astuple(session),
        keys.digest(token),
    )
    _end_oldest(tx, user_id, provider_id)
    actor = Actor(
        place.customer_id,
        place.customer_name,
        Level(place.level),
        "member",
        user_id=user_id,
        email=place.email,
        credential_id=session.id,
        address=address,
    )
    details = {"agent": session.agent, "method": method}
    audit.record(tx, actor, "session.begin", "session", session.id, None, details)
    if not is_familiar:
        details = {"session_id": session.id}
        events.append(tx, place.customer_id, "member.new_sign_in", place.member_id, details)
    return session, token


def _end_oldest(tx: Tx, user_id: str, provider_id: str | None) -> None:
    live = (
        "user_id = ? and coalesce(provider_id, '') = ? and revoked_at is null"
        " and expires_at > ? and used_at > ?"
    )
    whose = (user_id, provider_id or "", tx.now, tx.now - IDLE)
    ended = tx.execute(
        f"update sessions set revoked_at = ? where {live} and id <="
        f" (select id from sessions where {live} order by id desc limit 1 offset ?)",
        tx.now,
        *whose,
        *whose,
        MAX_SESSIONS,
    )
    if ended:
        tx.signals.add(ACCESS_CHANGED)


def renew(
    tx: Tx, keys: Keyring, actor: Actor, customer_id: str | None = None
) -> tuple[Session, str]:
    """A new token for the same session, in the same or in another organization. The end of the
    session does not change: after seven days everyone signs in again."""
    require_session(actor)
    target_id = customer_id or actor.customer_id
    if actor.provider_id and target_id != actor.customer_id:
        raise Forbidden(
            "You signed in through a provider of this organization. Sign in to the other one.",
            code="other_organization",
        )
    memberships_by_id = {
        membership.customer_id: membership for membership in list_memberships(tx, actor.user_id)
    }
    if target_id not in memberships_by_id:
        raise not_a_member()
    token = make_token(SESSION)
    session = tx.one(
        Session,
        "update sessions set digest = ?, customer_id = ?, used_at = ?"
        f" where id = ? and user_id = ? and revoked_at is null returning {columns(Session)}",
        keys.digest(token),
        target_id,
        tx.now,
        actor.credential_id,
        actor.user_id,
    )
    if session is None:
        raise _not_found()
    if session.method != PROVIDER and memberships_by_id[target_id].providers_only:
        raise passwords_off(memberships_by_id[target_id].customer_name)
    if session.method == PASSWORD and memberships_by_id[target_id].needs_second_factor:
        raise Forbidden(
            "That organization requires a second factor. Set up yours first.",
            code="second_factor_required",
        )
    tx.signals.add(ACCESS_CHANGED)
    return session, token


def list_active(tx: Tx, actor: Actor) -> list[Session]:
    """This person's sessions, in all organizations that the actor's own session gives access to."""
    require_session(actor)
    return tx.all(
        Session,
        f"select {columns(Session)} from sessions where user_id = ? and revoked_at is null"
        " and expires_at > ? and used_at > ? and (? = '' or customer_id = ?) order by id",
        actor.user_id,
        tx.now,
        tx.now - IDLE,
        *_customer_scope(actor),
    )


def expiry_of(tx: Tx, actor: Actor) -> Millis | None:
    """When the session of this request ends at the latest; None without a session."""
    ends: Millis | None = tx.value(
        "select expires_at from sessions where id = ?", actor.credential_id
    )
    return ends


def revoke(tx: Tx, actor: Actor, session_id: str) -> Session:
    """End one of the actor's own sessions."""
    require_session(actor)
    session = tx.one(
        Session,
        "update sessions set revoked_at = ? where id = ? and user_id = ? and revoked_at is null"
        f" and (? = '' or customer_id = ?) returning {columns(Session)}",
        tx.now,
        session_id,
        actor.user_id,
        *_customer_scope(actor),
    )
    if session is None:
        raise _not_found()
    audit.record(tx, actor, "session.end", "session", session.id)
    tx.signals.add(ACCESS_CHANGED)
    return session


def revoke_others(tx: Tx, actor: Actor) -> list[Session]:
    """End all of the actor's own sessions except the current one, and unfinished sign-ins."""
    require_session(actor)
    ended = [session for session in list_active(tx, actor) if session.id != actor.credential_id]
    revoke_for_user(
        tx, actor.user_id, _customer_scope(actor)[0] or None, except_id=actor.credential_id
    )
    login_tickets.delete_for_user(tx, actor.user_id, _customer_scope(actor)[0])
    details = {"ended": len(ended)}
    audit.record(tx, actor, "session.end_others", "session", actor.credential_id, None, details)
    return ended


def revoke_for_user(
    tx: Tx, user_id: str, customer_id: str | None = None, except_id: str = ""
) -> None:
    """End a user's sessions, in one organization or in all."""
    tx.execute(
        "update sessions set revoked_at = ? where user_id = ? and revoked_at is null"
        " and id <> ? and (? = '' or customer_id = ?)",
        tx.now,
        user_id,
        except_id,
        customer_id or "",
        customer_id or "",
    )
    tx.signals.add(ACCESS_CHANGED)


def revoke_for_provider(tx: Tx, provider_id: str) -> None:
    """End the sessions that were opened through a provider."""
    tx.execute(
        "update sessions set revoked_at = ? where provider_id = ? and revoked_at is null",
        tx.now,
        provider_id,
    )
    tx.signals.add(ACCESS_CHANGED)


def revoke_without_provider(tx: Tx, customer_id: str) -> None:
    """End the password sessions of an organization that turned passwords off, and its tickets."""
    tx.execute(
        "update sessions set revoked_at = ? where customer_id = ? and method <> ?"
        " and revoked_at is null",
        tx.now,
        customer_id,
        PROVIDER,
    )
    tx.execute("delete from tickets where customer_id = ?", customer_id)
    tx.signals.add(ACCESS_CHANGED)


def _customer_scope(actor: Actor) -> tuple[str, str]:
    """The only organization that the session is valid in; empty: all of the person's. Twice, for
    two parameters of a statement."""
    bound = actor.customer_id if actor.provider_id else ""
    return bound, bound


def require_session(actor: Actor) -> None:
    if actor.kind != "member":
        raise Forbidden(
            "Tokens have no session. Sign in with a password or through a provider.",
            code="no_session",
        )


def bad_login() -> Unauthenticated:
    return Unauthenticated("The name or the password is wrong.", code="bad_login")


def not_a_member() -> Forbidden:
    return Forbidden("You are not a member of this organization.", code="not_a_member")


def passwords_off(customer_name: str) -> Forbidden:
    return Forbidden(
        f"The organization {customer_name} does not accept passwords. Sign in through its provider"
        " on the console's sign-in page.",
        code="passwords_off",
    )


def choose_membership(
    tx: Tx, user_id: str, customer_name: str | None, method: str = PASSWORD
) -> Membership:
    """The organization to sign in to; one that accepts this method of sign-in."""
    candidates = list_memberships(tx, user_id)
    if customer_name is not None:
        candidates = [
            membership
            for membership in candidates
            if membership.customer_name == customer_name.strip().lower()
        ]
    if not candidates:
        raise not_a_member()
    if method != PROVIDER:
        first_customer = candidates[0].customer_name
        candidates = [membership for membership in candidates if not membership.providers_only]
        if not candidates:
            raise passwords_off(first_customer)
    last = tx.value(
        "select customer_id from sessions where user_id = ? order by id desc limit 1", user_id
    )
    return next(
        (membership for membership in candidates if membership.customer_id == last), candidates[0]
    )


def _not_found() -> NotFound:
    return NotFound("There is no such session.", code="session_not_found")
