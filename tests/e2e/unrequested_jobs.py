"""Explains jobs that are stored although no client of a test got them as the response to a request:
the keys, starters, arguments and events of each."""

from collections.abc import Iterable

from belvedere.base.clock import iso
from belvedere.db import Tx
from belvedere.db.readonly import peek
from e2e.caller import JobAttempt
from e2e.world import World
from event_rows import for_object

COLUMNS = (
    *("origin", "started_by", "user_id", "restarted_from", "workflow_job_id"),
    *("task_id", "arguments"),
)


def explain(world: World, job_ids: Iterable[str], requests: list[JobAttempt]) -> str:
    """One paragraph per job."""
    url = world.server.env.get("BELVEDERE_DATABASE") or str(world.server.data / "belvedere.db")
    ids_by_key = {attempt.key: attempt.job_id for attempt in requests}
    with peek(url) as db:
        return "\n\n".join(db.read(_explain, job_id, ids_by_key) for job_id in sorted(job_ids))


def _explain(tx: Tx, job_id: str, ids_by_key: dict[str, str]) -> str:
    row = tx.row(f"select {', '.join(COLUMNS)} from jobs where id = ?", job_id)
    starters = tx.rows("select user_id from job_starters where job_id = ?", job_id)
    return "\n".join(
        [
            f"job {job_id}: " + ("no row" if row is None else _pairs(COLUMNS, row)),
            f"  starters: {[name for (name,) in starters]}",
            *_key_lines(tx, job_id, ids_by_key),
            *(
                f"  event {event.xid}.{event.id} {iso(event.at)} {event.kind} {event.data}"
                for event in for_object(tx, job_id)
            ),
        ]
    )


def _key_lines(tx: Tx, job_id: str, ids_by_key: dict[str, str]) -> list[str]:
    """A job without a key was not created by a client of these tests."""
    rows = tx.rows(
        "select idempotency_key, principal, route, created_at from idempotency"
        " where job_ids like ?",
        f"%{job_id}%",
    )
    return [
        f"  Idempotency-Key {key!r}: principal={principal} route={route} at={iso(at)}"
        f" the client got {ids_by_key.get(key, 'no such request')!r}"
        for key, principal, route, at in rows
    ] or ["  Idempotency-Key: none"]


def _pairs(names: Iterable[str], values: Iterable[object]) -> str:
    return " ".join(f"{name}={value!r}" for name, value in zip(names, values, strict=True))
