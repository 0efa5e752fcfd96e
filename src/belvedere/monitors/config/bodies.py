"""Request bodies of monitors, and the columns and configuration that they set."""

import posixpath
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.clock import Millis, range_text
from belvedere.base.errors import Fault, Invalid
from belvedere.monitors.config import maintenance as windows
from belvedere.monitors.config.kinds import DEFAULT_MODE, MONITOR_KINDS
from belvedere.monitors.config.maintenance import MaintenanceWindow
from belvedere.monitors.config.validation import invalid_fields, validate
from belvedere.monitors.model import (
    FAIL_THRESHOLD,
    KIND_NAMES,
    LOOPTIME,
    MAX_FAIL_THRESHOLD,
    MAX_LOOPTIME,
    MIN_LOOPTIME,
    SERVICE_TYPES,
    MonitorSeverity,
    MonitorType,
)
from belvedere.rest import text_fields


class MonitorHostBody(msgspec.Struct):
    """The host of a monitor, in the form of a record."""

    id: str | None = None


class MemberBody(msgspec.Struct):
    """A member of a nested monitor, in the form that TheEye uses."""

    id: str | None = None
    also_id: str | None = msgspec.field(name="_id", default=None)


class StoredFileBody(msgspec.Struct):
    """A stored file, in the form that TheEye uses."""

    id: str | None = None


class MonitorBody(msgspec.Struct, kw_only=True):
    """A monitor, or some of its fields. Null means that a field is left out."""

    name: str | None = None
    type: str | None = None
    kind: str | None = msgspec.field(name="_type", default=None)
    host_id: str | None = None
    host: str | MonitorHostBody | None = None
    hostname: str | None = None
    looptime: Millis | None = None
    fail_threshold: int | None = None
    failure_severity: str | None = None
    description: str | None = None
    tags: list[str] | None = None
    acl: list[str] | None = None
    enable: bool | None = None
    alerts: bool | None = None
    maintenance: list[MaintenanceWindow] | None = None
    # The configuration of the type, in this object or in the fields below.
    config: dict[str, Any] | None = None
    timeout: Millis | None = None
    url: str | None = None
    status_code: str | int | None = None
    pattern: str | None = None
    json_path: str | None = None
    json_value: str | int | float | bool | None | UnsetType = UNSET
    max_ms: int | None = None
    method: str | None = None
    headers: dict[str, str] | None = None
    body: str | None = None
    gzip: bool | None = None
    json: bool | None = None
    parser: str | None = None
    cpu: float | None = None
    mem: float | None = None
    cache: float | None = None
    disk: float | None = None
    raw_search: str | None = None
    is_regexp: bool | None = None
    least: int | None = None
    most: int | None | UnsetType = UNSET
    path: str | None = None
    # Together the path, for clients of TheEye that do not send it.
    dirname: str | None = None
    basename: str | None = None
    # The stored file that is maintained at the path; empty: none.
    file: str | StoredFileBody | None = None
    permissions: str | None = None
    os_username: str | None = None
    os_groupname: str | None = None
    script_id: str | None = None
    script_arguments: list[str] | None = None
    script_runas: str | None = None
    monitors: list[str | MemberBody] | None = None
    target: str | None = None
    port: int | None = None
    record: str | None = None
    address: str | None = None
    days: int | None = None
    grace: Millis | None = None


def type_of(body: MonitorBody) -> MonitorType:
    """The type from `type`, or from `_type` of clients of TheEye."""
    by_kind = {name.lower(): type_ for type_, name in KIND_NAMES.items()}
    word = (body.type or "").lower()
    monitor_type = (
        MonitorType(word) if word in set(MonitorType) else by_kind.get((body.kind or "").lower())
    )
    if monitor_type is None or (word and word not in set(MonitorType)):
        raise invalid_fields([Fault("type", f"Must be one of {', '.join(MonitorType)}.")])
    return monitor_type


def _within(field: str, number: int, least: int, most: int) -> int:
    if not least <= number <= most:
        raise text_fields.invalid_field(field, f"Must be {least} to {most}.")
    return number


def _looptime(duration: Millis) -> Millis:
    if not MIN_LOOPTIME <= duration <= MAX_LOOPTIME:
        bounds = range_text(MIN_LOOPTIME, MAX_LOOPTIME)
        raise text_fields.invalid_field("looptime", f"Must be {bounds}.")
    return duration


def _severity(word: str) -> str:
    if word.upper() not in set(MonitorSeverity):
        raise text_fields.invalid_field(
            "failure_severity", f"Must be one of {', '.join(MonitorSeverity)}."
        )
    return word.upper()


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


# Field of the body -> column, and the function that makes the value of the column.
FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "name": ("name", lambda text: text_fields.line("name", text, least=1)),
    "looptime": ("looptime", _looptime),
    "fail_threshold": (
        "fail_threshold",
        lambda n: _within("fail_threshold", n, 1, MAX_FAIL_THRESHOLD),
    ),
    "failure_severity": ("severity", _severity),
    "description": ("description", lambda text: text_fields.prose("description", text)),
    "tags": ("tags", lambda tags: _json(text_fields.tags("tags", tags))),
    "alerts": ("alerts", int),
    "maintenance": ("maintenance", lambda values: _json(windows.validate_windows(values))),
}


def defaults(type_: MonitorType) -> dict[str, Any]:
    """Values of columns that a new or replaced definition does not set."""
    severity = MonitorSeverity.HIGH if type_ in SERVICE_TYPES else MonitorSeverity.LOW
    return {
        "looptime": LOOPTIME,
        "fail_threshold": FAIL_THRESHOLD,
        "severity": severity.value,
        "description": "",
        "tags": "[]",
        "alerts": 1,
        "maintenance": "[]",
    }


def columns_in(body: MonitorBody) -> dict[str, Any]:
    """The columns that the body sets; raises Invalid with every wrong field."""
    columns: dict[str, Any] = {}
    faults: list[Fault] = []
    for field, (column, check) in FIELDS.items():
        value = getattr(body, field)
        if value is None:
            continue
        try:
            columns[column] = check(value)
        except Invalid as error:
            faults += error.faults
    if faults:
        raise invalid_fields(faults)
    return columns


def config_in(type_: MonitorType, body: MonitorBody, old: dict[str, Any]) -> dict[str, Any]:
    """The complete configuration: the old values, overwritten by those of the body."""
    values = {**old, **(body.config or {})}
    for field in MONITOR_KINDS[type_].config.__struct_fields__:
        value = getattr(body, field, None)
        if value is not UNSET and (value is not None or field in ("json_value", "most")):
            values[field] = value
    if type_ is MonitorType.DSTAT:
        percentages = {name: getattr(body, name) for name in ("cpu", "mem", "cache", "disk")}
        limits = {name: number for name, number in percentages.items() if number is not None}
        values["limit"] = {**(_dict(values.get("limit"))), **limits}
    if type_ is MonitorType.SCRAPER:
        _normalize_scraper(values)
    if type_ is MonitorType.FILE:
        _normalize_file(values, body)
    if type_ is MonitorType.NESTED:
        members = values.get("monitors") or []
        values["monitors"] = [_member(member) for member in members]
    return validate(type_, values)


def _normalize_scraper(values: dict[str, Any]) -> None:
    """Clients send the status as a number, and JSON values of any type."""
    if "status_code" in values and isinstance(values["status_code"], int):
        values["status_code"] = str(values["status_code"])
    value = values.get("json_value")
    if value is not None and not isinstance(value, str):
        values["json_value"] = _json(value)
    if isinstance(values.get("method"), str):
        values["method"] = values["method"].upper()


def _normalize_file(values: dict[str, Any], body: MonitorBody) -> None:
    """A maintained file always has a mode: TheEye agents would choose one themselves."""
    file = values.get("file")
    if isinstance(file, StoredFileBody):
        values["file"] = file.id or ""
    elif isinstance(file, dict):
        values["file"] = file.get("id") or ""
    fields = {**(body.config or {}), **_set_fields(body, ("path", "dirname", "basename"))}
    if not fields.get("path") and (fields.get("dirname") or fields.get("basename")):
        folder, name = posixpath.split(str(values.get("path") or ""))
        values["path"] = posixpath.join(
            str(fields.get("dirname") or folder), str(fields.get("basename") or name)
        )
    if values.get("file") and not values.get("permissions"):
        values["permissions"] = DEFAULT_MODE


def _set_fields(body: MonitorBody, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(body, name)) is not None}


def _member(member: object) -> object:
    if isinstance(member, MemberBody):
        return member.id or member.also_id or ""
    return (member.get("id") or member.get("_id") or "") if isinstance(member, dict) else member


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
