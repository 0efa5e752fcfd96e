"""A page of jobs: light records, heavy fields only where they are asked for."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.db import Tx, columns
from belvedere.db.interface import Dialect
from belvedere.jobs import permissions, specs, store
from belvedere.jobs.model import JobRow
from belvedere.jobs.queries import details, index_choice
from belvedere.jobs.queries import records as record
from belvedere.jobs.queries.records import JobRecord
from belvedere.rest.listing import Field, Kind, Listable, Listing
from belvedere.rest.listing_sql import clauses
from belvedere.rest.response_budget import Budget, check_order

HEAVY = frozenset({"task", "task_arguments_values", "output", "attempts"})
LOG = "result.log"
# A last line may be long, and a page has a thousand of them.
LONGEST_LINE = 1_024
AT_ONCE = 100
# Not deleted with the history.
_THERE = "(j.ended_at is null or j.ended_at > ? or j.state = 'lost')"


class Runs(msgspec.Struct):
    """What a job is of."""

    task: str | None
    workflow: str | None


class Running(msgspec.Struct):
    """How many jobs of a task or workflow are not over."""

    of: Runs = msgspec.field(name="_id")
    count: int


class Page(msgspec.Struct):
    """`total`: if asked. `until`: looked no further than to this id. `is_cut`: the page ends before
    its limit because more would be too many bytes. `size`: bytes of records that were counted."""

    records: list[JobRecord]
    total: int | None
    until: str | None
    is_cut: bool = False
    size: int = 0

    def cut(self, count: int, start: str | None = None) -> None:
        """Only so many records; the next page continues behind them, or where this one started."""
        del self.records[count:]
        self.until, self.is_cut = self.records[-1].id if self.records else start, True

    def append(self, step: "Page") -> None:
        """The records of the next step of the same list."""
        self.records += step.records
        self.total = None if self.total is None else self.total + (step.total or 0)
        self.until, self.is_cut, self.size = step.until, step.is_cut, step.size

    def is_unfinished(self, listing: Listing, most: int | None) -> bool:
        """Whether there are more jobs to examine, for the page or for the total."""
        if self.until is None or self.is_cut:
            return False
        is_counting = self.total is not None and (most is None or self.total <= most)
        return is_counting or len(self.records) < (listing.limit or 0)


def page(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[JobRecord], int | None]:
    """Jobs that the actor may see, newest first unless asked otherwise; the total if asked."""
    found = looked(tx, actor, listing, None, None)
    return found.records, found.total


def looked(
    tx: Tx, actor: Actor, listing: Listing, most: int | None, look: int | None, size: int = 0
) -> Page:
    """The same, counted no further than to one more than `most`, among no more than `look` jobs.
    `size`: bytes of records that earlier steps have read."""
    seen, seen_params = permissions.visible(actor, tx.dialect)
    until = tx.value("select purged_until from customers where id = ?", actor.customer_id)
    way = index_choice.way(tx, actor.customer_id, listing, look)
    asked = clauses(way.rest)
    ordered = asked.page.replace(" order by ", f" order by {way.order}", 1)
    of = f"from jobs j where {way.text} and {_THERE} and {seen}{asked.where}"
    params = (*way.params, until, *seen_params, *asked.params)
    jobs = tx.all(
        JobRow,
        f"select {columns(JobRow, 'j.')} {of}{ordered}",
        *params,
        *asked.page_params,
    )
    total = int(tx.value(f"select count(*) {of}", *params)) if listing.count else None
    if most is not None:
        counted = f"select count(*) from (select 1 as one {of} limit ?) o"
        total = int(tx.value(counted, *params, most + 1))
    if not is_heavy(listing):
        return Page(details.named(tx, _light(tx, actor, jobs)), total, way.until)
    budget = Budget()
    budget.spent = size
    found = Page(_heavy_records(tx, actor, jobs, listing, budget), total, way.until)
    found.size = budget.spent
    if len(found.records) < len(jobs):
        check_order(listing)
        found.cut(len(found.records), listing.after)
    return found


def is_heavy(listing: Listing) -> bool:
    """Whether it includes what may be large."""
    return bool(listing.include & (HEAVY | {LOG}))


def size_of(found: JobRecord) -> int:
    return len(msgspec.json.encode(found))


def _heavy_records(
    tx: Tx, actor: Actor, jobs: Sequence[JobRow], listing: Listing, budget: Budget
) -> list[JobRecord]:
    """As many as an answer may have bytes; the next one is read to see that it does not fit."""
    records = list[JobRecord]()
    for job in jobs:
        found = _heavy(tx, actor, job, listing.include)
        if not budget.takes(size_of(found)):
            break
        records.append(found)
    return records


def running(tx: Tx, actor: Actor, listing: Listing) -> list[Running]:
    """How many of the open jobs there are of each."""
    seen, params = permissions.visible(actor, tx.dialect)
    asked = clauses(listing)
    rows = tx.rows(
        f"select j.task_id, j.workflow_id, count(*) from jobs j where {index_choice.OPEN_ONES}"
        f" and j.expires_at > 0 and j.customer_id || '' = ? and {seen}{asked.where}"
        " group by j.task_id, j.workflow_id order by j.workflow_id, j.task_id",
        *(actor.customer_id, *params, *asked.params),
    )
    return [Running(Runs(task, workflow), count) for task, workflow, count in rows]


def _heavy(tx: Tx, actor: Actor, job: JobRow, heavy: frozenset[str]) -> JobRecord:
    found = details.whole(tx, job, actor.customer_name)
    for name in HEAVY - heavy:
        setattr(found, name, msgspec.UNSET)
    if LOG not in heavy and isinstance(found.result, dict):
        found.result = _short(found.result)
    return found


def _light(tx: Tx, actor: Actor, jobs: Sequence[JobRow]) -> list[JobRecord]:
    runas = {
        job_id: spec.script_runas
        for job_id, spec in specs.of_jobs(tx, [job for job in jobs if job.task_id]).items()
    }
    results = _results(tx, [job.id for job in jobs if job.is_over])
    found = []
    for job in jobs:
        one = record.light(job, actor.customer_name, tx.now, runas.get(job.id, ""))
        one.result = results.get(job.id, msgspec.UNSET)
        found.append(one)
    return found


def _results(tx: Tx, job_ids: list[str]) -> dict[str, dict[str, Any]]:
    """How each ended, without its log; a few at a time, so that memory stays small."""
    found = {}
    for start in range(0, len(job_ids), AT_ONCE):
        rows = tx.rows(
            f"select id, result from jobs where result is not null and id in {tx.dialect.in_texts}",
            store.json_list(job_ids[start : start + AT_ONCE]),
        )
        for job_id, text in rows:
            found[job_id] = _short(store.decode_result(text))
    return found


def _short(result: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in result.items() if name != "log"}
    if len(kept.get("lastline", "")) > LONGEST_LINE:
        kept["lastline"] = kept["lastline"][:LONGEST_LINE]
    return kept


@cache
def listable(dialect: Dialect) -> Listable:
    """What the list of jobs can be asked for."""
    # That of what ran: the workflow's covers its steps.
    acl = (
        "exists (select 1 from acl a where a.customer_id = j.customer_id"
        " and a.object = case when j.workflow_id is null then 'task' else 'workflow' end"
        " and a.object_id = coalesce(j.workflow_id, j.task_id) and a.entry {test})"
    )
    texts = (
        *("id", "task_id", "name", "lifecycle", "state", "host_id", "workflow_id"),
        *("workflow_job_id", "user_id", "origin", "trigger_name", "script_id"),
        *("reason", "restarted_from", "username", "email"),
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
            # As model.py's `may_have_run` says it.
            "ran": Field(
                "(case when j.lifecycle = 'assigned' and j.ran = 'no' then 'maybe' else j.ran end)"
            ),
            "notify": Field("j.notify", Kind.BOOL),
            # What a person types to find one.
            "text": Field("(j.name || ' ' || j.id || ' ' || j.username || ' ' || j.email)"),
            "acl": Field(acl),
            "task_arguments_values.N": Field(_nth_argument(dialect)),
        },
        includes=HEAVY | {LOG, "result"},
        newest_first=True,
        most=1_000,
    )


def _nth_argument(dialect: Dialect) -> str:
    """A masked value cannot be guessed by comparing either: it reads *** here, too."""
    masked = dialect.json_is_true("v.spec", ("task_arguments", "{n}", "masked"))
    return (
        "(case when exists (select 1 from task_versions v where v.task_id = j.task_id"
        f" and v.version = j.task_version and {masked})"
        f" then '***' else {dialect.json_item('j.arguments', '{n}')} end)"
    )
