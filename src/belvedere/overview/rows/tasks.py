"""Tasks and workflows as rows of a page: what they are, and how their last jobs went."""

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.base.clock import iso
from belvedere.db import Tx
from belvedere.db.interface import Dialect
from belvedere.overview.rows import lines
from belvedere.overview.rows import recent_jobs as runs
from belvedere.overview.rows.recent_jobs import LineJob, Runs
from belvedere.overview.rows.rights import runnable
from belvedere.rest.listing import Listable, Listing
from belvedere.tasks import store
from belvedere.tasks.model import decode
from belvedere.tasks.store import TaskView
from belvedere.workflow_specs import store as flows
from belvedere.workflow_specs.model import WorkflowRow
from belvedere.workflow_specs.model import decode as decode_flow


class TaskLine(msgspec.Struct):
    """A task as a row shows it, with its last jobs (20 at most, newest first).

    `beats` are the same, oldest first: `n` good, `f` failed, `x` cancelled or expired, `l` lost,
    `r` not over.
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
    # A run dialog must ask for something.
    has_arguments: bool
    may_run: bool
    runs: list[LineJob]
    last_job: LineJob | None
    beats: str
    version: int
    last_update: str


class WorkflowLine(msgspec.Struct):
    """A workflow as a row shows it; `runs` and `beats` as of a task."""

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


def task_list(dialect: Dialect) -> Listable:
    tags = f"coalesce({dialect.json_text('t.spec', 'tags')}, '[]')"
    return lines.listable(store.TASKS, {"tags": lines.tag_filter(dialect, tags)})


def workflow_list(dialect: Dialect) -> Listable:
    return lines.listable(flows.WORKFLOWS, {"tags": lines.tag_filter(dialect, "w.tags")})


def tasks(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[TaskLine], int | None]:
    require(actor, Level.VIEWER)
    total = store.count(tx, actor, listing) if listing.count else None
    views = store.page(tx, actor, listing)
    ids = [view.id for view in views]
    past, may = runs.of_tasks(tx, actor, ids), runnable(tx, actor, "task", ids)
    return [_task(view, past[view.id], may_run=view.id in may) for view in views], total


def workflows(tx: Tx, actor: Actor, listing: Listing) -> tuple[list[WorkflowLine], int | None]:
    require(actor, Level.VIEWER)
    total = flows.count(tx, actor, listing) if listing.count else None
    rows = flows.select_page(tx, actor, listing)
    ids = [row.id for row in rows]
    past, may = runs.of_workflows(tx, actor, ids), runnable(tx, actor, "workflow", ids)
    return [_workflow(row, past[row.id], may_run=row.id in may) for row in rows], total


def _task(view: TaskView, past: Runs, *, may_run: bool) -> TaskLine:
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
        has_arguments=any(one.type != "fixed" for one in spec.task_arguments),
        may_run=may_run,
        runs=past.jobs,
        last_job=past.jobs[0] if past.jobs else None,
        beats=past.beats,
        version=view.version,
        last_update=iso(view.updated_at),
    )


def _workflow(row: WorkflowRow, past: Runs, *, may_run: bool) -> WorkflowLine:
    spec = decode_flow(row.spec)
    return WorkflowLine(
        id=row.id,
        name=row.name,
        description=spec.short_description or spec.description,
        enable=bool(row.enabled),
        tags=spec.tags,
        steps=len(spec.graph.nodes),
        may_run=may_run,
        runs=past.jobs,
        last_job=past.jobs[0] if past.jobs else None,
        beats=past.beats,
        version=row.version,
        last_update=iso(row.updated_at),
    )
