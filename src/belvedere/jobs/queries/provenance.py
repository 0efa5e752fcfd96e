"""Which script a job ran, beside the one with which its task last went well."""

import msgspec

from belvedere.access import Actor, Level
from belvedere.base.clock import iso_or_none
from belvedere.db import Tx, columns
from belvedere.files.store import content_of
from belvedere.jobs import permissions, store
from belvedere.jobs.model import JobRow

# So many jobs are looked through for a good one.
LOOKED_AT = 2_000
LONGEST = 256 * 1024


class Ran(msgspec.Struct):
    """The script of one job. `source` only for managers and above, and only of a text up to
    256 KiB."""

    job_id: str
    script_id: str | None
    filename: str | None
    sha256: str | None
    # Of the file; null when that version is not kept any more.
    version: int | None
    task_version: int | None
    ended_at: str | None
    source: str | None


class Provenance(msgspec.Struct):
    """`last_good`: the last job of the task before this one that ended well. `same`: both ran the
    same bytes."""

    job: Ran
    last_good: Ran | None
    same: bool


def provenance(tx: Tx, actor: Actor, job_id: str) -> Provenance:
    job = permissions.to_see(tx, actor, job_id)
    good = _last_good(tx, actor, job)
    return Provenance(
        _ran(tx, actor, job),
        None if good is None else _ran(tx, actor, good),
        good is not None and good.script_sha256 == job.script_sha256,
    )


def _last_good(tx: Tx, actor: Actor, job: JobRow) -> JobRow | None:
    """Among the newest before it; whose task never goes well is not searched to the beginning."""
    if job.task_id is None:
        return None
    seen, params = permissions.visible(actor, tx.dialect)
    return tx.one(
        JobRow,
        f"select {columns(JobRow, 'j.')} from (select {store.JOB} from jobs where task_id = ?"
        " and id < ? order by id desc limit ?) j join customers c on c.id = j.customer_id"
        f" where j.customer_id = ? and j.state in ('success', 'normal') and {store.UNPURGED}"
        f" and {seen} order by j.id desc limit 1",
        *(job.task_id, job.id, LOOKED_AT, actor.customer_id, *params),
    )


def _ran(tx: Tx, actor: Actor, job: JobRow) -> Ran:
    version = tx.value(
        "select max(version) from file_versions where file_id = ? and sha256 = ?",
        *(job.script_id or "", job.script_sha256 or ""),
    )
    return Ran(
        job.id,
        job.script_id,
        job.script_filename,
        job.script_sha256,
        version,
        job.task_version,
        iso_or_none(job.ended_at),
        _source(tx, job.script_sha256) if actor.level.reaches(Level.MANAGER) else None,
    )


def _source(tx: Tx, sha256: str | None) -> str | None:
    data = None if sha256 is None else content_of(tx, sha256)
    if data is None or len(data) > LONGEST:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
