"""The task definition that a job runs: the version it was created from, not the current one."""

from collections.abc import Sequence

import msgspec

from belvedere.access.crypto import sealed_values
from belvedere.base.clock import Millis
from belvedere.db import Tx
from belvedere.files.usage import JobScript
from belvedere.jobs.model import JobRow
from belvedere.tasks.model import TaskSpec, Type
from belvedere.tasks.store import clear_spec

MAX_CACHED = 5_000
# TERM, this long, KILL.
KILL_GRACE: Millis = 5_000
# Jobs at the front of a host's queue whose scripts its agent may download.
MAX_READY_JOBS = 256


def for_jobs(tx: Tx, jobs: Sequence[JobRow]) -> dict[str, TaskSpec]:
    """Definitions by job id. A version never changes, so each is read and decoded once."""
    return {job.id: _spec(tx, (job.task_id, job.task_version)) for job in jobs}


def _spec(tx: Tx, key: tuple[str | None, int | None]) -> TaskSpec:
    # One look-up: threads share the cache, and any of them may clear it at any moment.
    cached: TaskSpec | None = tx.version_cache.get(("spec", key))
    if cached is not None:
        return cached
    if key[0] is None:
        # A command of an admin has no task, hence the defaults of a definition.
        return TaskSpec(name="", type=Type.SCRIPT)
    text = tx.value("select spec from task_versions where task_id = ? and version = ?", *key)
    spec = clear_spec(tx, key[0], text)
    if len(tx.version_cache) > MAX_CACHED:
        tx.version_cache.clear()
    tx.version_cache["spec", key] = spec
    return spec


def for_job(tx: Tx, job: JobRow) -> TaskSpec:
    return _spec(tx, (job.task_id, job.task_version))


def for_version(tx: Tx, task_id: str | None, version: int | None) -> TaskSpec:
    return _spec(tx, (task_id, version))


class _Constants(msgspec.Struct):
    global_constants: dict[str, str] = {}


_constants = msgspec.json.Decoder(_Constants).decode


def constants_of(tx: Tx, jobs: Sequence[JobRow]) -> dict[str, dict[str, str]]:
    """The constants of the workflows of these jobs, at the version that each workflow job runs."""
    steps = [job for job in jobs if job.workflow_job_id is not None]
    if not steps:
        return {}
    rows = tx.rows(
        "select j.job_id, j.workflow_id, v.spec from workflow_jobs j join workflow_versions v"
        " on v.workflow_id = j.workflow_id and v.version = j.version"
        f" where j.job_id in {tx.dialect.in_texts}",
        msgspec.json.encode(sorted({job.workflow_job_id for job in steps})).decode(),
    )
    constants = {
        job_id: _constants(
            sealed_values.open_object(tx, f"workflow/{workflow_id}", spec)
        ).global_constants
        for job_id, workflow_id, spec in rows
    }
    return {job.id: constants.get(job.workflow_job_id, {}) for job in steps}


def grace_ms(spec: TaskSpec) -> Millis:
    return KILL_GRACE


def expires_ms(spec: TaskSpec) -> Millis:
    """How long a job of this task may wait in the queue."""
    return spec.expires


def needs_file(tx: Tx, host_id: str, file_id: str) -> bool:
    """Whether a task of this host, or a job that runs there or runs next, runs this script."""
    is_used = tx.value(
        "select 1 where exists (select 1 from tasks where host_id = ? and script_id = ?"
        " and deleted_at is null) or exists (select 1 from jobs"
        " where host_id = ? and lifecycle = 'assigned' and script_id = ?)"
        # The index has the oldest of a queue first; `order by id` would read the history.
        " or exists (select 1 from (select script_id from jobs where host_id = ?"
        f" and lifecycle = 'ready' limit {MAX_READY_JOBS}) q where script_id = ?)",
        *(host_id, file_id) * 3,
    )
    return is_used is not None


def script_of_job(tx: Tx, host_id: str, job_id: str) -> JobScript | None:
    """The script of a job that runs on this host now, in the version that the job was created
    with."""
    row = tx.row(
        "select script_filename, script_sha256 from jobs where id = ? and host_id = ?"
        " and lifecycle = 'assigned' and script_sha256 is not null",
        job_id,
        host_id,
    )
    return None if row is None else JobScript(row[0] or "script", row[1])
