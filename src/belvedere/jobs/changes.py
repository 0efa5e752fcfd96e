"""Every change of a job, as the event log tells it: fold the events and you have the job."""

from collections.abc import Sequence
from typing import Any

from belvedere import events
from belvedere.db import Tx
from belvedere.events import triggers
from belvedere.jobs.model import JobRow


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


def tell(tx: Tx, what: str, jobs: Sequence[JobRow]) -> None:
    """Append `job.<what>` for each; wake whoever waits for the end of one, start what it starts."""
    events.append_all(tx, f"job.{what}", [(job.customer_id, job.id, data_of(job)) for job in jobs])
    over = [job for job in jobs if job.is_over]
    tx.rung.update(f"job:{job.id}" for job in over)
    triggers.fire(
        tx,
        "task",
        [
            (job.customer_id, job.task_id, job.trigger_name, {"job_id": job.id})
            for job in over
            if job.task_id is not None and job.trigger_name is not None
        ],
    )
