"""Pages of jobs: summaries, large fields only on request."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

from belvedere.access.actor import Actor
from belvedere.db import Tx, columns
from belvedere.db.interface import Dialect
from belvedere.jobs import permissions, specs, store
from belvedere.jobs.model import JobRow
from belvedere.jobs.queries import details, index_choice, records, text_search
from belvedere.jobs.queries.records import JobRecord
from belvedere.jobs.search import terms
from belvedere.rest.listing import Field, FieldKind, Listable, Listing
from belvedere.rest.listing_sql import clauses
from belvedere.rest.pagination import ListPage
from belvedere.rest.response_budget import Budget, check_order

DETAIL_FIELDS = frozenset({"task", "task_arguments_values", "output", "attempts"})
LOG = "result.log"
# Characters of `lastline` in a summary: a page may have a thousand of them.
MAX_LAST_LINE = 1_024
BATCH_SIZE = 100
# Not purged with the history; the second condition only while the history of a task or workflow
# is being deleted.
_NOT_PURGED = "(j.ended_at is null or j.ended_at > ? or j.state = 'lost')"
_NOT_HIDDEN = f" and (j.ended_at is null or j.state = 'lost' or not {store.IS_HIDDEN.format('j')})"


class JobSource(msgspec.Struct):
    """The task and the workflow of a job."""

    task: str | None
    workflow: str | None


class OpenJobCount(msgspec.Struct):
    """The number of open jobs of a task or workflow."""

    of: JobSource = msgspec.field(name="_id")
    count: int


Page = ListPage[JobRecord]


def list_page(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[JobRecord], int | None]:
    """Jobs that the actor may see, by default newest first; the total if requested."""
    page = read_page(tx, actor, listing, None, None)
    return page.records, page.total


def read_page(
    tx: Tx,
    actor: Actor,
    listing: Listing,
    count_limit: int | None,
    search_limit: int | None,
    size: int = 0,
) -> Page:
    """The same; counts up to `count_limit` + 1 and reads at most `search_limit` jobs. `size`: bytes
    of records that earlier steps have read."""
    if not terms.of_listing(listing):
        return _read_page(tx, actor, listing, count_limit, search_limit, size)
    step = text_search.next_step(tx, actor, listing, search_limit)
    if not step.ids:
        is_counted = listing.count or count_limit is not None
        return Page([], 0 if is_counted else None, step.until, None)
    matches = text_search.of_ids(listing, step.ids)
    page = _read_page(tx, actor, matches, count_limit, None, size)
    page.until = page.until if page.is_cut else step.until
    return page


def _read_page(
    tx: Tx,
    actor: Actor,
    listing: Listing,
    count_limit: int | None,
    search_limit: int | None,
    size: int,
) -> Page:
    visible, visible_params = permissions.visible_filter(actor, tx.dialect)
    until, hidden = _marks(tx, actor.customer_id)
    plan = index_choice.choose_index(tx, actor.customer_id, listing, search_limit)
    filters = clauses(plan.rest)
    ordered = filters.page.replace(" order by ", f" order by {plan.order}", 1)
    source = f"from jobs j where {plan.text} and {_NOT_PURGED}{hidden} and {visible}{filters.where}"
    params = (*plan.params, until, *visible_params, *filters.params)
    jobs = tx.all(
        JobRow,
        f"select {columns(JobRow, 'j.')} {source}{ordered}",
        *params,
        *filters.page_params,
    )
    total = int(tx.value(f"select count(*) {source}", *params)) if listing.count else None
    if count_limit is not None:
        counted = f"select count(*) from (select 1 as one {source} limit ?) o"
        total = int(tx.value(counted, *params, count_limit + 1))
    if not includes_details(listing):
        summaries = details.add_hostnames(tx, _summaries(tx, actor, jobs))
        return Page(summaries, total, plan.until, jobs[-1].id if jobs else None)
    budget = Budget()
    budget.spent = size
    records = _detailed_records(tx, actor, jobs, listing, budget)
    last = records[-1].id if records else None
    page = Page(records, total, plan.until, last, size=budget.spent)
    if len(records) < len(jobs):
        check_order(listing)
        page.cut(len(records), last or listing.after)
    return page


def _marks(tx: Tx, customer_id: str) -> tuple[int, str]:
    """The time until which all history is purged, and the condition for other deletions, if any."""
    [(until, is_deleting)] = tx.rows(
        "select c.purged_until, exists (select 1 from history_deletions d"
        " where d.customer_id = c.id) from customers c where c.id = ?",
        customer_id,
    )
    return until, _NOT_HIDDEN if is_deleting else ""


def includes_details(listing: Listing) -> bool:
    """Whether the list includes large fields."""
    return bool(listing.include & (DETAIL_FIELDS | {LOG}))


def encoded_size(record: JobRecord) -> int:
    return len(msgspec.json.encode(record))


def _detailed_records(
    tx: Tx, actor: Actor, jobs: Sequence[JobRow], listing: Listing, budget: Budget
) -> list[JobRecord]:
    """As many as fit into a response; one more is read to see that it does not fit."""
    records = list[JobRecord]()
    for job in jobs:
        record = _detailed_record(tx, actor, job, listing.include)
        if not budget.takes(encoded_size(record)):
            break
        records.append(record)
    return records


def count_open(tx: Tx, actor: Actor, listing: Listing) -> list[OpenJobCount]:
    """The number of open jobs of each task and workflow."""
    visible, params = permissions.visible_filter(actor, tx.dialect)
    filters = clauses(listing)
    rows = tx.rows(
        f"select j.task_id, j.workflow_id, count(*) from jobs j where {index_choice.IS_OPEN_JOB}"
        f" and j.expires_at > 0 and j.customer_id || '' = ? and {visible}{filters.where}"
        " group by j.task_id, j.workflow_id order by j.workflow_id, j.task_id",
        *(actor.customer_id, *params, *filters.params),
    )
    return [OpenJobCount(JobSource(task, workflow), count) for task, workflow, count in rows]


def _detailed_record(tx: Tx, actor: Actor, job: JobRow, included: frozenset[str]) -> JobRecord:
    record = details.full_record(tx, job, actor.customer_name)
    records.add_starter_name(record, job, actor)
    for name in DETAIL_FIELDS - included:
        setattr(record, name, msgspec.UNSET)
    if LOG not in included and isinstance(record.result, dict):
        record.result = _short(record.result)
    return record


def _summaries(tx: Tx, actor: Actor, jobs: Sequence[JobRow]) -> list[JobRecord]:
    runas = {
        job_id: spec.script_runas
        for job_id, spec in specs.for_jobs(tx, [job for job in jobs if job.task_id]).items()
    }
    results = _results(tx, [job.id for job in jobs if job.is_over])
    summaries = []
    for job in jobs:
        summary = records.summary(job, actor.customer_name, tx.now, runas.get(job.id, ""))
        summary.result = results.get(job.id, msgspec.UNSET)
        records.add_starter_name(summary, job, actor)
        summaries.append(summary)
    return summaries


def _results(tx: Tx, job_ids: list[str]) -> dict[str, dict[str, Any]]:
    """The result of each job without its log, in batches to limit memory."""
    results = {}
    for start in range(0, len(job_ids), BATCH_SIZE):
        rows = tx.rows(
            f"select id, result from jobs where result is not null and id in {tx.dialect.in_texts}",
            store.json_array(job_ids[start : start + BATCH_SIZE]),
        )
        for job_id, text in rows:
            results[job_id] = _short(store.decode_result(text))
    return results


def _short(result: dict[str, Any]) -> dict[str, Any]:
    short = {name: value for name, value in result.items() if name != "log"}
    if len(short.get("lastline", "")) > MAX_LAST_LINE:
        short["lastline"] = short["lastline"][:MAX_LAST_LINE]
    return short


@cache
def listable(dialect: Dialect) -> Listable:
    """The fields by which lists of jobs can be filtered."""
    # The ACL of a workflow applies to its steps.
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
            **{name: Field(f"j.{column}", FieldKind.TIME) for name, column in times.items()},
            "_type": Field("j.type"),
            # The same as `may_have_run` in model.py.
            "ran": Field(
                "(case when j.lifecycle = 'assigned' and j.ran = 'no' then 'maybe' else j.ran end)"
            ),
            "notify": Field("j.notify", FieldKind.BOOL),
            # The search of older versions; `q` also finds arguments and results.
            "text": Field("(j.name || ' ' || j.id || ' ' || j.username || ' ' || j.email)"),
            "acl": Field(acl),
            "task_arguments_values.N": Field(_nth_argument(dialect)),
        },
        includes=DETAIL_FIELDS | {LOG, "result"},
        newest_first=True,
        most=1_000,
    )


def _nth_argument(dialect: Dialect) -> str:
    """A masked value cannot be guessed by comparing either: it reads *** here, too."""
    masked = dialect.json_text("v.spec", ["task_arguments", "{n}", "masked"])
    return (
        "(case when exists (select 1 from task_versions v where v.task_id = j.task_id"
        f" and v.version = j.task_version and cast({masked} as text) in ('1', 'true'))"
        f" then '***' else {dialect.json_text('j.arguments', ['{n}'])} end)"
    )
