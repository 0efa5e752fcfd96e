"""The rows of `workflow_jobs`: which version a workflow job runs, and what it started with."""

import msgspec

from belvedere.access.crypto import sealed_values
from belvedere.db import Tx, columns
from belvedere.workflow_specs.model import WorkflowJobRow

_COLUMNS = columns(WorkflowJobRow)


def insert(tx: Tx, row: WorkflowJobRow) -> None:
    """In the transaction that writes the job itself."""
    marks = ", ".join("?" for _ in WorkflowJobRow.__struct_fields__)
    values = None if row.given is None else seal(tx, row.job_id, row.given)
    fields = msgspec.structs.astuple(msgspec.structs.replace(row, given=values))
    tx.execute(f"insert into workflow_jobs ({_COLUMNS}) values ({marks})", *fields)


def find(tx: Tx, job_id: str) -> WorkflowJobRow:
    """With its values in clear. The job must exist."""
    row = tx.one(WorkflowJobRow, f"select {_COLUMNS} from workflow_jobs where job_id = ?", job_id)
    assert row is not None, "every workflow job has this row"
    if row.given is not None:
        row.given = sealed_values.open_text(tx, seal_context(job_id), row.given, "[]")
    return row


def is_purged(tx: Tx, job_id: str) -> bool:
    """Whether the history of the job was deleted."""
    return tx.row("select 1 from workflow_jobs where job_id = ?", job_id) is None


def seal(tx: Tx, job_id: str, text: str) -> str:
    """Values as they are stored: any of them may be masked."""
    return text if text == "[]" else sealed_values.seal_text(tx, seal_context(job_id), text)


def seal_context(job_id: str) -> str:
    """The associated data of the seal; stored values depend on this text."""
    return f"workflow job/{job_id}"
