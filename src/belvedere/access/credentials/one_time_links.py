"""One-time links: invitations to an organization, and resets of a password."""

import msgspec

from belvedere.access.crypto.keyring import LINK, Keyring, make_token
from belvedere.base.clock import DAY, HOUR
from belvedere.base.errors import NotFound
from belvedere.base.ids import new_id
from belvedere.db import Tx

INVITATION, RESET = "invitation", "reset"
LIFE = {INVITATION: 7 * DAY, RESET: 24 * HOUR}

# How it reaches the person: shown to the member who created it, sent to the e-mail address, or
# passed on by the operator. Only the last two prove anything to other organizations.
SHOWN, MAIL, OPERATOR = "shown", "mail", "operator"

_COLUMNS = "id, kind, user_id, customer_id, created_by, expires_at, proof"


class OneTimeLink(msgspec.Struct, frozen=True):
    id: str
    kind: str
    user_id: str
    customer_id: str
    created_by: str
    expires_at: int
    proof: str


def create(
    tx: Tx,
    keys: Keyring,
    kind: str,
    user_id: str,
    customer_id: str,
    created_by: str,
    *,
    proof: str = SHOWN,
    beside: bool = False,
) -> tuple[OneTimeLink, str]:
    """A new link and its token. The previous one is deleted unless `beside` is set."""
    if not beside:
        delete(tx, user_id, customer_id, kind)
    token = make_token(LINK)
    link = OneTimeLink(new_id(), kind, user_id, customer_id, created_by, tx.now + LIFE[kind], proof)
    tx.execute(
        f"insert into links ({_COLUMNS}, digest, created_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *msgspec.structs.astuple(link),
        keys.digest(token),
        tx.now,
    )
    return link, token


def find(tx: Tx, keys: Keyring, token: str) -> OneTimeLink | None:
    """The link of a token, while it is valid."""
    return tx.one(
        OneTimeLink,
        f"select {_COLUMNS} from links where digest = ? and used_at is null and expires_at > ?",
        keys.digest(token),
        tx.now,
    )


def redeem(tx: Tx, keys: Keyring, token: str, kind: str) -> OneTimeLink:
    """Mark the link as used; of two concurrent attempts only one succeeds."""
    link = tx.one(
        OneTimeLink,
        "update links set used_at = ? where digest = ? and kind = ? and used_at is null"
        f" and expires_at > ? returning {_COLUMNS}",
        tx.now,
        keys.digest(token),
        kind,
        tx.now,
    )
    if link is None:
        raise link_gone()
    return link


def delete(tx: Tx, user_id: str, customer_id: str, kind: str) -> None:
    tx.execute(
        "delete from links where user_id = ? and customer_id = ? and kind = ? and used_at is null",
        user_id,
        customer_id,
        kind,
    )


def delete_open(tx: Tx, user_id: str, customer_id: str) -> None:
    """Delete the links of this organization for a person whose permissions change: they were
    created for the earlier permissions."""
    delete(tx, user_id, customer_id, INVITATION)
    delete(tx, user_id, customer_id, RESET)


def delete_invitations_of_others(
    tx: Tx, user_id: str, customer_id: str, created_by: str | None
) -> None:
    tx.execute(
        "delete from links where user_id = ? and customer_id = ? and kind = ? and used_at is null"
        " and created_by <> ?",
        *(user_id, customer_id, INVITATION, created_by or ""),
    )


def has_invitation(tx: Tx, customer_id: str, member_id: str) -> bool:
    row = tx.row(
        "select 1 from links l join members m on m.user_id = l.user_id"
        " and m.customer_id = l.customer_id where m.customer_id = ? and m.id = ? and l.kind = ?"
        " and l.used_at is null and l.expires_at > ?",
        *(customer_id, member_id, INVITATION, tx.now),
    )
    return row is not None


def delete_resets(tx: Tx, user_id: str) -> None:
    """Delete every reset link of a person who gets a new password or joins another organization:
    all organizations share the password."""
    tx.execute(
        "delete from links where user_id = ? and kind = ? and used_at is null", user_id, RESET
    )


def link_gone() -> NotFound:
    return NotFound("This link is unknown, used or expired. Ask for a new one.", code="link_gone")
