"""A task as the API returns it."""

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.access import Acl, Actor
from belvedere.base.clock import iso, iso_or_none
from belvedere.tasks.definition.masking import shown_spec
from belvedere.tasks.model import KIND_NAMES, ONLY, TaskSpec, decode
from belvedere.tasks.store import ScheduleLine, TaskView


class HostInTask(msgspec.Struct):
    id: str
    also_id: str = msgspec.field(name="_id")
    hostname: str


class ScriptInTask(msgspec.Struct):
    id: str
    also_id: str = msgspec.field(name="_id")
    filename: str


class ScheduleInTask(msgspec.Struct):
    """When a schedule runs the task; GET /schedule/{id} shows the rest."""

    id: str
    also_id: str = msgspec.field(name="_id")
    name: str
    runDate: str | None
    repeatEvery: str | None
    timezone: str
    nextRunAt: str | None


class _OtherRecordFields(msgspec.Struct, kw_only=True):
    """Fields of a record that are not part of the definition."""

    id: str
    kind: str = msgspec.field(name="_type")
    hostname: str
    multitasking: bool
    acl: list[str]
    # E-mail addresses in the ACL that no member has yet.
    acl_pending: list[str]
    schedules: list[ScheduleInTask]
    # Ids of the events that start it; GET /event lists them.
    triggers: list[str]
    version: int
    customer_id: str
    customer_name: str
    creation_date: str
    last_update: str
    host: HostInTask | None | UnsetType = UNSET
    script: ScriptInTask | None | UnsetType = UNSET
    script_name: str | UnsetType = UNSET


def _field(field: msgspec.structs.FieldInfo) -> tuple[str, Any, Any]:
    if field.name in ONLY:
        optional = msgspec.field(name=field.encode_name, default=UNSET)
        return field.name, field.type | UnsetType, optional
    return field.name, field.type, msgspec.field(name=field.encode_name)


if TYPE_CHECKING:

    class TaskRecord(_OtherRecordFields):
        """A task, for the type checker without the fields of the definition."""

else:
    # The fields of the definition, those of other types left out.
    TaskRecord = msgspec.defstruct(
        "TaskRecord",
        [_field(field) for field in msgspec.structs.fields(TaskSpec)],
        bases=(_OtherRecordFields,),
        kw_only=True,
        module=__name__,
        namespace={"__doc__": "A task. Fields that belong to other types are left out."},
    )


def to_record(view: TaskView, actor: Actor, acl: Acl) -> TaskRecord:
    spec = shown_spec(decode(view.spec))
    values = {
        name: getattr(spec, name)
        for name in TaskSpec.__struct_fields__
        if name not in ONLY or spec.type in ONLY[name]
    }
    values["history"] = spec.history.effective(
        view.history_default.count, view.history_default.days
    )
    if spec.env and not actor.runs_all:
        # Environments often contain credentials: show them only to people who can edit the task.
        values["env"] = {}
    return TaskRecord(
        id=view.id,
        kind=KIND_NAMES[spec.type],
        hostname=view.hostname or "",
        multitasking=spec.concurrency != 1,
        acl=acl.entries if actor.sees_all else [],
        acl_pending=acl.pending if actor.sees_all else [],
        schedules=[_schedule(line) for line in view.schedules],
        triggers=view.triggers,
        version=view.version,
        customer_id=view.customer_id,
        customer_name=actor.customer_name,
        creation_date=iso(view.created_at),
        last_update=iso(view.updated_at),
        **_bound(view, spec),
        **values,
    )


def _schedule(line: ScheduleLine) -> ScheduleInTask:
    return ScheduleInTask(
        line.id,
        line.id,
        line.name,
        iso_or_none(line.run_date),
        line.repeat_every,
        line.timezone,
        iso_or_none(line.next_at),
    )


def _bound(view: TaskView, spec: TaskSpec) -> dict[str, Any]:
    """Host and script, if the type has them."""
    bound: dict[str, Any] = {}
    if spec.type in ONLY["host_id"]:
        has_host = view.host_id is not None and view.hostname is not None
        bound["host"] = (
            HostInTask(id=view.host_id, also_id=view.host_id, hostname=view.hostname)  # type: ignore[arg-type]
            if has_host
            else None
        )
    if spec.type in ONLY["script_id"]:
        name, script_id = view.script_name or "", view.script_id
        bound["script_name"] = name
        bound["script"] = ScriptInTask(script_id, script_id, name) if script_id else None
    return bound
