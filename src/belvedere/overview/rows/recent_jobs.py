"""The last jobs of tasks and workflows, for rows that show how it went."""

from collections.abc import Collection

import msgspec

from belvedere.access import Actor
from belvedere.base.clock import Millis, iso, iso_or_none
from belvedere.db import Tx
from belvedere.jobs.model import WORKFLOW
from belvedere.overview.rows.lines import Series, newest

MOST = 20
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
    """As much of a job as a row shows; `duration` in milliseconds, once it is over."""

    id: str
    lifecycle: str
    state: str
    created: str
    ended: str | None
    duration: Millis | None


class Runs(msgspec.Struct):
    """The newest first; `beats` the other way round: `n` good, `f` failed, `x` cancelled or
    expired, `l` lost, `r` not over."""

    jobs: list[LineJob]
    beats: str


def of_tasks(tx: Tx, actor: Actor, ids: Collection[str]) -> dict[str, Runs]:
    """Steps of workflows only for who sees all: they carry another ACL."""
    return _runs(tx, actor, _OF_TASK, ids, with_steps=actor.sees_all)


def of_workflows(tx: Tx, actor: Actor, ids: Collection[str]) -> dict[str, Runs]:
    return _runs(tx, actor, _OF_WORKFLOW, ids, with_steps=True)


def _runs(
    tx: Tx, actor: Actor, of: Series, ids: Collection[str], *, with_steps: bool
) -> dict[str, Runs]:
    purged = tx.value("select purged_until from customers where id = ?", actor.customer_id)
    found = {}
    for id_, rows in newest(tx, of, ids, MOST).items():
        jobs = [
            LineJob(job_id, lifecycle, state, iso(made), iso_or_none(ended), _took(started, ended))
            for job_id, lifecycle, state, made, started, ended, workflow_id in rows
            if (ended is None or ended > purged or state == "lost")
            and (with_steps or workflow_id is None)
        ]
        found[id_] = Runs(jobs, "".join(_LETTERS[job.state] for job in reversed(jobs)))
    return found


def _took(started: Millis | None, ended: Millis | None) -> Millis | None:
    return None if started is None or ended is None else ended - started
