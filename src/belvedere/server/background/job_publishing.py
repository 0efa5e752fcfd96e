"""Publishes the ends of jobs on Redis, in the format of TheEye."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere.db import Tx
from belvedere.events import Event, cursors
from belvedere.events.log import newest
from belvedere.jobs.model import FINAL, WORKFLOW
from belvedere.server.redis.publisher import MAX_AGE, RedisMessage
from belvedere.server.runtime import ServerRuntime

NAME = "ends of jobs are published on redis"
# Those that can end a job; a job without work has ended when it is created. Of a lost job also the
# result that becomes known later.
KINDS = frozenset(
    {"job.created", "job.finished", "job.canceled", "job.expired", "job.voided", "job.lost"}
    | {"job.approved", "job.rejected", "job.decided_by_default"}
    | {"job.reconciled", "job.resolved"}
)
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def start_at_end(tx: Tx) -> None:
    """When it is switched on, the old events of the log are not news."""
    if cursors.position(tx, NAME) is None:
        cursors.save(tx, NAME, newest(tx))


def publish(tx: Tx, runtime: ServerRuntime, batch: Sequence[Event]) -> None:
    if runtime.redis is None:
        return
    ends = [(event, data) for event in batch if (data := _end_data(event, tx.now)) is not None]
    names = _customer_names(tx, {event.customer_id for event, _ in ends})
    silent = _silent_jobs(tx, [event.object_id for event, _ in ends])
    runtime.redis.offer(
        _message(event, data, names[event.customer_id])
        for event, data in ends
        if event.object_id not in silent and event.customer_id in names
    )


def _end_data(event: Event, now: int) -> dict[str, Any] | None:
    data = _decode(event.data)
    return data if data["lifecycle"] in FINAL and event.at >= now - MAX_AGE else None


def _message(event: Event, data: dict[str, Any], customer_name: str) -> RedisMessage:
    topic = "workflow-job-finished" if data["type"] == WORKFLOW else "job-finished"
    content = {
        "id": str(event.id),
        "topic": topic,
        "data": {
            "operation": "update",
            "organization": customer_name,
            "organization_id": event.customer_id,
            "model_id": event.object_id,
            "model_type": data["type"],
        },
    }
    channel = f"{event.customer_id}:{topic}:{event.object_id}"
    return RedisMessage(channel, msgspec.json.encode(content).decode(), event.at)


def _customer_names(tx: Tx, customer_ids: set[str]) -> dict[str, str]:
    rows = tx.rows(
        f"select id, name from customers where id in {tx.dialect.in_texts}",
        msgspec.json.encode(sorted(customer_ids)).decode(),
    )
    return {customer_id: name for customer_id, name in rows}


def _silent_jobs(tx: Tx, job_ids: Sequence[str]) -> set[str]:
    """Jobs of tasks with `notify: false`, which TheEye does not publish either."""
    rows = tx.rows(
        f"select id from jobs where notify = 0 and id in {tx.dialect.in_texts}",
        msgspec.json.encode(job_ids).decode(),
    )
    return {job_id for (job_id,) in rows}
