"""Idempotency keys: the same request again gives the same job, for a day."""

from collections.abc import Sequence

import msgspec

from belvedere.base.errors import Conflict, KeyReused, NotFound
from belvedere.db import Tx
from belvedere.jobs import store
from belvedere.jobs.model import JobRow

# customer, principal, route, key
Key = tuple[str, str, str, str]


class Once(msgspec.Struct):
    """An Idempotency-Key with the digest of the body that came with it."""

    route: str
    key: str
    body_digest: str


def made_before(tx: Tx, key: Key, once: Once) -> list[str] | None:
    """The jobs that this key made; refused when it came with another body."""
    row = tx.row(
        "select body_digest, job_ids from idempotency where customer_id = ?"
        " and principal = ? and route = ? and idempotency_key = ?",
        *key,
    )
    if row is None:
        return None
    check_same(row[0], once)
    return msgspec.json.decode(row[1], type=list[str])


def check_same(digest: str, once: Once) -> None:
    if digest != once.body_digest:
        raise KeyReused("This Idempotency-Key came before with another request.")


def job_of(tx: Tx, customer_id: str, job_id: str) -> JobRow:
    """One that a key made before, and that may have left the history since."""
    try:
        return store.find(tx, customer_id, job_id)
    except NotFound:
        raise Conflict(
            "This Idempotency-Key has started a job whose history was deleted. Nothing was started"
            " again; use another key for another job.",
            code="replayed_job_gone",
        ) from None


def remember(tx: Tx, made: Sequence[tuple[Key, Once, Sequence[str]]]) -> None:
    """In the creating transaction: jobs and key are durable together, or not at all."""
    tx.execute_many(
        "insert into idempotency (customer_id, principal, route, idempotency_key, body_digest,"
        " job_ids, created_at) values (?, ?, ?, ?, ?, ?, ?)",
        [
            (*key, once.body_digest, msgspec.json.encode(job_ids).decode(), tx.now)
            for key, once, job_ids in made
        ],
    )
