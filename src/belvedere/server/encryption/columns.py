"""Columns that contain sealed values, for background sealing and key rotation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from belvedere.access import audit
from belvedere.access.crypto import sealed_values
from belvedere.base.text import request_masking
from belvedere.base.text.credentials import mask_value, replace_in_text
from belvedere.db import Tx
from belvedere.definitions import store as definitions
from belvedere.jobs.approvals import plan
from belvedere.monitors import store as monitors
from belvedere.monitors.config import redaction
from belvedere.schedules import store as schedules
from belvedere.tasks import store as tasks
from belvedere.webhooks.deliveries import store
from belvedere.workflow_specs import store as workflows
from belvedere.workflow_specs import workflow_jobs

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column that contains sealed values."""

    table: str
    name: str
    # The key of a row, in the order of the pass; `more` are further columns that `seal` needs.
    names: tuple[str, ...]
    # (tx, text, the other columns) -> the text as it is stored now.
    seal: Callable[[Tx, str, Row], str]
    context: Callable[[Row], str]
    more: tuple[str, ...] = ()
    # SQL pattern of a text with a sealed value.
    pattern: str = sealed_values.OBJECT
    # A column that may hold the same text.
    copy: str = ""

    @property
    def box(self) -> str:
        """How a box begins, wherever it is in the text."""
        return self.pattern.removeprefix("%")


def _job(tx: Tx, text: str, row: Row) -> str:
    """Masked arguments, according to the definition that the job was created from."""
    _, customer_id, task_id, version = row
    if text == "[]" or task_id is None:
        return text
    masked = _masked_arguments(tx, task_id, version)
    values = msgspec.json.decode(text)
    sealed = sealed_values.seal_values(tx, customer_id, values, masked) if masked else values
    return text if sealed == values else msgspec.json.encode(sealed).decode()


def _masked_arguments(tx: Tx, task_id: str, version: int) -> set[int]:
    key = ("masked places", task_id, version)
    masked: set[int] | None = tx.version_cache.get(key)
    if masked is None:
        spec = tasks.task_snapshot(tx, task_id, version)
        masked = {
            n for n, argument in enumerate(spec.task_arguments if spec else ()) if argument.masked
        }
        tx.version_cache[key] = masked
    return masked


def _plan(tx: Tx, text: str, row: Row) -> str:
    """Plans of approvals: credentials in addresses, and plain hashes."""
    before = msgspec.json.decode(text)
    cleaned = [
        {**planned, "digest": plan.keyed(tx.sealer, planned["digest"])} for planned in before
    ]
    cleaned = [
        {**planned, "url": replace_in_text(planned["url"], mask_value)}
        if planned.get("url")
        else planned
        for planned in cleaned
    ]
    return text if cleaned == before else msgspec.json.encode(cleaned).decode()


def _clean_audit(tx: Tx, text: str, row: Row) -> str:
    """Definitions that older versions audited with their credentials."""
    if row[1] not in ("task", "monitor", "channel"):
        return text
    fields = msgspec.json.decode(text)
    cleaned = request_masking.mask(fields)
    if isinstance(fields.get("config"), dict):
        cleaned["config"] = request_masking.mask(fields["config"])
    stored = audit.without_secrets(redaction.redact(cleaned))
    return text if stored == fields else msgspec.json.encode(stored).decode()


def _seal_values(tx: Tx, text: str, row: Row) -> str:
    return sealed_values.seal_text(tx, sealed_values.values_context(row[3]), text)


def _output(tx: Tx, text: str, row: Row) -> str:
    """The output of a job without an agent: its own arguments."""
    return text if row[4] else _seal_values(tx, text, row)


def _no_context(row: Row) -> str:
    return ""


_STEP = ("workflow_job_id", "node_id", "visit")
_STEP_COLUMNS = (
    "(select customer_id from jobs j where j.id = workflow_steps.workflow_job_id)",
    "(select fence from jobs j where j.id = workflow_steps.job_id)",
)
SEALED_COLUMNS = (
    SealedColumn(
        *("tasks", "spec", ("id",)),
        lambda tx, text, row: tasks.sealed_spec(tx, row[0], text),
        lambda row: tasks.seal_context(row[0]),
    ),
    SealedColumn(
        *("task_versions", "spec", ("task_id", "version")),
        lambda tx, text, row: tasks.sealed_spec(tx, row[0], text),
        lambda row: tasks.seal_context(row[0]),
    ),
    SealedColumn(
        *("monitors", "config", ("id",)),
        lambda tx, text, row: monitors.sealed_config(tx, row[0], text),
        lambda row: monitors.seal_context(row[0]),
    ),
    SealedColumn(
        *("monitor_trials", "config", ("id",)),
        lambda tx, text, row: monitors.sealed_config(tx, row[0], text),
        lambda row: monitors.seal_context(row[0]),
    ),
    SealedColumn(
        *("workflows", "spec", ("id",)),
        lambda tx, text, row: workflows.sealed_spec(tx, row[0], text),
        lambda row: workflows.seal_context(row[0]),
    ),
    SealedColumn(
        *("workflow_versions", "spec", ("workflow_id", "version")),
        lambda tx, text, row: workflows.sealed_spec(tx, row[0], text),
        lambda row: workflows.seal_context(row[0]),
    ),
    SealedColumn(
        *("definitions", "body", ("id",)),
        lambda tx, text, row: definitions.sealed_body(tx, row[0], text),
        lambda row: definitions.seal_context(row[0]),
        pattern=sealed_values.TEXT,
    ),
    SealedColumn(
        *("schedules", "arguments", ("id",)),
        lambda tx, text, row: schedules.sealed_arguments(tx, row[0], text),
        lambda row: schedules.seal_context(row[0]),
        pattern=sealed_values.TEXT,
    ),
    SealedColumn(
        *("deliveries", "body", ("id",)),
        lambda tx, text, row: (
            text if row[1] == "[]" else sealed_values.seal_text(tx, store.context(row[0]), text)
        ),
        lambda row: store.context(row[0]),
        more=("masked",),
        pattern=sealed_values.TEXT,
    ),
    SealedColumn(
        *("workflow_jobs", "given", ("job_id",)),
        lambda tx, text, row: workflow_jobs.seal(tx, row[0], text),
        lambda row: workflow_jobs.seal_context(row[0]),
        pattern=sealed_values.TEXT,
    ),
    *(
        SealedColumn(
            *("workflow_steps", column, _STEP, seal),
            lambda row: sealed_values.values_context(row[3]),
            more=_STEP_COLUMNS,
            pattern=sealed_values.TEXT,
        )
        for column, seal in (("given", _seal_values), ("output", _output))
    ),
    SealedColumn(
        *("jobs", "arguments", ("id",)),
        _job,
        lambda row: sealed_values.values_context(row[1]),
        more=("customer_id", "task_id", "task_version"),
        pattern=f"%{sealed_values.OBJECT}",
        copy="output",
    ),
)
# Cleaned once, never sealed.
CLEANED_COLUMNS = (
    SealedColumn("approvals", "plan", ("job_id",), _plan, _no_context),
    SealedColumn("audit", "before", ("id",), _clean_audit, _no_context, ("object",)),
    SealedColumn("audit", "after", ("id",), _clean_audit, _no_context, ("object",)),
)
