"""One job of a workflow at a time, where it does not allow several."""

from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.jobs import events
from belvedere.jobs import store as jobs
from belvedere.jobs.lifecycle.timeouts import end_waiting
from belvedere.jobs.model import JobRow, Lifecycle, State, check_move
from belvedere.workflow_specs import store
from belvedere.workflow_specs.model import WorkflowRow
from belvedere.workflows.engine import step_jobs, step_store
from belvedere.workflows.engine.requests import Wanted


def next_ones(tx: Tx, row: WorkflowRow) -> None:
    """Let those begin that waited, oldest first, as many as may; the workflow's row is held."""
    for job_id in step_store.waiting(tx, row.id):
        if not row.multitasking and step_store.begun(tx, row.id):
            return
        job = step_store.lock(tx, job_id)
        if job is not None and job.lifecycle == Lifecycle.ONHOLD:
            _begin(tx, job)


def one_ended(tx: Tx, customer_id: str, workflow_id: str) -> None:
    """The turn of the next; nothing to hold where nobody waits."""
    if not step_store.waiting(tx, workflow_id):
        return
    row = store.look_up(tx, customer_id, workflow_id, hold=True)
    if row is not None:
        next_ones(tx, row)


def _begin(tx: Tx, job: JobRow) -> None:
    check_move(job, "admit", Lifecycle.READY, State.IN_PROGRESS)
    jobs.step(job, Lifecycle.READY, State.IN_PROGRESS, tx.now)
    jobs.save(tx, [job])
    events.tell(tx, "ready", [job])
    mine = step_store.workflow_job(tx, job.id)
    node = store.version_of(tx, mine.workflow_id, mine.version).graph.node(mine.start)
    given = json_text.parse(mine.given or "[]")
    wanted = Wanted(job, node, given, job.origin, bool(mine.by_index))
    step_jobs.write(tx, [step_jobs.prepare_anyhow(tx, wanted, {})])


def abandon(tx: Tx, row: WorkflowRow) -> None:
    """The workflow is deleted: what waits for its turn ends at once."""
    held = [step_store.lock(tx, job_id) for job_id in step_store.waiting(tx, row.id)]
    waiting = [job for job in held if job is not None and job.lifecycle == Lifecycle.ONHOLD]
    for job in waiting:
        end_waiting(job, "workflow_deleted", tx.now)
    jobs.save(tx, waiting)
    events.tell(tx, "expired", waiting)
