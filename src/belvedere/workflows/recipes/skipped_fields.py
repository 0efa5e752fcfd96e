"""Which fields of a recipe Belvedere cannot keep, and why. Pure.

Fields that are neither read nor listed here are listed with a general reason, so that nothing is
dropped silently.
"""

from collections.abc import Collection

import msgspec

from belvedere.tasks.model import Argument, Option
from belvedere.workflows.recipes.source import Fields, ImportReport

# The new object has its own, or the import sets it: ids, dates, counters, the place of origin.
_IDENTITY = frozenset(
    {"id", "_id", "_type", "__v", "order", "creation_date", "last_update", "version"}
    | {"fingerprint", "execution_count", "customer", "customer_id", "customer_name", "user_id"}
    | {"host", "host_id", "hostname", "script_id", "script_name", "workflow", "workflow_id"}
    | {"exporter", "timeout", "multitasking"}
)
_TASK_IDENTITY = _IDENTITY | {"script", "type"}
_WORKFLOW_IDENTITY = _IDENTITY | {
    *("name", "tags", "graph", "tasks", "workflows", "start", "start_task", "start_task_id"),
    *("end_task_id", "current_task_id", "lifecycle", "state", "global_constants"),
}
_MEMBERS = "Members belong to the other server. Set them again."
_REASONS = {
    "acl": "Members belong to the other server. Grant access again.",
    "approvers": _MEMBERS,
    "assigned_users": _MEMBERS,
    "user_inputs_members": _MEMBERS,
    "triggers": "Events have other ids here. Set again what starts it.",
    "schedules": "Create the schedules again.",
    "secret": "It has a new secret key. Give that to the programs that run it.",
    "arguments_type": "Arguments are passed to scripts as text, not as JSON.",
    "public": "A task cannot be public. Grant access with its ACL.",
    "logger": "Jobs are not sent to Elasticsearch. Use the event stream.",
    "agent_logging": "Agents do not log scripts. The job has the complete output.",
    "script_path": "The agent chooses the path of the script.",
    "template_id": "Define it for a host tag again.",
    "allows_dynamic_settings": "The output of a script cannot choose approvers or inputs.",
    "acl_dynamic": "A job has the ACL of its task or workflow.",
    "empty_viewers": "A job has the ACL of its task or workflow.",
    "stack_scheduled_executions": "Set `overlap` of its schedules to `queue`.",
    "table_view": "The console always shows its jobs as a table.",
    "notify": "Workflows have no switch for notifications. Use the one of their tasks.",
    "autoremove_completed_jobs": "The jobs of a workflow follow the organization's default.",
    "autoremove_completed_jobs_limit": "The jobs of a workflow follow the organization's default.",
    "charset": "Use a pattern instead.",
}
_UNKNOWN = "Belvedere has no such field."
# Values that change nothing.
_NEUTRAL: dict[str, tuple[object, ...]] = {
    **dict.fromkeys(("public", "logger", "agent_logging", "allows_dynamic_settings"), (False,)),
    **dict.fromkeys(("acl_dynamic", "empty_viewers", "table_view"), (False,)),
    "stack_scheduled_executions": (False,),
    "arguments_type": ("legacy", "text"),
    "notify": (True,),
    # There is no such button.
    "ignore_enabled": (True, False),
}
_WITHOUT_VALUE = frozenset({"secret"})
_ARGUMENT_FIELDS = frozenset({*Argument.__struct_fields__, "version"})


def of_task(source: Fields, read_fields: Collection[str], part: str, report: ImportReport) -> None:
    _report(source, _TASK_IDENTITY.union(read_fields), part, "", report)


def of_workflow(
    source: Fields, read_fields: Collection[str], part: str, report: ImportReport
) -> None:
    _report(source, _WORKFLOW_IDENTITY.union(read_fields), part, "", report)


def of_argument(source: Fields, position: int, part: str, report: ImportReport) -> None:
    path = f"task_arguments[{position}]."
    _report(source, _ARGUMENT_FIELDS, part, path, report)
    options = source.get("options")
    for number, option in enumerate(options if isinstance(options, list) else ()):
        if isinstance(option, dict):
            _report(option, Option.__struct_fields__, part, f"{path}options[{number}].", report)


def of_other_type(source: Fields, defaults: Fields, part: str, report: ImportReport) -> None:
    """Fields that only other types of tasks have, unless they have their default value."""
    for field, default in defaults.items():
        value = source.get(field)
        if not _is_empty(value) and value != default:
            report.skip(part, field, "Tasks of this type have no such field.", value)


def _report(
    source: Fields, read_fields: Collection[str], part: str, path: str, report: ImportReport
) -> None:
    for field, value in source.items():
        is_lost = field not in read_fields and not _is_empty(value)
        if is_lost and value not in _NEUTRAL.get(field, ()):
            repeated_value = None if field in _WITHOUT_VALUE or field not in _REASONS else value
            report.skip(part, path + field, _REASONS.get(field, _UNKNOWN), repeated_value)


def _is_empty(value: object) -> bool:
    return value is None or value in ("", [], {})


def defaults_of(spec: type[msgspec.Struct], fields: Collection[str]) -> Fields:
    """The default values of these fields, by their names in JSON."""
    return {
        field.encode_name: None if field.default is msgspec.NODEFAULT else field.default
        for field in msgspec.structs.fields(spec)
        if field.name in fields
    }
