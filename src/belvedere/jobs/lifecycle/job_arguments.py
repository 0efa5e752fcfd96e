"""The values of a job's arguments: which definitions take them, and how they are stored."""

from collections.abc import Sequence
from typing import Any

from belvedere.access.crypto import sealed_values
from belvedere.db import Tx
from belvedere.jobs import store
from belvedere.tasks.definition import argument_values
from belvedere.tasks.definition.argument_types import Value
from belvedere.tasks.model import Argument, ArgumentKind, TaskSpec, Type

# A notification task without definitions takes these.
NOTE_ARGUMENTS = tuple(
    Argument(ArgumentKind.INPUT, label=label, required=False)
    for label in ("subject", "body", "recipients")
)
# In the warning of a job.
MAX_IGNORED_NAMED = 5


def extra_values(definitions: Sequence[Argument], values: Sequence[Any]) -> tuple[str, ...]:
    """The names of the values that no argument takes."""
    accepted = argument_values.accepted_count(definitions, len(values))
    return tuple(f"task_arguments[{index}]" for index in range(accepted, len(values)))


def ignored_text(ignored: Sequence[str]) -> str:
    names = ", ".join(ignored[:MAX_IGNORED_NAMED])
    return f"{len(ignored)} values were ignored, because no argument takes them: {names}."


def definitions_of(spec: TaskSpec) -> Sequence[Argument]:
    if spec.type is Type.NOTIFICATION and not spec.task_arguments:
        return NOTE_ARGUMENTS
    return spec.task_arguments


def encode(tx: Tx, customer_id: str, spec: TaskSpec, values: Sequence[Value]) -> str:
    """Values as they are stored: files by their content's hash, masked values sealed."""
    stored = argument_values.store_files(tx, customer_id, values)
    masked = {position for position, argument in enumerate(spec.task_arguments) if argument.masked}
    return store.json_array(
        sealed_values.seal_values(tx, customer_id, stored, masked) if masked else stored
    )
