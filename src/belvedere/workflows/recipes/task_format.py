"""Reads a task in a recipe: the body that creates the same task here. Pure."""

from typing import Any

import msgspec

from belvedere.access.customers.history_limits import MAX_COUNT, MAX_DAYS
from belvedere.tasks.definition.validation import STATES, TARGETS
from belvedere.tasks.model import MASK, ONLY, TaskSpec, Type
from belvedere.workflows.bodies import to_texts
from belvedere.workflows.recipes import skipped_fields
from belvedere.workflows.recipes.source import (
    Fields,
    ImportReport,
    dict_in,
    invalid_recipe,
    list_in,
)

# Specific to the server that a recipe comes from, or with another meaning in TheEye.
_NOT_IMPORTED = frozenset(
    {"host_id", "script_id", "approvers", "timeout", "history", "retry", "type"}
    # People of another organization.
    | {"assigned_users", "user_inputs_members"}
)
_IMPORTED = frozenset(
    field.encode_name
    for field in msgspec.structs.fields(TaskSpec)
    if field.encode_name not in _NOT_IMPORTED
)
# Fields that TheEye does not have; they are read from our own recipes only.
_OUR_FIELDS = frozenset({"retry", "history"})
_RETENTION = frozenset({"autoremove_completed_jobs", "autoremove_completed_jobs_limit"})
_STATES_BY_WORD = {"ok": "success", "fail": "failure", "error": "failure"}
# Written by TheEye as 0 if there is no limit.
_LENGTHS = ("charsmin", "charsmax")


def read(source: Fields, file: object, report: ImportReport, *, is_ours: bool) -> Fields:
    """`file`: the script, if it is not part of the task."""
    name = str(source.get("name") or "")
    part = f"task {name}"
    kind = "script" if source.get("type") == "nodejs" else source.get("type")
    other_types = _fields_of_other_types(kind)
    body = {
        field: value
        for field, value in source.items()
        if field in _IMPORTED - other_types.keys() and value is not None
    }
    body |= {"name": name, "type": kind, "timeout": source.get("timeout") or None}
    body["task_arguments"] = _arguments(source, part, report)
    body |= {field: source[field] for field in _OUR_FIELDS if is_ours and field in source}
    if isinstance(source.get("multitasking"), bool):
        body["multitasking"] = source["multitasking"]
    if kind == "script":
        body |= _script_fields(source, file, name, part, report, is_ours)
    if kind == "approval":
        body |= _approval_fields(source, part, report)
    if not is_ours:
        body |= _retention(source, part, report)
    read_fields = _IMPORTED | _RETENTION | (_OUR_FIELDS if is_ours else {"cancel_enabled"})
    skipped_fields.of_task(source, read_fields, part, report)
    skipped_fields.of_other_type(source, other_types, part, report)
    _add_notes(body, name, report)
    return body


def _fields_of_other_types(kind: object) -> Fields:
    return (
        skipped_fields.defaults_of(
            TaskSpec, [field for field, types in ONLY.items() if kind not in types]
        )
        if kind in set(Type)
        else {}
    )


def _arguments(source: Fields, part: str, report: ImportReport) -> list[Fields]:
    arguments = list_in(source, "task_arguments")
    for position, argument in enumerate(arguments):
        if not isinstance(argument, dict):
            raise invalid_recipe("An argument of a task is not an object.")
        skipped_fields.of_argument(argument, position, part, report)
    return [_argument(argument) for argument in arguments]


def _argument(source: Fields) -> Fields:
    fields = {key: value for key, value in source.items() if value is not None and key != "charset"}
    for limit in _LENGTHS:
        if not fields.get(limit):
            fields.pop(limit, None)
    fields["id"] = None
    return fields


def _script_fields(
    source: Fields, file: object, name: str, part: str, report: ImportReport, is_ours: bool
) -> Fields:
    fields: Fields = {
        "script": _script(file or source.get("script"), name),
        "env": to_texts(dict_in(source, "env")),
    }
    if source.get("type") == "nodejs" and not source.get("script_runas"):
        fields["script_runas"] = "node %script%"
    if not is_ours and not isinstance(source.get("ignore_exit_code"), bool):
        # TheEye never reads the exit code: a script that prints success and exits 1 has succeeded.
        fields["ignore_exit_code"] = True
    state = source.get("default_state_evaluation") or ""
    state = _STATES_BY_WORD.get(str(state), state)
    if state not in STATES:
        reason = f"It must be one of {', '.join(filter(None, STATES))}."
        report.skip(part, "default_state_evaluation", reason, state)
        state = ""
    return fields | {"default_state_evaluation": state}


def _script(file: object, task: str) -> Fields:
    if not isinstance(file, dict) or not isinstance(file.get("data"), str):
        raise invalid_recipe(
            f"The script of the task {task!r} is missing; export it with mode=deep."
        )
    # With or without the prefix `data:text/plain;base64,`.
    data = file["data"].rpartition(",")[2]
    return {"filename": str(file.get("filename") or "script.sh"), "data": data}


def _approval_fields(source: Fields, part: str, report: ImportReport) -> Fields:
    fields: Fields = {}
    target = source.get("approvals_target") or "fixed"
    if target not in TARGETS:
        reason = "The output of a script cannot choose the approvers. It has fixed approvers."
        report.skip(part, "approvals_target", reason, target)
        target = "fixed"
    if source.get("cancel_enabled") is False:
        fields["cancellable"] = False
    if source.get("success_enabled") is False and source.get("failure_enabled") is False:
        for field in ("success_enabled", "failure_enabled"):
            reason = "Without both answers nobody could decide. Both are enabled."
            report.skip(part, field, reason, False)
            fields[field] = True
    return fields | {"approvals_target": target}


def _retention(source: Fields, part: str, report: ImportReport) -> Fields:
    """TheEye keeps the newest jobs by number, however old they are."""
    if source.get("autoremove_completed_jobs") is False:
        return {"history": {"count": MAX_COUNT, "days": MAX_DAYS}}
    field = "autoremove_completed_jobs_limit"
    limit = source.get(field)
    if limit is None:
        return {}
    text = str(limit)
    if not text.isdecimal() or len(text) > len(str(MAX_COUNT)) or int(text) > MAX_COUNT:
        report.skip(part, field, f"It must be an integer of 0 to {MAX_COUNT}.", limit)
        return {}
    return {"history": {"count": int(text), "days": MAX_DAYS}}


def _add_notes(body: Fields, name: str, report: ImportReport) -> None:
    if any(_lacks_value(argument) for argument in body["task_arguments"]):
        report.notes.append(f"{name}: set the values of its masked fixed arguments again")
    if places := _masks_in(body):
        report.notes.append(f"{name}: set the credentials in its {', '.join(places)} again")


def _masks_in(body: Fields) -> list[str]:
    """Fields whose credentials were masked by the export."""
    texts: dict[str, Any] = {field: body.get(field) for field in ("url", "body")}
    texts |= dict_in(body, "headers") | dict_in(body, "env")
    return sorted(field for field, text in texts.items() if isinstance(text, str) and MASK in text)


def _lacks_value(argument: Fields) -> bool:
    """Whether the value is missing because masked values are not exported."""
    return bool(argument.get("masked")) and argument.get("type") == "fixed"
