"""Every change of a job, as the event log tells it: fold the events and you have the job."""

from collections.abc import Sequence
from typing import Any

from belvedere import events
from belvedere.db import Tx
from belvedere.db.signals import job_finished
from belvedere.jobs.model import FINAL, WORKFLOW, JobRow
from belvedere.triggers import store
from belvedere.triggers.store import ActiveTriggers


def data_of(job: JobRow) -> dict[str, Any]:
    """What readers of the stream need to patch their picture, and who may see it."""
    return {
        "lifecycle": job.lifecycle,
        "state": job.state,
        "version": job.version,
        "fence": job.fence,
        "name": job.name,
        "type": job.type,
        "task_id": job.task_id,
        "workflow_id": job.workflow_id,
        "workflow_job_id": job.workflow_job_id,
        "host_id": job.host_id,
        "user_id": job.user_id,
        "trigger_name": job.trigger_name,
    }


def note(tx: Tx, what: str, jobs: Sequence[JobRow]) -> None:
    """Append `job.<what>` for each, and no more: nothing follows from it."""
    events.append_each(tx, _told(what, jobs))


def _told(what: str, jobs: Sequence[JobRow]) -> list[tuple[str, str, str, dict[str, Any]]]:
    kind = f"job.{what}"
    return [(kind, job.customer_id, job.id, data_of(job)) for job in jobs]


def tell(tx: Tx, what: str, jobs: Sequence[JobRow], known: ActiveTriggers | None = None) -> None:
    """The same; wake whoever waits for the end of one, start what it starts. `known`: what ends of
    their tasks start, where that was read already."""
    note(tx, what, jobs)
    _follow(tx, what, jobs, known)


def tell_born(tx: Tx, jobs: Sequence[JobRow], assigned: Sequence[JobRow]) -> None:
    """New jobs, and those of them that an agent took up at once, in one write."""
    events.append_each(tx, [*_told("created", jobs), *_told("assigned", assigned)])
    _follow(tx, "created", jobs)
    _follow(tx, "assigned", assigned)


def _follow(tx: Tx, what: str, jobs: Sequence[JobRow], known: ActiveTriggers | None = None) -> None:
    over = [job for job in jobs if job.lifecycle in FINAL]
    if over:
        tx.signals.update([job_finished(job.id) for job in over])
        # Mostly it is known, and nothing.
        if known is None or known:
            _fire(tx, "task", [(job.task_id, job) for job in over], known)
    steps = [job for job in jobs if job.workflow_id is not None]
    if steps:
        wholes = [(job.workflow_id, job) for job in steps if job.type == WORKFLOW and job.is_over]
        _fire(tx, "workflow", wholes)
        _tell_wholes(tx, what, steps)


def _tell_wholes(tx: Tx, what: str, steps: Sequence[JobRow]) -> None:
    events.append_all(
        tx,
        "workflow.step",
        [
            (job.customer_id, job.workflow_id, {"workflow_job_id": whole, "job_id": job.id})
            for job in steps
            if job.workflow_id is not None
            for whole in _wholes(what, job)
        ],
    )


def _fire(
    tx: Tx,
    source: str,
    over: Sequence[tuple[str | None, JobRow]],
    known: ActiveTriggers | None = None,
) -> None:
    happened = [
        (job.customer_id, source_id, job.trigger_name, {"job_id": job.id})
        for source_id, job in over
        if source_id is not None and job.trigger_name is not None
    ]
    store.fire(tx, source, happened, known)


def _wholes(what: str, job: JobRow) -> list[str]:
    """The workflow jobs that go on from this: the one that it is a step of, at its first and last
    moves, and a workflow job itself at its own cancel."""
    is_whole = job.type == WORKFLOW
    found = [job.id] if is_whole and what == "cancel_requested" else []
    first = "started" if is_whole else "assigned"
    if job.workflow_job_id is not None and (job.is_over or what == first):
        found.append(job.workflow_job_id)
    return found
