"""The set-up page of a server that belongs to nobody yet: whoever can read its log may take it."""

import secrets

import msgspec

from belvedere.access.crypto.keyring import Keyring
from belvedere.access.signin import login
from belvedere.access.signin.login import LoginResult
from belvedere.base.errors import Conflict, Forbidden
from belvedere.db import Tx
from belvedere.server.runtime import ServerRuntime
from belvedere.server.setup import first_start

# Without those that look alike on paper.
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_GROUPS, _GROUP = 4, 4
_NAME = "setup:"


class SetUpBody(msgspec.Struct, forbid_unknown_fields=True):
    """The code from the server's log, and who the owner of what shall be."""

    code: str
    organization: str
    email: str
    password: str


def offer(tx: Tx, keys: Keyring) -> str | None:
    """A code for an empty server; None when it belongs to somebody. Kept as a digest, so that any
    server of one database takes it."""
    if not first_start.is_empty(tx):
        return None
    groups = ["".join(secrets.choice(_LETTERS) for _ in range(_GROUP)) for _ in range(_GROUPS)]
    code = "-".join(groups)
    tx.execute(
        "insert into meta (name, value) values (?, ?)",
        *(f"{_NAME}{_digest(keys, code)}", str(tx.now)),
    )
    return code


def _digest(keys: Keyring, code: str) -> str:
    """As people type it: dashes, blanks and case do not matter."""
    return keys.digest("".join(code.upper().replace("-", " ").split()))


def check(tx: Tx, keys: Keyring, code: str) -> None:
    """Before a password is digested, which takes long."""
    if not first_start.is_empty(tx):
        raise Conflict("This server is set up already; sign in.", code="already_set_up")
    name = f"{_NAME}{_digest(keys, code)}"
    if tx.row("select 1 from meta where name = ?", name) is None:
        raise Forbidden("The code is wrong; the server's log has it.", code="bad_code")


def set_up(
    tx: Tx, runtime: ServerRuntime, body: SetUpBody, password_hash: str, address: str, agent: str
) -> LoginResult:
    """The first organization, and its owner signed in. Only one ever gets through."""
    check(tx, runtime.keyring, body.code)
    # Two at once, with one code or two: the second waits here and finds that it is late.
    first = tx.execute(
        "insert into meta (name, value) values ('set_up', ?) on conflict (name) do nothing",
        str(tx.now),
    )
    if not first:
        raise Conflict("This server is set up already; sign in.", code="already_set_up")
    made = first_start.found(tx, runtime, body.organization, body.email, password_hash)
    tx.execute(f"delete from meta where name like '{_NAME}%'")
    return login.open_session(
        tx, runtime.keyring, made.owner.user_id, made.customer.name, address, agent
    )
