"""Columns with sealed values inside, for the background pass and for the change of the key."""

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
class Place:
    """A column with sealed values inside."""

    table: str
    column: str
    # They find a row, in the order in which the pass goes; then what `seal` needs to know beside.
    names: tuple[str, ...]
    # (tx, text, the other columns) -> the text as it is kept now.
    seal: Callable[[Tx, str, Row], str]
    about: Callable[[Row], str]
    more: tuple[str, ...] = ()
    # How a text with a box is found in SQL.
    sign: str = sealed_values.OBJECT
    # A column that may hold the same text.
    copy: str = ""

    @property
    def box(self) -> str:
        """How a box begins, wherever it is in the text."""
        return self.sign.removeprefix("%")


def _job(tx: Tx, text: str, row: Row) -> str:
    """Masked arguments; the definition that the job was made from says which."""
    _, customer_id, task_id, version = row
    if text == "[]" or task_id is None:
        return text
    places = _masked_places(tx, task_id, version)
    values = msgspec.json.decode(text)
    kept = sealed_values.seal_values(tx, customer_id, values, places) if places else values
    return text if kept == values else msgspec.json.encode(kept).decode()


def _masked_places(tx: Tx, task_id: str, version: int) -> set[int]:
    key = ("masked places", task_id, version)
    known: set[int] | None = tx.version_cache.get(key)
    if known is None:
        spec = tasks.task_snapshot(tx, task_id, version)
        known = {n for n, one in enumerate(spec.task_arguments if spec else ()) if one.masked}
        tx.version_cache[key] = known
    return known


def _plan(tx: Tx, text: str, row: Row) -> str:
    """Addresses in the plans of approvals, whose credentials nobody needs, and plain hashes."""
    before = msgspec.json.decode(text)
    kept = [{**one, "digest": plan.keyed(tx.sealer, one["digest"])} for one in before]
    kept = [
        {**one, "url": replace_in_text(one["url"], mask_value)} if one.get("url") else one
        for one in kept
    ]
    return text if kept == before else msgspec.json.encode(kept).decode()


def _audited(tx: Tx, text: str, row: Row) -> str:
    """Definitions that older versions wrote down with their credentials."""
    if row[1] not in ("task", "monitor"):
        return text
    said = msgspec.json.decode(text)
    kept = request_masking.mask(said)
    if isinstance(said.get("config"), dict):
        kept["config"] = request_masking.mask(said["config"])
    kept = audit.without_secrets(redaction.redact(kept))
    return text if kept == said else msgspec.json.encode(kept).decode()


def _given(tx: Tx, text: str, row: Row) -> str:
    return sealed_values.seal_text(tx, sealed_values.values_context(row[3]), text)


def _output(tx: Tx, text: str, row: Row) -> str:
    """What a job without an agent handed on: its own arguments."""
    return text if row[4] else _given(tx, text, row)


def _nothing(row: Row) -> str:
    return ""


_STEP = ("workflow_job_id", "node_id", "visit")
_OF_STEP = (
    "(select customer_id from jobs j where j.id = workflow_steps.workflow_job_id)",
    "(select fence from jobs j where j.id = workflow_steps.job_id)",
)
PLACES = (
    Place(
        *("tasks", "spec", ("id",)),
        lambda tx, text, row: tasks.sealed_spec(tx, row[0], text),
        lambda row: tasks.about(row[0]),
    ),
    Place(
        *("task_versions", "spec", ("task_id", "version")),
        lambda tx, text, row: tasks.sealed_spec(tx, row[0], text),
        lambda row: tasks.about(row[0]),
    ),
    Place(
        *("monitors", "config", ("id",)),
        lambda tx, text, row: monitors.sealed_config(tx, row[0], text),
        lambda row: monitors.seal_context(row[0]),
    ),
    Place(
        *("workflows", "spec", ("id",)),
        lambda tx, text, row: workflows.sealed_spec(tx, row[0], text),
        lambda row: workflows.seal_context(row[0]),
    ),
    Place(
        *("workflow_versions", "spec", ("workflow_id", "version")),
        lambda tx, text, row: workflows.sealed_spec(tx, row[0], text),
        lambda row: workflows.seal_context(row[0]),
    ),
    Place(
        *("definitions", "body", ("id",)),
        lambda tx, text, row: definitions.sealed_body(tx, row[0], text),
        lambda row: definitions.seal_context(row[0]),
        sign=sealed_values.TEXT,
    ),
    Place(
        *("schedules", "arguments", ("id",)),
        lambda tx, text, row: schedules.sealed_arguments(tx, row[0], text),
        lambda row: schedules.seal_context(row[0]),
        sign=sealed_values.TEXT,
    ),
    Place(
        *("deliveries", "body", ("id",)),
        lambda tx, text, row: (
            text if row[1] == "[]" else sealed_values.seal_text(tx, store.context(row[0]), text)
        ),
        lambda row: store.context(row[0]),
        more=("masked",),
        sign=sealed_values.TEXT,
    ),
    Place(
        *("workflow_jobs", "given", ("job_id",)),
        lambda tx, text, row: workflow_jobs.seal(tx, row[0], text),
        lambda row: workflow_jobs.seal_context(row[0]),
        sign=sealed_values.TEXT,
    ),
    *(
        Place(
            *("workflow_steps", column, _STEP, seal),
            lambda row: sealed_values.values_context(row[3]),
            more=_OF_STEP,
            sign=sealed_values.TEXT,
        )
        for column, seal in (("given", _given), ("output", _output))
    ),
    Place(
        *("jobs", "arguments", ("id",)),
        _job,
        lambda row: sealed_values.values_context(row[1]),
        more=("customer_id", "task_id", "task_version"),
        sign=f"%{sealed_values.OBJECT}",
        copy="output",
    ),
)
# Cleaned once, but never sealed.
CLEANED = (
    Place("approvals", "plan", ("job_id",), _plan, _nothing),
    Place("audit", "before", ("id",), _audited, _nothing, ("object",)),
    Place("audit", "after", ("id",), _audited, _nothing, ("object",)),
)
