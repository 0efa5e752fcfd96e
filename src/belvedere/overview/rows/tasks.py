"""Tasks and workflows as rows of a page, with the results of their last jobs."""

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.base.clock import iso
from belvedere.db import Tx
from belvedere.db.interface import Dialect
from belvedere.overview.rows import queries, recent_jobs
from belvedere.overview.rows.recent_jobs import LineJob, RecentRuns
from belvedere.rest.listing import Field, Listable, Listing
from belvedere.tasks import store
from belvedere.tasks.model import decode
from belvedere.tasks.store import TaskView
from belvedere.workflow_specs import store as workflow_rows
from belvedere.workflow_specs.model import WorkflowRow
from belvedere.workflow_specs.model import decode as decode_workflow


class TaskLine(msgspec.Struct):
    """A task as a row of the list page, with its last jobs (at most 20, newest first).

    `beats`: results of the same jobs, oldest first: `n` good, `f` failed, `x` canceled or
    expired, `l` lost, `r` open.
    """

    id: str
    name: str
    type: str
    description: str
    host_id: str | None
    hostname: str
    script_id: str | None
    script_name: str
    enable: bool
    tags: list[str]
    # The run dialog has at least one field.
    has_arguments: bool
    may_run: bool
    runs: list[LineJob]
    last_job: LineJob | None
    beats: str
    version: int
    last_update: str


class WorkflowLine(msgspec.Struct):
    """A workflow as a row of the list page; `runs` and `beats` as in TaskLine."""

    id: str
    name: str
    description: str
    enable: bool
    tags: list[str]
    steps: int
    may_run: bool
    runs: list[LineJob]
    last_job: LineJob | None
    beats: str
    version: int
    last_update: str


def listable_tasks(dialect: Dialect) -> Listable:
    tags = f"coalesce({dialect.json_text('t.spec', ['tags'])}, '[]')"
    return queries.listable(
        store.TASKS, {"tags": queries.tag_field(dialect, tags), "title": Field("lower(t.name)")}
    )


def listable_workflows(dialect: Dialect) -> Listable:
    return queries.listable(
        workflow_rows.WORKFLOWS,
        {"tags": queries.tag_field(dialect, "w.tags"), "title": Field("lower(w.name)")},
    )


def list_tasks(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[TaskLine], int | None]:
    require(actor, Level.VIEWER)
    total = store.count(tx, actor, listing) if listing.count else None
    views = store.select_page(tx, actor, listing)
    ids = [view.id for view in views]
    runs = recent_jobs.for_tasks(tx, actor, ids)
    runnable = queries.runnable_ids(tx, actor, "task", ids)
    return [_task(view, runs[view.id], may_run=view.id in runnable) for view in views], total


def list_workflows(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[WorkflowLine], int | None]:
    require(actor, Level.VIEWER)
    total = workflow_rows.count(tx, actor, listing) if listing.count else None
    rows = workflow_rows.select_page(tx, actor, listing)
    ids = [row.id for row in rows]
    runs = recent_jobs.for_workflows(tx, actor, ids)
    runnable = queries.runnable_ids(tx, actor, "workflow", ids)
    return [_workflow(row, runs[row.id], may_run=row.id in runnable) for row in rows], total


def _task(view: TaskView, runs: RecentRuns, *, may_run: bool) -> TaskLine:
    spec = decode(view.spec)
    return TaskLine(
        id=view.id,
        name=view.name,
        type=view.type,
        description=spec.short_description or spec.description,
        host_id=view.host_id,
        hostname=view.hostname or "",
        script_id=view.script_id,
        script_name=view.script_name or "",
        enable=bool(view.enabled),
        tags=spec.tags,
        has_arguments=any(argument.type != "fixed" for argument in spec.task_arguments),
        may_run=may_run,
        runs=runs.jobs,
        last_job=runs.jobs[0] if runs.jobs else None,
        beats=runs.beats,
        version=view.version,
        last_update=iso(view.updated_at),
    )


def _workflow(row: WorkflowRow, runs: RecentRuns, *, may_run: bool) -> WorkflowLine:
    spec = decode_workflow(row.spec)
    return WorkflowLine(
        id=row.id,
        name=row.name,
        description=spec.short_description or spec.description,
        enable=bool(row.enabled),
        tags=spec.tags,
        steps=len(spec.graph.nodes),
        may_run=may_run,
        runs=runs.jobs,
        last_job=runs.jobs[0] if runs.jobs else None,
        beats=runs.beats,
        version=row.version,
        last_update=iso(row.updated_at),
    )
