"""The second factor of a person's password: a secret shared with an app, in all organizations."""

import msgspec

from belvedere.access.crypto import totp
from belvedere.access.crypto.keyring import Keyring
from belvedere.access.people import users
from belvedere.access.signin import login_tickets, recovery_codes
from belvedere.base.clock import MINUTE, SECOND, Millis
from belvedere.base.errors import Conflict, TooMany
from belvedere.db import Tx, columns

# After this number of wrong codes within the span, from anywhere, no code is checked until its end.
# Codes from browsers that the person used before are counted separately: an attacker who knows only
# the password cannot lock the person out there.
WRONG_CODES, WRONG_SPAN = 10, 15 * MINUTE
# With what a person signed in.
TOTP, RECOVERY = "totp", "recovery"


class SecondFactor(msgspec.Struct, frozen=True):
    user_id: str
    box: str
    # Null until the first code has proved that the app works.
    confirmed_at: int | None
    last_step: int
    wrong_codes: int
    wrong_since: int
    created_at: int
    known_wrong_codes: int
    known_wrong_since: int


def find(tx: Tx, user_id: str) -> SecondFactor | None:
    """The second factor, if it is confirmed."""
    factor = _row(tx, user_id)
    return factor if factor is not None and factor.confirmed_at is not None else None


def begin(tx: Tx, keys: Keyring, user_id: str) -> str:
    """A new secret; it is not required until a code confirms it."""
    users.lock(tx, user_id)
    if find(tx, user_id) is not None:
        raise Conflict(
            "You already have a second factor. Disable it before you set up another one.",
            code="second_factor_on",
        )
    secret = totp.new_secret()
    delete(tx, user_id)
    factor = SecondFactor(
        user_id, keys.seal(secret, _context(user_id)), None, 0, 0, 0, tx.now, 0, 0
    )
    tx.execute(
        f"insert into second_factors ({columns(SecondFactor)}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *msgspec.structs.astuple(factor),
    )
    return secret


def confirm(tx: Tx, keys: Keyring, user_id: str, code: str) -> list[str] | None:
    """Require the second factor from now on. Returns the recovery codes; None: wrong code."""
    users.lock(tx, user_id)
    begun = _row(tx, user_id, lock=True)
    if begun is None or begun.confirmed_at is not None:
        raise no_second_factor()
    if not _verify_counted(tx, keys, begun, code, with_recovery=False):
        return None
    tx.execute("update second_factors set confirmed_at = ? where user_id = ?", tx.now, user_id)
    return recovery_codes.renew(tx, keys, user_id)


def use_code(
    tx: Tx, keys: Keyring, user_id: str, code: str, *, is_known: bool = False
) -> str | None:
    """Use a code up: returns its kind, or None when it is wrong. The caller must not raise then,
    because the count of wrong codes has to be committed."""
    factor = _row(tx, user_id, lock=True)
    if factor is None or factor.confirmed_at is None:
        raise login_tickets.ticket_gone()
    return _verify_counted(tx, keys, factor, code, with_recovery=True, is_known=is_known)


def delete(tx: Tx, user_id: str) -> None:
    """Delete the second factor and its recovery codes."""
    tx.execute("delete from second_factors where user_id = ?", user_id)
    recovery_codes.delete(tx, user_id)


def no_second_factor() -> Conflict:
    return Conflict("You have no second factor yet. Set one up first.", code="no_second_factor")


def _verify_counted(
    tx: Tx,
    keys: Keyring,
    factor: SecondFactor,
    code: str,
    *,
    with_recovery: bool,
    is_known: bool = False,
) -> str | None:
    codes, since = factor.wrong_codes, factor.wrong_since
    if is_known:
        codes, since = factor.known_wrong_codes, factor.known_wrong_since
    # A count that began in the future was started before the clock was set back.
    is_over = not tx.now - WRONG_SPAN < since <= tx.now
    if codes >= WRONG_CODES and not is_over:
        wait: Millis = since + WRONG_SPAN - tx.now
        raise TooMany("Too many wrong codes. Try again later.", retry_after_s=-(-wait // SECOND))
    method = _verify_code(tx, keys, factor, "".join(code.split()), with_recovery=with_recovery)
    wrong = 0 if method else 1 if is_over else codes + 1
    prefix = "known_" if is_known else ""
    tx.execute(
        f"update second_factors set {prefix}wrong_codes = ?, {prefix}wrong_since = ?"
        " where user_id = ?",
        wrong,
        tx.now if is_over else since,
        factor.user_id,
    )
    return method


def _verify_code(
    tx: Tx, keys: Keyring, factor: SecondFactor, code: str, *, with_recovery: bool
) -> str | None:
    if not (code.isascii() and code.isdigit() and len(code) == totp.DIGITS):
        is_valid = with_recovery and recovery_codes.use(tx, keys, factor.user_id, code)
        return RECOVERY if is_valid else None
    secret = keys.unseal(factor.box, _context(factor.user_id))
    step = totp.matching_step(secret, code, tx.now, factor.last_step)
    if step is None:
        return None
    tx.execute("update second_factors set last_step = ? where user_id = ?", step, factor.user_id)
    return TOTP


def _row(tx: Tx, user_id: str, *, lock: bool = False) -> SecondFactor | None:
    """With `lock`, codes are checked one after the other, also on several servers."""
    lock_clause = tx.dialect.lock_rows if lock else ""
    sql = f"select {columns(SecondFactor)} from second_factors where user_id = ?{lock_clause}"
    return tx.one(SecondFactor, sql, user_id)


def _context(user_id: str) -> str:
    return f"second factor of {user_id}"
