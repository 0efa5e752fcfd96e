"""The setup code of a server without an organization: it is in the server's log."""

import secrets

import msgspec

from belvedere.access.crypto.keyring import Keyring
from belvedere.access.signin import login
from belvedere.access.signin.login import LoginResult
from belvedere.base.errors import Conflict, Forbidden
from belvedere.db import Tx, installation
from belvedere.server.runtime import ServerRuntime
from belvedere.server.setup import first_start

# Without characters that look alike.
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_GROUPS, _GROUP = 4, 4
_NAME = "setup:"


class SetUpBody(msgspec.Struct, forbid_unknown_fields=True):
    """The code from the server's log, and the organization and owner to create."""

    code: str
    organization: str
    email: str
    password: str


def offer(tx: Tx, keys: Keyring) -> str | None:
    """A code for a server without an organization, else None. Stored as a digest, so that every
    server on the same database accepts it."""
    if not first_start.is_empty(tx):
        return None
    groups = ["".join(secrets.choice(_LETTERS) for _ in range(_GROUP)) for _ in range(_GROUPS)]
    code = "-".join(groups)
    installation.write(tx, f"{_NAME}{_digest(keys, code)}", str(tx.now))
    return code


def _digest(keys: Keyring, code: str) -> str:
    """Dashes, blanks and case do not matter."""
    return keys.digest("".join(code.upper().replace("-", " ").split()))


def check(tx: Tx, keys: Keyring, code: str) -> None:
    """Checked before the password is hashed, which takes long."""
    if not first_start.is_empty(tx):
        raise Conflict("This server is already set up; sign in.", code="already_set_up")
    if installation.read(tx, f"{_NAME}{_digest(keys, code)}") is None:
        raise Forbidden("The code is wrong; it is in the server's log.", code="bad_code")


def set_up(
    tx: Tx, runtime: ServerRuntime, body: SetUpBody, password_hash: str, address: str, agent: str
) -> LoginResult:
    """Create the first organization and sign in its owner. Only one request succeeds."""
    check(tx, runtime.keyring, body.code)
    # The second of two concurrent requests waits here and is refused.
    if not installation.insert(tx, "set_up", str(tx.now)):
        raise Conflict("This server is already set up; sign in.", code="already_set_up")
    created = first_start.create_first(tx, runtime, body.organization, body.email, password_hash)
    installation.delete_all(tx, _NAME)
    return login.open_session(
        tx, runtime.keyring, created.owner.user_id, created.customer.name, address, agent
    )
