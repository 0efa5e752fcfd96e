"""The script and arguments of a job, compared with the last successful job of its task."""

from itertools import zip_longest
from typing import Any

import msgspec

from belvedere.access import Actor, Level
from belvedere.base.clock import iso_or_none
from belvedere.db import Tx, columns
from belvedere.files.store import content_of
from belvedere.jobs import permissions, specs, store
from belvedere.jobs.model import JobRow
from belvedere.tasks.definition.argument_values import mask_values

# Jobs that are searched for a successful one.
MAX_JOBS_SEARCHED = 2_000
MAX_SOURCE_BYTES = 256 * 1024
# Characters of a value in a comparison.
MAX_VALUE_LENGTH = 200


class ScriptRun(msgspec.Struct):
    """The script of one job. `source` only for managers and above, and only of a text up to
    256 KiB."""

    job_id: str
    script_id: str | None
    filename: str | None
    sha256: str | None
    # The version of the file; null if it was deleted.
    version: int | None
    task_version: int | None
    ended_at: str | None
    source: str | None


class ArgumentChange(msgspec.Struct):
    """An argument that has another value than in the last successful job; null: it had none."""

    position: int
    name: str
    before: str | None
    after: str | None


class Provenance(msgspec.Struct):
    """`last_good`: the last successful job of the task before this one. `same`: both ran the same
    script. `arguments`: those that differ from the last successful job, except masked ones; each
    value as a text of at most 200 characters."""

    job: ScriptRun
    last_good: ScriptRun | None
    same: bool
    arguments: list[ArgumentChange]


def find_provenance(tx: Tx, actor: Actor, job_id: str) -> Provenance:
    job = permissions.require_visible(tx, actor, job_id)
    good = _last_good(tx, actor, job)
    return Provenance(
        _script_run(tx, actor, job),
        None if good is None else _script_run(tx, actor, good),
        good is not None and good.script_sha256 == job.script_sha256,
        [] if good is None else _argument_changes(tx, good, job),
    )


def _argument_changes(tx: Tx, good: JobRow, job: JobRow) -> list[ArgumentChange]:
    """Compares by position, because arguments are passed by position."""
    spec, before, after = specs.for_job(tx, job), _values(tx, good), _values(tx, job)
    definitions = spec.task_arguments
    changes = []
    for position, (old, new) in enumerate(zip_longest(before, after)):
        definition = definitions[position] if position < len(definitions) else None
        if old == new or (definition is not None and definition.masked):
            continue
        name = "" if definition is None else definition.label
        changes.append(ArgumentChange(position, name, _text(old), _text(new)))
    return changes


def _values(tx: Tx, job: JobRow) -> list[Any]:
    """Masked values are replaced by the mask."""
    values = msgspec.json.decode(store.read_details(tx, job.id).arguments)
    return mask_values(specs.for_job(tx, job).task_arguments, values)


def _text(value: object) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[:MAX_VALUE_LENGTH]


def _last_good(tx: Tx, actor: Actor, job: JobRow) -> JobRow | None:
    """Among the newest jobs before it only: a task that never succeeds may have a long history."""
    if job.task_id is None:
        return None
    visible, params = permissions.visible_filter(actor, tx.dialect)
    return tx.one(
        JobRow,
        f"select {columns(JobRow, 'j.')} from (select {store.JOB_COLUMNS} from jobs"
        " where task_id = ? and id < ? order by id desc limit ?) j"
        " join customers c on c.id = j.customer_id"
        f" where j.customer_id = ? and j.state in ('success', 'normal') and {store.UNPURGED}"
        f" and {visible} order by j.id desc limit 1",
        *(job.task_id, job.id, MAX_JOBS_SEARCHED, actor.customer_id, *params),
    )


def _script_run(tx: Tx, actor: Actor, job: JobRow) -> ScriptRun:
    version = tx.value(
        "select max(version) from file_versions where file_id = ? and sha256 = ?",
        *(job.script_id or "", job.script_sha256 or ""),
    )
    return ScriptRun(
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
    if data is None or len(data) > MAX_SOURCE_BYTES:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
