"""The rows of `workflow_steps`, their jobs, and the values that steps pass on."""

from collections.abc import Sequence
from typing import Any

import msgspec

from belvedere.access.crypto import sealed_values
from belvedere.db import Tx, columns
from belvedere.jobs import store as jobs
from belvedere.jobs.model import WORKFLOW, JobRow
from belvedere.workflow_specs import store, workflow_jobs
from belvedere.workflow_specs.model import StepRow, StepState, WorkflowRow
from belvedere.workflows.execution import decision
from belvedere.workflows.execution.visits import visits_from_steps

_COLUMNS = columns(StepRow)


def lock_job(tx: Tx, job_id: str) -> JobRow | None:
    """The workflow job. Everything that advances it does so under this lock."""
    return jobs.lock_many(tx, [job_id]).get(job_id)


def steps_of(tx: Tx, job_id: str) -> list[StepRow]:
    return tx.all(
        StepRow,
        f"select {_COLUMNS} from workflow_steps where workflow_job_id = ? order by node_id, visit",
        job_id,
    )


def insert(tx: Tx, steps: Sequence[StepRow]) -> None:
    marks = ", ".join("?" for _ in StepRow.__struct_fields__)
    tx.execute_many(
        f"insert into workflow_steps ({_COLUMNS}) values ({marks})",
        [msgspec.structs.astuple(step) for step in steps],
    )


def save(tx: Tx, step: StepRow) -> None:
    tx.execute(
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


def jobs_of(tx: Tx, steps: Sequence[StepRow]) -> dict[str, JobRow]:
    """Their latest jobs. Not locked: the caller only checks whether they have ended."""
    rows = tx.all(
        JobRow,
        f"select {jobs.JOB_COLUMNS} from jobs where id in {tx.dialect.in_texts}",
        jobs.json_array([step.job_id for step in steps]),
    )
    return {job.id: job for job in rows}


def waiting_ids(tx: Tx, workflow_id: str) -> list[str]:
    """Jobs of the workflow that wait to start, oldest first."""
    return _ids(tx, workflow_id, "lifecycle = 'onhold'")


def must_wait(tx: Tx, row: WorkflowRow) -> bool:
    """Whether a new job must wait. Locks the workflow's row until the job is written."""
    if row.multitasking:
        return False
    store.look_up(tx, row.customer_id, row.id, lock=True)
    return bool(running_ids(tx, row.id) or waiting_ids(tx, row.id))


def running_ids(tx: Tx, workflow_id: str) -> list[str]:
    return _ids(tx, workflow_id, "lifecycle in ('ready', 'started')")


def _ids(tx: Tx, workflow_id: str, where: str) -> list[str]:
    rows = tx.rows(
        f"select id from jobs where workflow_id = ? and type = '{WORKFLOW}' and {where}"
        " order by id",
        workflow_id,
    )
    return [job_id for (job_id,) in rows]


def overdue_ids(tx: Tx, limit: int) -> list[str]:
    """Workflow jobs that have waited for a lost job as long as their workflow allows."""
    rows = tx.rows(
        f"select j.id from jobs j where j.type = '{WORKFLOW}'"
        " and j.lifecycle in ('ready', 'started') and j.expires_at <= ?"
        " and exists (select 1 from workflow_steps s where s.workflow_job_id = j.id"
        f" and s.state = '{StepState.LOST}') order by j.expires_at limit ?",
        tx.now,
        limit,
    )
    return [job_id for (job_id,) in rows]


def output_of(tx: Tx, workflow_job_id: str) -> list[Any]:
    """The outputs of the steps that nothing followed, in the order of the graph."""
    if workflow_jobs.is_purged(tx, workflow_job_id):
        return []
    workflow_job = workflow_jobs.find(tx, workflow_job_id)
    graph = store.version_of(tx, workflow_job.workflow_id, workflow_job.version).graph
    steps = {(step.node_id, step.visit): step for step in steps_of(tx, workflow_job_id)}
    last = decision.last(graph, visits_from_steps(steps.values()))
    customer_id = tx.value("select customer_id from jobs where id = ?", workflow_job_id)
    return [value for key in last for value in open_output(tx, customer_id, steps[key].output)]


def open_output(tx: Tx, customer_id: str, output: str | None) -> list[Any]:
    """The output of a step in clear."""
    text = output or "[]"
    if text.startswith(sealed_values.TEXT):
        # Everything in it is in clear already. What looks like a sealed value came in a request.
        context = sealed_values.values_context(customer_id)
        values: list[Any] = msgspec.json.decode(
            sealed_values.open_text(tx, context, text, default="[]")
        )
        return values
    return sealed_values.open_values(tx.sealer, customer_id, msgspec.json.decode(text))
