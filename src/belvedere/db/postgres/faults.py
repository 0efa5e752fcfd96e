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
NO_RESPONSE = "The database does not respond; try again shortly."


class BeforeCommitFailed(Exception):
    """`before_commit` failed; the operations of the transaction did not."""


def unavailable(fault: psycopg.OperationalError) -> Unavailable:
    if isinstance(fault, psycopg.errors.QueryCanceled):
        return StatementTimeout(
            f"The database needed more than {STATEMENT_S} s; request less at once."
        )
    return Unavailable(NO_RESPONSE)


def commit(connection: PostgresConnection, queries: Sequence[Query]) -> list[list[Row]]:
    """Commit, and return the rows of statements that run after it. A commit whose response was lost
    may be durable. It is never repeated here: the caller has to check, or to repeat the request
    with the same key."""
    try:
        return connection.commit(queries)
    except psycopg.OperationalError as fault:
        if isinstance(fault, (*RETRYABLE, psycopg.errors.QueryCanceled)):
            raise
        raise Unavailable(
            "The connection to the database was lost during the commit, so the outcome "
            "is unknown. Check before you repeat the request, or repeat it with the same "
            "Idempotency-Key.",
            code="outcome_unknown",
        ) from fault
