"""Reading jobs: one whole, or a page of light ones."""

from typing import Any

import msgspec

from belvedere.access.model import Actor
from belvedere.base.clock import iso, iso_or_none
from belvedere.db import Tx, columns
from belvedere.jobs import record, sight, specs, store
from belvedere.jobs.model import JobRow
from belvedere.jobs.record import JobRecord
from belvedere.rest.clauses import clauses
from belvedere.rest.filters import Field, Kind, Listable, Listing

HEAVY = frozenset({"task", "task_arguments_values", "output", "result", "attempts"})


def show(tx: Tx, actor: Actor, job_id: str) -> JobRecord:
    """One job with everything but its log, which lives in the log store."""
    job = sight.to_see(tx, actor, job_id)
    return whole(tx, job, actor.customer_name)


def whole(tx: Tx, job: JobRow, customer_name: str) -> JobRecord:
    found = record.light(job, customer_name, tx.now)
    heavy = store.heavy(tx, job.id)
    if job.task_id is not None:
        record.with_task(found, job.task_id, specs.of_job(tx, job), heavy.arguments)
    found.output = None if heavy.output is None else msgspec.json.decode(heavy.output)
    if found.output is not None and job.fence == 0:
        # What a dummy or an approval gives on are its own values; masked ones stay masked.
        found.output = found.task_arguments_values
    if heavy.result is not None:
        found.result = msgspec.json.decode(heavy.result, type=dict[str, Any])
        found.result["log"] = heavy.log or ""
    found.attempts = [record.attempt(row) for row in store.attempts_of(tx, job.id)]
    explain(tx, job, found)
    return found


def explain(tx: Tx, job: JobRow, found: JobRecord) -> None:
    """Say why a ready job waits, and for whom an approval does."""
    if found.waiting_reason == "approval":
        approvers = specs.of_job(tx, job).approvers
        found.waiting_detail = {**(found.waiting_detail or {}), "approvers": approvers}
    if found.waiting_reason != "queued" or job.host_id is None:
        return
    host = tx.row(
        "select connected_at, seen_at, gone_at, enabled, draining, slots, session, hostname"
        " from hosts where id = ?",
        job.host_id,
    )
    if host is not None:
        found.waiting_reason, found.waiting_detail = _held_up(tx, job, host)


def _held_up(tx: Tx, job: JobRow, host: tuple[Any, ...]) -> tuple[str, dict[str, Any] | None]:
    connected, seen, gone, enabled, draining, slots, _, hostname = host
    if not enabled or draining:
        return "host_disabled" if not enabled else "host_draining", {"hostname": hostname}
    if connected is None or gone is not None:
        return "host_offline", {"hostname": hostname, "since": iso_or_none(gone or seen)}
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
    return sight.to_see(tx, actor, job_id).lifecycle


def page(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[JobRecord], int | None]:
    """Jobs that the actor may see, newest first unless asked otherwise; the total if asked."""
    seen, seen_params = sight.visible(actor, tx.sql.engine)
    until = tx.value("select purged_until from customers where id = ?", actor.customer_id)
    asked = clauses(listing)
    of = (
        "from jobs j where j.customer_id = ?"
        " and (j.ended_at is null or j.ended_at > ? or j.state = 'lost')"
        f" and {seen}{asked.where}"
    )
    params = (actor.customer_id, until, *seen_params, *asked.params)
    rows = tx.all(
        JobRow,
        f"select {columns(JobRow, 'j.')} {of}{asked.page}",
        *params,
        *asked.page_params,
    )
    total = int(tx.value(f"select count(*) {of}", *params)) if listing.count else None
    heavy = listing.include & HEAVY
    return [_shown(tx, actor, job, heavy) for job in rows], total


def _shown(tx: Tx, actor: Actor, job: JobRow, heavy: frozenset[str]) -> JobRecord:
    if not heavy:
        return record.light(job, actor.customer_name, tx.now)
    found = whole(tx, job, actor.customer_name)
    for name in HEAVY - heavy:
        setattr(found, name, msgspec.UNSET)
    return found


def listable(engine: str) -> Listable:
    """What the list of jobs can be asked for."""
    nth = _NTH[engine]
    acl = (
        "exists (select 1 from acl a where a.object = 'task' and a.object_id = j.task_id"
        " and a.entry {test})"
    )
    texts = (
        *("id", "task_id", "name", "lifecycle", "state", "host_id", "workflow_id"),
        *("workflow_job_id", "user_id", "origin", "trigger_name", "script_id", "ran"),
        *("reason", "restarted_from"),
    )
    times = {
        "creation_date": "created_at",
        "last_update": "updated_at",
        "started_at": "started_at",
        "ended_at": "ended_at",
    }
    return Listable(
        fields={
            **{name: Field(f"j.{name}") for name in texts},
            **{name: Field(f"j.{column}", Kind.TIME) for name, column in times.items()},
            "_type": Field("j.type"),
            "notify": Field("j.notify", Kind.BOOL),
            "acl": Field(acl),
            "task_arguments_values.N": Field(nth),
        },
        includes=HEAVY | frozenset({"result.log"}),
        newest_first=True,
        most=1_000,
    )


# A masked value cannot be guessed by comparing either: it reads *** there, too.
_NTH = {
    "sqlite": "(case when exists (select 1 from task_versions v where v.task_id = j.task_id"
    " and v.version = j.task_version and v.spec ->> '$.task_arguments[{n}].masked' = 1)"
    " then '***' else j.arguments ->> {n} end)",
    "postgres": "(case when exists (select 1 from task_versions v where v.task_id = j.task_id"
    " and v.version = j.task_version"
    " and v.spec::json #>> '{task_arguments,{n},masked}' = 'true')"
    " then '***' else j.arguments::json ->> {n} end)",
}
