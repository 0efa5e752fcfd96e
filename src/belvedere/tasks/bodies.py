"""A task as clients send it: any part of the definition, with the field names of the API."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.access.customers.history_limits import HistoryLimits
from belvedere.base.errors import Fault
from belvedere.tasks.definition.validation import invalid_task
from belvedere.tasks.model import DEFAULT_HISTORY, MASK, Argument, History, TaskSpec, Type
from belvedere.triggers.service import EventBody

# Null is a value of these fields; for all others it means the same as leaving them out.
NULLABLE = frozenset({"timeout", "concurrency", "retry"})


class ScriptBody(msgspec.Struct):
    """A script inside a task: by id, or with its text (`source`) or base64 (`data`)."""

    id: str | None = None
    also_id: str | None = msgspec.field(name="_id", default=None)
    filename: str | UnsetType = UNSET
    source: str | UnsetType = UNSET
    data: str | UnsetType = UNSET

    @property
    def is_inline(self) -> bool:
        return self.source is not UNSET or self.data is not UNSET


class HostBody(msgspec.Struct):
    """A host inside a task, as records show it."""

    id: str | None = None
    also_id: str | None = msgspec.field(name="_id", default=None)


class HistoryBody(msgspec.Struct, forbid_unknown_fields=True):
    """Limits of the task's own, or any part of them; `inherited`: the organization's default."""

    count: int | None = None
    days: int | None = None
    inherited: bool | None = None


class _OtherBodyFields(msgspec.Struct, kw_only=True):
    """Fields of a body that are not part of the definition."""

    hostname: str | None = None
    host: str | HostBody | None = None
    script: str | ScriptBody | None = None
    multitasking: bool | None = None
    acl: list[str] | None = None
    triggers: list[str | EventBody] | None = None


if TYPE_CHECKING:

    class TaskBody(_OtherBodyFields, kw_only=True):
        """The fields that code uses by name; `definition_fields` returns all of them."""

        name: str | None | UnsetType = UNSET
        type: Type | None | UnsetType = UNSET
        host_id: str | None | UnsetType = UNSET
        script_id: str | None | UnsetType = UNSET
        description: str | None | UnsetType = UNSET
        tags: list[str] | None | UnsetType = UNSET
        approvers: list[str] | None | UnsetType = UNSET
        task_arguments: list[Argument] | None | UnsetType = UNSET
        timeout: int | None | UnsetType = UNSET

else:
    # Every field of the definition, each optional: one list of fields, in tasks/model.py.
    TaskBody = msgspec.defstruct(
        "TaskBody",
        [
            (
                field.name,
                (HistoryBody if field.name == "history" else field.type) | None | UnsetType,
                msgspec.field(name=field.encode_name, default=UNSET),
            )
            for field in msgspec.structs.fields(TaskSpec)
        ],
        bases=(_OtherBodyFields,),
        kw_only=True,
        module=__name__,
        namespace={"__doc__": "A task's definition, or any part of it."},
    )


def definition_fields(body: TaskBody) -> dict[str, Any]:
    """The fields of the definition that the body contains."""
    return {
        name: value
        for name in TaskSpec.__struct_fields__
        if (value := getattr(body, name)) is not UNSET and (value is not None or name in NULLABLE)
    }


def fit_history(fields: dict[str, Any], old: History, default: HistoryLimits) -> None:
    """Replace the history of a body by the one that is stored."""
    body: HistoryBody | None = fields.pop("history", None)
    if body is None:
        return
    before = old.effective(default.count, default.days)
    count = before.count if body.count is None else body.count
    days = before.days if body.days is None else body.days
    if body.count is None and body.days is None:
        inherits = before.is_inherited if body.inherited is None else body.inherited
    else:
        # A record that was sent as it had been shown; other numbers are a change.
        is_default = (count, days) in ((default.count, default.days), DEFAULT_HISTORY)
        inherits = body.inherited is True and is_default
    after = History(inherited=True) if inherits else History(count, days, False)
    is_same = after.effective(default.count, default.days) == before
    fields["history"] = old if is_same else after


def script_in(body: TaskBody) -> tuple[ScriptBody | None, str | None]:
    """The script inside the body, and the id by which it names a stored one."""
    script = body.script
    if isinstance(script, ScriptBody):
        return script, script.id or script.also_id
    return None, script


def raw_patterns(fields: dict[str, Any]) -> Iterator[str]:
    """The patterns of a task that was sent as plain JSON and is not validated yet."""
    arguments = fields.get("task_arguments")
    for argument in arguments if isinstance(arguments, list) else ():
        if isinstance(argument, dict) and isinstance(argument.get("pattern"), str):
            yield argument["pattern"]


def concurrency(fields: dict[str, Any], multitasking: bool | None, old: int | None) -> int | None:
    """The limit from the two fields; if they disagree, the field that was changed counts."""
    new: int | None = fields.get("concurrency", old)
    if multitasking is None or multitasking == _is_many(new):
        return new
    if new == old:
        return None if multitasking else 1
    if multitasking == _is_many(old):
        return new
    raise invalid_task(
        [Fault("multitasking", "This contradicts concurrency; send only one of them.")]
    )


def _is_many(number: int | None) -> bool:
    return number is None or number > 1


def restore_masked(new: list[Argument], old: list[Argument]) -> list[Argument]:
    """Restore masked values if a client sends back the record that it was shown."""
    hidden = {(argument.id, argument.label): argument.value for argument in old if argument.masked}
    return [
        msgspec.structs.replace(argument, value=hidden.get((argument.id, argument.label)))
        if argument.masked and argument.value == MASK
        else argument
        for argument in new
    ]
