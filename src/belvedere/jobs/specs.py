"""The task definition that a job runs: the version it was made from, not today's."""

from collections.abc import Sequence

import msgspec

from belvedere.base.clock import Millis
from belvedere.db import Tx
from belvedere.jobs import store
from belvedere.jobs.model import JobRow
from belvedere.tasks.model import TaskSpec

_decode = msgspec.json.Decoder(TaskSpec).decode
# TERM, this long, KILL.
KILL_GRACE: Millis = 5_000


def of_jobs(tx: Tx, jobs: Sequence[JobRow]) -> dict[str, TaskSpec]:
    """Definitions by job id; each distinct version is read once."""
    wanted = {(job.task_id, job.task_version) for job in jobs}
    rows = tx.rows(
        f"select task_id, version, spec from task_versions where task_id in {tx.sql.texts}"
        f" and version in {tx.sql.numbers}",
        store.json_list(sorted({task_id for task_id, _ in wanted if task_id})),
        store.json_list(sorted({version for _, version in wanted if version})),
    )
    read = {
        (task_id, version): _decode(spec)
        for task_id, version, spec in rows
        if (task_id, version) in wanted
    }
    return {job.id: read[job.task_id, job.task_version] for job in jobs}


def of_job(tx: Tx, job: JobRow) -> TaskSpec:
    return of_jobs(tx, [job])[job.id]


def grace_ms(spec: TaskSpec) -> Millis:
    return KILL_GRACE


def expires_ms(spec: TaskSpec) -> Millis:
    """How long a job of this task may wait in the queue."""
    return spec.expires
