"""From a correct password to a session, directly or with a ticket and the second factor."""

import msgspec

from belvedere.access.crypto.keyring import Keyring
from belvedere.access.people import users
from belvedere.access.people.users import User
from belvedere.access.signin import known_browsers, login_tickets, second_factors, sessions
from belvedere.access.signin.sessions import Session
from belvedere.db import Tx


class LoginResult(msgspec.Struct, frozen=True):
    """A session and its token; or what is still required, and the ticket to send with it."""

    session: Session | None = None
    token: str = ""
    asks: str = ""
    ticket: str = ""
    # Only of a second factor that was set up during this sign-in.
    recovery_codes: list[str] = []


def sign_in(
    tx: Tx,
    keys: Keyring,
    user: User,
    renewed: str | None,
    customer_name: str | None,
    address: str,
    agent: str,
    browser: str = "",
) -> LoginResult:
    """For a user whose password was right and has not changed since."""
    # The row stays locked until the commit: a concurrent password change either makes this update
    # match no row, or finds the new session and ends it.
    unchanged = tx.execute(
        "update users set password_hash = ? where id = ? and enabled = 1 and password_hash = ?",
        renewed or user.password_hash,
        user.id,
        user.password_hash,
    )
    if not unchanged:
        raise sessions.bad_login()
    result = open_session(tx, keys, user.id, customer_name, address, agent, browser)
    # Last: opening a session checks whether there was an earlier sign-in.
    tx.execute("update users set login_at = ? where id = ?", tx.now, user.id)
    return result


def open_session(
    tx: Tx,
    keys: Keyring,
    user_id: str,
    customer_name: str | None,
    address: str,
    agent: str,
    browser: str = "",
) -> LoginResult:
    """Open a session, unless a second factor is required."""
    place = sessions.choose_membership(tx, user_id, customer_name)
    if second_factors.find(tx, user_id) is not None:
        asks = login_tickets.TOTP
    elif place.needs_second_factor:
        asks = login_tickets.SETUP
    else:
        where = (place.customer_name, address, agent)
        return LoginResult(*sessions.begin(tx, keys, user_id, *where, browser=browser))
    ticket = login_tickets.create(tx, keys, user_id, place.customer_id, asks, browser)
    return LoginResult(asks=asks, ticket=ticket)


def set_up_second_factor(tx: Tx, keys: Keyring, token: str, browser: str = "") -> tuple[User, str]:
    """The secret for a user who must have a second factor and has none."""
    ticket = login_tickets.find(tx, keys, token, login_tickets.SETUP, browser)
    user = users.find(tx, ticket.user_id)
    assert user is not None
    return user, second_factors.begin(tx, keys, user.id)


def exchange_ticket(
    tx: Tx, keys: Keyring, token: str, code: str, address: str, agent: str, browser: str = ""
) -> LoginResult | None:
    """Exchange ticket and code for a session; None when the code is wrong, which is counted."""
    ticket = login_tickets.find(tx, keys, token, browser=browser)
    # As in `sign_in`: a concurrent password change deletes the ticket, or ends the session.
    users.lock(tx, ticket.user_id)
    login_tickets.count_try(tx, ticket)
    codes: list[str] | None = []
    method: str | None = second_factors.TOTP
    if ticket.asks == login_tickets.SETUP:
        codes = second_factors.confirm(tx, keys, ticket.user_id, code)
    else:
        is_known = known_browsers.is_known(tx, ticket.user_id, ticket.browser)
        method = second_factors.use_code(tx, keys, ticket.user_id, code, is_known=is_known)
    if method is None or codes is None:
        return None
    login_tickets.delete(tx, ticket)
    name: str = tx.value("select name from customers where id = ?", ticket.customer_id)
    where = (name, address, agent, method)
    begun = sessions.begin(tx, keys, ticket.user_id, *where, browser=ticket.browser)
    return LoginResult(*begun, recovery_codes=codes)
