"""Errors of PostgreSQL: which ones a transaction repeats, and what the others mean to a caller."""

from collections.abc import Sequence

import psycopg

from belvedere.base.errors import StatementTimeout, Unavailable
from belvedere.db.interface import Query, Row
from belvedere.db.postgres.connection import STATEMENT_S, PostgresConnection

# Depend on what other transactions do at the same time, never on one alone.
CONFLICTS = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)
RETRYABLE = (psycopg.errors.UniqueViolation, *CONFLICTS)
# Attempts for a transaction whose fault is retryable.
MAX_TRIES = 4
CONFLICT = "The database had conflicting changes at the same time; try again shortly."
# Statements that PostgreSQL has ended; the connection works.
ENDED = (psycopg.errors.QueryCanceled, psycopg.errors.LockNotAvailable)
LOCKED = "Other changes lock these rows; try again shortly."
NO_RESPONSE = "The database does not respond; try again shortly."
# The connection works, but nothing can be written: some services do this to a database whose disk
# is almost full. The driver does not report it as an operational error.
READ_ONLY = psycopg.errors.ReadOnlySqlTransaction
# The database does not work at the moment, whatever the statement was.
FAULTS = (psycopg.OperationalError, READ_ONLY)


class BeforeCommitFailed(Exception):
    """`before_commit` failed; the operations of the transaction did not."""


def unavailable(fault: psycopg.Error) -> Unavailable:
    if isinstance(fault, psycopg.errors.QueryCanceled):
        return StatementTimeout(
            f"The database needed more than {STATEMENT_S} s; request less at once."
        )
    if isinstance(fault, psycopg.errors.LockNotAvailable):
        return Unavailable(LOCKED)
    if isinstance(fault, READ_ONLY):
        return Unavailable("The database is read-only; try again later.")
    return Unavailable(NO_RESPONSE)


def describe(fault: psycopg.Error) -> str:
    """For the operator only: it may name hosts, users and tables."""
    text = " ".join(str(fault).split())
    return f"PostgreSQL reports: {text}{'' if text.endswith(('.', '?')) else '.'}"


def commit(connection: PostgresConnection, queries: Sequence[Query]) -> list[list[Row]]:
    """Commit, and return the rows of statements that run after it. A commit whose response was lost
    may be durable. It is never repeated here: the caller has to check, or to repeat the request
    with the same key."""
    try:
        return connection.commit(queries)
    except psycopg.OperationalError as fault:
        if isinstance(fault, (*RETRYABLE, *ENDED)):
            raise
        raise Unavailable(
            "The connection to the database was lost during the commit, so the outcome "
            "is unknown. Check before you repeat the request, or repeat it with the same "
            "Idempotency-Key.",
            code="outcome_unknown",
        ) from fault
