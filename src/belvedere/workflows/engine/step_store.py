"""The rows of workflow jobs and of the steps that they have taken."""

from collections.abc import Sequence

import msgspec

from belvedere.access.crypto import sealed_values
from belvedere.db import Tx, columns
from belvedere.jobs import store as jobs
from belvedere.jobs.model import WORKFLOW, JobRow
from belvedere.workflow_specs import store
from belvedere.workflow_specs.model import Step, StepState, WorkflowJobRow, WorkflowRow

_MINE = columns(WorkflowJobRow)
_STEP = columns(Step)


def insert_job(tx: Tx, mine: WorkflowJobRow) -> None:
    marks = ", ".join("?" for _ in WorkflowJobRow.__struct_fields__)
    given = None if mine.given is None else sealed_given(tx, mine.job_id, mine.given)
    kept = msgspec.structs.astuple(msgspec.structs.replace(mine, given=given))
    tx.run(f"insert into workflow_jobs ({_MINE}) values ({marks})", *kept)


def about(job_id: str) -> str:
    return f"workflow job/{job_id}"


def sealed_given(tx: Tx, job_id: str, text: str) -> str:
    """Values as the database keeps them: any of them may be masked."""
    return text if text == "[]" else sealed_values.seal_text(tx, about(job_id), text)


def workflow_job(tx: Tx, job_id: str) -> WorkflowJobRow:
    found = tx.one(WorkflowJobRow, f"select {_MINE} from workflow_jobs where job_id = ?", job_id)
    assert found is not None, "a job of a workflow is never without this row"
    if found.given is not None:
        found.given = sealed_values.open_text(tx, about(job_id), found.given, "[]")
    return found


def is_forgotten(tx: Tx, job_id: str) -> bool:
    """Its history was deleted."""
    return tx.row("select 1 from workflow_jobs where job_id = ?", job_id) is None


def lock(tx: Tx, job_id: str) -> JobRow | None:
    """The job itself, held: whoever moves a workflow job on does it under this lock."""
    return jobs.lock_many(tx, [job_id]).get(job_id)


def of_job(tx: Tx, job_id: str) -> list[Step]:
    return tx.all(
        Step,
        f"select {_STEP} from workflow_steps where workflow_job_id = ? order by node_id, visit",
        job_id,
    )


def insert(tx: Tx, steps: Sequence[Step]) -> None:
    marks = ", ".join("?" for _ in Step.__struct_fields__)
    tx.many(
        f"insert into workflow_steps ({_STEP}) values ({marks})",
        [msgspec.structs.astuple(step) for step in steps],
    )


def save(tx: Tx, step: Step) -> None:
    tx.run(
        "update workflow_steps set job_id = ?, tries = ?, state = ?, trigger_name = ?,"
        " is_good = ?, output = ? where workflow_job_id = ? and node_id = ? and visit = ?",
        step.job_id,
        step.tries,
        step.state,
        step.trigger_name,
        step.is_good,
        step.output,
        step.workflow_job_id,
        step.node_id,
        step.visit,
    )


def jobs_of(tx: Tx, steps: Sequence[Step]) -> dict[str, JobRow]:
    """Their newest jobs as they stand; unlocked, since only their own ends are looked for."""
    rows = tx.all(
        JobRow,
        f"select {jobs.JOB} from jobs where id in {tx.sql.texts}",
        jobs.json_list([step.job_id for step in steps]),
    )
    return {job.id: job for job in rows}


def waiting(tx: Tx, workflow_id: str) -> list[str]:
    """Those that wait for their turn, oldest first."""
    return _ids(tx, workflow_id, "lifecycle = 'onhold'")


def is_taken(tx: Tx, row: WorkflowRow) -> bool:
    """Whether a new job must wait; the workflow's row is held until it is written."""
    if row.multitasking:
        return False
    store.look_up(tx, row.customer_id, row.id, hold=True)
    return bool(begun(tx, row.id) or waiting(tx, row.id))


def begun(tx: Tx, workflow_id: str) -> list[str]:
    return _ids(tx, workflow_id, "lifecycle in ('ready', 'started')")


def _ids(tx: Tx, workflow_id: str, where: str) -> list[str]:
    rows = tx.rows(
        f"select id from jobs where workflow_id = ? and type = '{WORKFLOW}' and {where}"
        " order by id",
        workflow_id,
    )
    return [job_id for (job_id,) in rows]


def overdue(tx: Tx, limit: int) -> list[str]:
    """Those that have waited for the truth about a lost job for as long as they may."""
    rows = tx.rows(
        f"select j.id from jobs j where j.type = '{WORKFLOW}'"
        " and j.lifecycle in ('ready', 'started') and j.expires_at <= ?"
        " and exists (select 1 from workflow_steps s where s.workflow_job_id = j.id"
        f" and s.state = '{StepState.LOST}') order by j.expires_at limit ?",
        tx.now,
        limit,
    )
    return [job_id for (job_id,) in rows]
