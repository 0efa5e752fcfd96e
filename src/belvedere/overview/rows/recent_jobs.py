"""The last jobs of tasks and workflows, with their results."""

from collections.abc import Collection

import msgspec

from belvedere.access import Actor
from belvedere.base.clock import Millis, iso, iso_or_none
from belvedere.db import Tx
from belvedere.jobs.model import WORKFLOW
from belvedere.overview.rows.queries import Series, latest_rows

MAX_JOBS = 20
OPEN, LOST, STOPPED, FAILED, GOOD = "r", "l", "x", "f", "n"
_LETTERS = {
    "normal": GOOD,
    "success": GOOD,
    "failure": FAILED,
    "error": FAILED,
    "timeout": FAILED,
    "canceled": STOPPED,
    "lost": LOST,
    "in_progress": OPEN,
}
_COLUMNS = "x.id, x.lifecycle, x.state, x.created_at, x.started_at, x.ended_at, x.workflow_id"
_OF_TASK = Series("jobs", "task_id", "id", _COLUMNS)
_OF_WORKFLOW = Series("jobs", "workflow_id", "id", _COLUMNS, f" and y.type = '{WORKFLOW}'")


class LineJob(msgspec.Struct):
    """Summary of a job; `duration` in milliseconds, once the job has ended."""

    id: str
    lifecycle: str
    state: str
    created: str
    ended: str | None
    duration: Millis | None


class RecentRuns(msgspec.Struct):
    """`jobs`: newest first. `beats`: oldest first, `n` good, `f` failed, `x` canceled or
    expired, `l` lost, `r` open."""

    jobs: list[LineJob]
    beats: str


def for_tasks(tx: Tx, actor: Actor, ids: Collection[str]) -> dict[str, RecentRuns]:
    """Steps of workflows only for members that see everything: their ACL is the workflow's."""
    return _runs(tx, actor, _OF_TASK, ids, with_steps=actor.sees_all)


def for_workflows(tx: Tx, actor: Actor, ids: Collection[str]) -> dict[str, RecentRuns]:
    return _runs(tx, actor, _OF_WORKFLOW, ids, with_steps=True)


def _runs(
    tx: Tx, actor: Actor, series: Series, ids: Collection[str], *, with_steps: bool
) -> dict[str, RecentRuns]:
    purged = tx.value("select purged_until from customers where id = ?", actor.customer_id)
    marks: dict[str | None, Millis] = dict(
        tx.rows(
            "select object_id, until_at from history_deletions where customer_id = ?",
            actor.customer_id,
        )
    )
    runs = {}
    for id_, rows in latest_rows(tx, series, ids, MAX_JOBS).items():
        jobs = [
            LineJob(
                job_id,
                lifecycle,
                state,
                iso(created),
                iso_or_none(ended),
                _duration(started, ended),
            )
            for job_id, lifecycle, state, created, started, ended, workflow_id in rows
            if (
                (ended is None or state == "lost")
                or ended > max(purged, marks.get(id_, 0), marks.get(workflow_id, 0))
            )
            and (with_steps or workflow_id is None)
        ]
        runs[id_] = RecentRuns(jobs, "".join(_LETTERS[job.state] for job in reversed(jobs)))
    return runs


def _duration(started: Millis | None, ended: Millis | None) -> Millis | None:
    return None if started is None or ended is None else ended - started
