"""Idempotency keys: the same request again gives the same job, for a day."""

import msgspec

from belvedere.base.errors import KeyReused
from belvedere.db import Tx

# customer, principal, route, key
Key = tuple[str, str, str, str]


class Once(msgspec.Struct):
    """An Idempotency-Key with the digest of the body that came with it."""

    route: str
    key: str
    body_digest: str


def made_before(tx: Tx, key: Key, once: Once) -> str | None:
    """The job that this key made; refused when it came with another body."""
    row = tx.row(
        "select body_digest, job_ids from idempotency where customer_id = ?"
        " and principal = ? and route = ? and idempotency_key = ?",
        *key,
    )
    if row is None:
        return None
    check_same(row[0], once)
    job_id: str = msgspec.json.decode(row[1])[0]
    return job_id


def check_same(digest: str, once: Once) -> None:
    if digest != once.body_digest:
        raise KeyReused("This Idempotency-Key came before with another request.")


def remember(tx: Tx, made: list[tuple[Key, Once, str]]) -> None:
    """In the creating transaction: job and key are durable together, or not at all."""
    tx.many(
        "insert into idempotency (customer_id, principal, route, idempotency_key, body_digest,"
        " job_ids, created_at) values (?, ?, ?, ?, ?, ?, ?)",
        [(*key, once.body_digest, f'["{job_id}"]', tx.now) for key, once, job_id in made],
    )
