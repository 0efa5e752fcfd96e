"""Browsers that a person signed in with before. Their cookie grants nothing: it only exempts the
owner of an account from the limits that other people's wrong passwords reach."""

import msgspec

from belvedere.access.crypto.keyring import BROWSER, Keyring, make_token
from belvedere.access.people import users
from belvedere.access.people.users import User
from belvedere.base.clock import HOUR
from belvedere.base.networks import client_network
from belvedere.db import Tx

# Earlier sign-ins that a new one is compared with.
MAX_COMPARED = 100
# Notices about new sign-ins to one person: more would only fill the mailbox.
MAX_NOTICES_PER_HOUR = 20


class Browser(msgspec.Struct, frozen=True):
    """The browser of a request: its cookie, and the digest of it that the database stores."""

    token: str = ""
    digest: str = ""


# For programs, and for pages of other sites.
NO_BROWSER = Browser()


def new_browser(keys: Keyring) -> Browser:
    token = make_token(BROWSER)
    return Browser(token, keys.digest(token))


class NameLookup(msgspec.Struct, frozen=True):
    """What a sign-in needs to know about the name that was typed."""

    users: list[User]
    # Whether the browser was used by one of them before.
    is_known: bool
    # Hashes that are compared for any name, so that the time does not reveal which names exist.
    checks: int


def look_up_name(tx: Tx, identifier: str, customer_name: str | None, digest: str) -> NameLookup:
    """The same statements run whether or not somebody has this name."""
    text = users.name_key(identifier) or ""
    row = tx.row(
        "select 1 from sessions s join users u on u.id = s.user_id where s.browser = ?"
        " and s.browser <> '' and (u.email = ? or u.username = ?) limit 1",
        digest,
        text,
        text,
    )
    accounts = users.find_by_name(tx, identifier, customer_name)
    return NameLookup(accounts, row is not None, users.max_accounts_per_name(tx))


def is_known(tx: Tx, user_id: str, digest: str) -> bool:
    """Whether the person signed in with this browser while the session is still stored."""
    row = tx.row(
        "select 1 from sessions where user_id = ? and browser = ? and browser <> '' limit 1",
        user_id,
        digest,
    )
    return row is not None


def is_familiar(
    tx: Tx, user_id: str, digest: str, address: str, agent: str, provider_id: str = ""
) -> bool:
    """Whether the person signed in from this network and program before, in the same way. The very
    first sign-in is familiar. A provider could make any network familiar, so its sign-ins count for
    the provider only."""
    if is_known(tx, user_id, digest):
        return True
    rows = tx.rows(
        "select address, agent, created_at from sessions where user_id = ?"
        " and coalesce(provider_id, '') = ? order by id desc limit ?",
        user_id,
        provider_id,
        MAX_COMPARED,
    )
    if not rows:
        return tx.value("select login_at from users where id = ?", user_id) is None
    places = {(client_network(source), program): at for source, program, at in reversed(rows)}
    # Counts networks and programs, not sign-ins: a program that signs in often must not hide a
    # stranger.
    if sum(tx.now - HOUR < at <= tx.now for at in places.values()) >= MAX_NOTICES_PER_HOUR:
        return True
    return (client_network(address), agent) in places


def forget_browsers(tx: Tx, user_id: str, but_session: str = "") -> None:
    """Forget all browsers after a new password, except the one that set it."""
    tx.execute(
        "update sessions set browser = '' where user_id = ? and browser <> ''"
        " and browser <> coalesce((select s.browser from sessions s where s.id = ?), '')",
        user_id,
        but_session,
    )
