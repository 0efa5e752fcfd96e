"""Recovery codes for a lost app: ten, each valid once, stored as keyed hashes."""

import secrets

from belvedere.access.crypto.keyring import Keyring
from belvedere.db import Tx

CODE_COUNT = 10
# Without letters and digits that are easily confused on paper; ten of them are nearly 50 bits.
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_HALF = 5


def renew(tx: Tx, keys: Keyring, user_id: str) -> list[str]:
    """Replace all codes. The new ones are shown once."""
    delete(tx, user_id)
    codes = [_code() for _ in range(CODE_COUNT)]
    tx.execute_many(
        "insert into recovery_codes (digest, user_id) values (?, ?)",
        [(_digest(keys, user_id, code), user_id) for code in codes],
    )
    return codes


def use(tx: Tx, keys: Keyring, user_id: str, code: str) -> bool:
    """Use a code up; whether it was valid."""
    digest = _digest(keys, user_id, code)
    sql = "delete from recovery_codes where digest = ? and user_id = ?"
    return tx.execute(sql, digest, user_id) == 1


def count(tx: Tx, user_id: str) -> int:
    return int(tx.value("select count(*) from recovery_codes where user_id = ?", user_id))


def delete(tx: Tx, user_id: str) -> None:
    tx.execute("delete from recovery_codes where user_id = ?", user_id)


def _code() -> str:
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(2 * _HALF))
    return f"{letters[:_HALF]}-{letters[_HALF:]}"


def _digest(keys: Keyring, user_id: str, code: str) -> str:
    """The digest, whatever the case, hyphens and blanks."""
    bare = "".join(code.split()).replace("-", "").lower()
    return keys.digest(f"recovery {user_id} {bare}")
