"""Failed attempts, collected until they are written to the log and the audit. What was typed is
never stored.

One line per minute for each kind, network and account, however many attempts there were."""

import logging

import msgspec

from belvedere.access import audit
from belvedere.access.actor import Actor, Level
from belvedere.access.people import naming
from belvedere.base.clock import Clock, Millis
from belvedere.db import Tx

# Entries between two calls of `take`; further attempts are counted together.
MAX_FAILURES = 100
# Organizations of one person that get an audit row.
MAX_ORGANIZATIONS = 20
MANY = "many"
log = logging.getLogger("belvedere.sign_in")


class FailedAttempt(msgspec.Struct):
    """Failed attempts of one kind, from one network, for one account."""

    kind: str
    network: str
    # Empty where no account has the name that was typed.
    user_id: str
    # The organization that the caller named, if any.
    customer: str
    first_at: Millis
    wrong: int = 0
    # Attempts that were refused unchecked, because too many had failed before.
    refused: int = 0


class FailedAttempts:
    """Failed attempts since the last `take`, in bounded memory."""

    def __init__(self, clock: Clock, max_keys: int = MAX_FAILURES) -> None:
        self._clock, self._max_keys = clock, max_keys
        self._failures: dict[tuple[str, str, str, str], FailedAttempt] = {}

    def add(
        self,
        kind: str,
        network: str,
        user_id: str = "",
        customer: str = "",
        *,
        refused: bool = False,
    ) -> None:
        key = (kind, network, user_id, customer)
        if key not in self._failures and len(self._failures) >= self._max_keys:
            key = (kind, MANY, "", "")
        is_new = key not in self._failures
        failure = self._failures.setdefault(key, FailedAttempt(*key, self._clock()))
        failure.refused += refused
        failure.wrong += not refused
        if is_new:
            # Immediately, for tools that follow the log; the count comes with the audit row.
            log.warning("authentication failed kind=%s address=%s user=%s", *key[:3])

    def take(self) -> list[FailedAttempt]:
        failures, self._failures = list(self._failures.values()), {}
        return failures

    def __len__(self) -> int:
        return len(self._failures)


def write_audit(tx: Tx, failures: list[FailedAttempt]) -> None:
    """One audit row for each organization that a failure concerns."""
    for failure in failures:
        for customer_id, member_id in _customers_of(tx, failure):
            actor = Actor(customer_id, "", Level.ANONYMOUS, "anonymous", address=failure.network)
            after = {"kind": failure.kind, "wrong": failure.wrong, "refused": failure.refused}
            audit.record(tx, actor, "sign_in.failed", "member", member_id, None, after)


def _customers_of(tx: Tx, failure: FailedAttempt) -> list[tuple[str, str]]:
    """Organizations and the member in each. Without a known account: the organization that was
    named, or the only one of the server."""
    if failure.user_id:
        return tx.rows(
            "select customer_id, id from members where user_id = ? order by id limit ?",
            failure.user_id,
            MAX_ORGANIZATIONS,
        )
    if failure.customer:
        key = naming.customer_key(failure.customer)
        return tx.rows("select id, '' from customers where name_key = ?", key)
    only = tx.rows("select id from customers order by id limit 2")
    return [(only[0][0], "")] if len(only) == 1 else []


def log_repeated(failures: list[FailedAttempt]) -> None:
    """Log every failure that had more attempts than the first, which is logged already."""
    for failure in failures:
        if failure.wrong + failure.refused > 1:
            log.warning(
                "authentication failed repeatedly kind=%s address=%s user=%s wrong=%d refused=%d",
                *(failure.kind, failure.network, failure.user_id, failure.wrong, failure.refused),
            )
