"""Reading one job, with everything but the log that lives in the log store."""

from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.base.clock import iso, iso_or_none
from belvedere.db import Row, Tx
from belvedere.jobs import permissions, specs, store
from belvedere.jobs.approvals import plan
from belvedere.jobs.attempts import Attempt, asking_attempts
from belvedere.jobs.model import APPROVAL, WORKFLOW, JobRow, Lifecycle
from belvedere.jobs.queries import records as record
from belvedere.jobs.queries.records import JobRecord
from belvedere.jobs.store import Heavy

# As far as jobs ahead are counted.
LONGEST_QUEUE = 10_000


def show(tx: Tx, actor: Actor, job_id: str) -> JobRecord:
    """One job with everything but its log, which lives in the log store."""
    rows = tx.pipeline(store.asking_whole(actor.customer_id, job_id), asking_attempts(job_id))
    job, heavy = store.found_whole(next(rows))
    permissions.seen(tx, actor, job)
    return _whole(tx, job, actor.customer_name, heavy, next(rows))


def whole(tx: Tx, job: JobRow, customer_name: str) -> JobRecord:
    rows = tx.pipeline(store.asking_heavy(job.id), asking_attempts(job.id))
    [heavy], attempts = rows
    return _whole(tx, job, customer_name, Heavy(*heavy), attempts)


def _whole(tx: Tx, job: JobRow, customer_name: str, heavy: Heavy, attempts: list[Row]) -> JobRecord:
    found = record.light(job, customer_name, tx.now)
    found.hostname = heavy.hostname
    if job.task_id is not None:
        record.with_task(found, job.task_id, specs.of_job(tx, job), heavy.arguments)
    elif job.type == "ScriptJob":
        # A command of an admin.
        found.task_arguments_values = msgspec.json.decode(heavy.arguments)
    found.output = None if heavy.output is None else msgspec.json.decode(heavy.output)
    if found.output is not None and job.fence == 0:
        # What a dummy or an approval gives on are its own values; masked ones stay masked.
        found.output = found.task_arguments_values
    if heavy.result is not None:
        found.result = store.decode_result(heavy.result)
        found.result["log"] = heavy.log or ""
    if job.type == APPROVAL:
        found.will_run = plan.of_job(tx, job.id)
    found.attempts = [record.attempt(Attempt(*row)) for row in attempts]
    explain(tx, job, found)
    return found


def named(tx: Tx, records: list[JobRecord]) -> list[JobRecord]:
    """Hosts are called as they are called today."""
    ids = sorted({found.host_id for found in records if found.host_id is not None})
    if ids:
        rows = tx.rows(
            f"select id, hostname from hosts where id in {tx.dialect.in_texts}",
            store.json_list(ids),
        )
        names: dict[str | None, str] = {host_id: hostname for host_id, hostname in rows}
        for found in records:
            found.hostname = names.get(found.host_id)
    return records


def explain(tx: Tx, job: JobRow, found: JobRecord) -> None:
    """Say why a ready job waits, and for whom an approval does."""
    if job.type == WORKFLOW and not job.is_over and found.waiting_reason in (None, "queued"):
        found.waiting_reason, found.waiting_detail = _steps_wait(tx, job)
        return
    if found.waiting_reason == "approval":
        spec = specs.of_job(tx, job)
        of = {"approvers": spec.approvers, "four_eyes": spec.four_eyes}
        found.waiting_detail = {**(found.waiting_detail or {}), **of}
    if found.waiting_reason != "queued" or job.host_id is None:
        return
    host = tx.row(
        "select connected_at, seen_at, gone_at, enabled, draining, slots, session, hostname,"
        " disk_full_at, disk_message from hosts where id = ?",
        job.host_id,
    )
    if host is not None:
        found.waiting_reason, detail = _held_up(tx, job, host)
        found.waiting_detail = {**detail, "ahead": _ahead(tx, job)}


def _steps_wait(tx: Tx, job: JobRow) -> tuple[str | None, dict[str, Any] | None]:
    """A workflow job waits when none of its steps runs: for what the newest of them waits."""
    steps = tx.all(
        JobRow,
        f"select {store.JOB} from jobs where workflow_job_id = ?"
        " and (ended_at is null or state = 'lost') order by id desc",
        job.id,
    )
    if not steps or any(_runs(tx, step) for step in steps):
        return None, None
    newest = record.light(steps[0], "", tx.now)
    explain(tx, steps[0], newest)
    return newest.waiting_reason, {"job_id": newest.id, **(newest.waiting_detail or {})}


def _runs(tx: Tx, step: JobRow) -> bool:
    """An agent has it; of a workflow within this one, whether a step of it runs."""
    if step.type == WORKFLOW and step.lifecycle != Lifecycle.ONHOLD:
        return _steps_wait(tx, step)[0] is None
    return step.lifecycle == Lifecycle.ASSIGNED


def _ahead(tx: Tx, job: JobRow) -> int:
    """How many wait for the same host and came before; a long queue is only called long."""
    ahead = "select 1 as one from jobs where host_id = ? and lifecycle = 'ready' and id < ? limit ?"
    return int(
        tx.value(f"select count(*) from ({ahead}) a", job.host_id, job.id, LONGEST_QUEUE) or 0
    )


def _held_up(tx: Tx, job: JobRow, host: tuple[Any, ...]) -> tuple[str, dict[str, Any]]:
    connected, seen, gone, enabled, draining, slots, _, hostname, full_at, lack = host
    if not enabled or draining:
        return "host_disabled" if not enabled else "host_draining", {"hostname": hostname}
    if connected is None or gone is not None:
        return "host_offline", {"hostname": hostname, "since": iso_or_none(gone or seen)}
    if full_at is not None:
        return "host_disk_full", {"hostname": hostname, "since": iso(full_at), "message": lack}
    rows = tx.rows(
        "select id, task_id from jobs where host_id = ? and lifecycle = 'assigned' order by id",
        job.host_id,
    )
    running = [held for held, _ in rows]
    siblings = [held for held, task_id in rows if task_id == job.task_id]
    if job.concurrency is not None and len(siblings) >= job.concurrency:
        return "concurrency_limit", {"held_by": siblings}
    if len(running) >= slots:
        return "host_busy", {"held_by": running[:20]}
    return "queued", {"since": iso(job.created_at)}


def lifecycle_of(tx: Tx, actor: Actor, job_id: str) -> str:
    return permissions.to_see(tx, actor, job_id).lifecycle
