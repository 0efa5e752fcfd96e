"""The arguments of a node that takes them from several earlier steps."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import msgspec

from belvedere.base.errors import Invalid
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.jobs.model import JobRow
from belvedere.tasks.definition.argument_values import MAX_EACH
from belvedere.workflow_specs import templates
from belvedere.workflow_specs.model import ArgumentSource, Node, StepPart, StepRow
from belvedere.workflows.execution import step_store
from belvedere.workflows.execution.visits import VisitKey, causes_of

# A value that is not there. A required argument refuses it, others are empty.
MISSING = ""
# The values of a step; None if it did not run before this node.
FindValues = Callable[[str, StepPart], Sequence[Any] | None]


def resolve(node: Node, find_values: FindValues) -> list[Any]:
    return [_resolve_source(node, source, find_values) for source in node.arguments]


def _resolve_source(node: Node, source: ArgumentSource, find_values: FindValues) -> object:
    if source.template:
        return _rendered(node, source.template, find_values)
    if not source.node:
        return source.value
    values = find_values(source.node, source.part)
    if values is None or source.index >= len(values):
        return MISSING
    value = values[source.index]
    if source.part is StepPart.INPUT and isinstance(value, dict):
        # Masked, or a file: not readable here.
        raise Invalid(
            f"The step {node.id!r} uses argument {source.index + 1} of {source.node!r}, which is"
            " masked or a file. Only other arguments can be passed on.",
            code="hidden_argument",
        )
    return _member(value, source.keys)


def _rendered(node: Node, template: str, find_values: FindValues) -> str:
    """The text with the values in it; other types than texts as JSON. Limited as an argument is."""
    text = ""
    for part in templates.parse(template):
        value = part if isinstance(part, str) else _resolve_source(node, part, find_values)
        text += value if isinstance(value, str) else json_text.compact(value)
        if len(text) > MAX_EACH:
            message = f"The template of the step {node.id!r} results in more than {MAX_EACH} bytes."
            raise Invalid(message, code="template_too_long")
    return text


def _member(value: object, keys: Sequence[str]) -> object:
    for key in keys:
        value = _parsed(value)
        if isinstance(value, dict):
            value = value.get(key, MISSING)
        elif isinstance(value, list) and key.isascii() and key.isdigit():
            value = value[int(key)] if int(key) < len(value) else MISSING
        else:
            return MISSING
    return value


def _parsed(value: object) -> object:
    """Arguments and some outputs are JSON as text."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return value


def values_for(
    tx: Tx, job: JobRow, node: Node, causes: Sequence[VisitKey], steps: Iterable[StepRow]
) -> list[Any]:
    """From the visits that led to this one, so that no round of a cycle gets values of another."""
    before = visits_before(causes, steps)

    @cache
    def find_values(node_id: str, part: StepPart) -> Sequence[Any] | None:
        step = before.get(node_id)
        if step is None:
            return None
        if part is StepPart.OUTPUT:
            return step_store.open_output(tx, job.customer_id, step.output)
        return _stored_arguments(tx, step)

    return resolve(node, find_values)


def _stored_arguments(tx: Tx, step: StepRow) -> list[Any]:
    """As stored: masked values are sealed objects. After a restart the job may be deleted."""
    text = tx.value("select arguments from jobs where id = ?", step.job_id)
    values: list[Any] = msgspec.json.decode(text or "[]")
    return values


def visits_before(causes: Sequence[VisitKey], steps: Iterable[StepRow]) -> dict[str, StepRow]:
    """The nearest visit of each node among the visits that led here."""
    by_key = {(step.node_id, step.visit): step for step in steps}
    nearest: dict[str, StepRow] = {}
    pending, visited = list(causes), set(causes)
    while pending:
        step = by_key[pending.pop(0)]
        nearest.setdefault(step.node_id, step)
        new = [key for key in causes_of(step) if key in by_key and key not in visited]
        pending += new
        visited.update(new)
    return nearest
