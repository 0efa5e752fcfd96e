"""Idempotency keys: a repeated request returns the same job, for one day."""

from collections.abc import Sequence

import msgspec

from belvedere.base.errors import Conflict, KeyReused, NotFound
from belvedere.db import Tx
from belvedere.jobs import store
from belvedere.jobs.model import JobRow

# customer, principal, route, key
ScopedKey = tuple[str, str, str, str]


class IdempotencyKey(msgspec.Struct):
    """An Idempotency-Key with the digest of the request's body."""

    route: str
    key: str
    body_digest: str


def find_replay(tx: Tx, scoped_key: ScopedKey, request_key: IdempotencyKey) -> list[str] | None:
    """The ids of the jobs that this key created; KeyReused if the body was another one."""
    row = tx.row(
        "select body_digest, job_ids from idempotency where customer_id = ?"
        " and principal = ? and route = ? and idempotency_key = ?",
        *scoped_key,
    )
    if row is None:
        return None
    check_same_body(row[0], request_key)
    return msgspec.json.decode(row[1], type=list[str])


def check_same_body(digest: str, request_key: IdempotencyKey) -> None:
    if digest != request_key.body_digest:
        raise KeyReused("This Idempotency-Key was used with a different request.")


def replayed_job(tx: Tx, customer_id: str, job_id: str) -> JobRow:
    """A job that this key created; it may have been purged since."""
    try:
        return store.find(tx, customer_id, job_id)
    except NotFound:
        raise Conflict(
            "This Idempotency-Key started a job that was deleted from the history. No new job was"
            " started; use another key to start one.",
            code="replayed_job_gone",
        ) from None


def store_keys(tx: Tx, entries: Sequence[tuple[ScopedKey, IdempotencyKey, Sequence[str]]]) -> None:
    """Called in the creating transaction: jobs and keys are durable together, or not at all."""
    tx.execute_many(
        "insert into idempotency (customer_id, principal, route, idempotency_key, body_digest,"
        " job_ids, created_at) values (?, ?, ?, ?, ?, ?, ?)",
        [
            (*scoped_key, request_key.body_digest, msgspec.json.encode(job_ids).decode(), tx.now)
            for scoped_key, request_key, job_ids in entries
        ],
    )
