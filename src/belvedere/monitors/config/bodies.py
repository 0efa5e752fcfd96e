"""A monitor as it is sent: any of its fields, checked one by one."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.clock import Millis
from belvedere.base.errors import Fault, Invalid
from belvedere.monitors.config import maintenance as windows
from belvedere.monitors.config.maintenance import Window
from belvedere.monitors.config.types import CONFIGS
from belvedere.monitors.config.validation import checked, refusal
from belvedere.monitors.model import (
    FAIL_THRESHOLD,
    KIND_NAMES,
    LOOPTIME,
    MAX_FAIL_THRESHOLD,
    MAX_LOOPTIME,
    MIN_LOOPTIME,
    Severity,
    Type,
)
from belvedere.rest import text_fields


class HostBody(msgspec.Struct):
    """A host inside a monitor, as records show it."""

    id: str | None = None


class MemberBody(msgspec.Struct):
    """A member of a nested monitor, as the original writes it."""

    id: str | None = None
    also_id: str | None = msgspec.field(name="_id", default=None)


class MonitorBody(msgspec.Struct, kw_only=True):
    """A monitor, or any part of it. What is null is as if it were left out."""

    name: str | None = None
    type: str | None = None
    kind: str | None = msgspec.field(name="_type", default=None)
    host_id: str | None = None
    host: str | HostBody | None = None
    hostname: str | None = None
    looptime: Millis | None = None
    fail_threshold: int | None = None
    failure_severity: str | None = None
    description: str | None = None
    tags: list[str] | None = None
    acl: list[str] | None = None
    enable: bool | None = None
    alerts: bool | None = None
    maintenance: list[Window] | None = None
    # What the type needs, here or below.
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


def type_of(body: MonitorBody) -> Type:
    """From `type`, or from the `_type` of an old client."""
    by_kind = {name.lower(): type_ for type_, name in KIND_NAMES.items()}
    word = (body.type or "").lower()
    found = Type(word) if word in set(Type) else by_kind.get((body.kind or "").lower())
    if found is None or (word and word not in set(Type)):
        raise refusal([Fault("type", f"Give one of {', '.join(Type)}.")])
    return found


def _within(field: str, number: int, least: int, most: int) -> int:
    if not least <= number <= most:
        raise text_fields.bad(field, f"Give {least} to {most}.")
    return number


def _severity(word: str) -> str:
    if word.upper() not in set(Severity):
        raise text_fields.bad("failure_severity", f"Give one of {', '.join(Severity)}.")
    return word.upper()


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


# Field of the body -> column, and what the column keeps.
FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "name": ("name", lambda text: text_fields.line("name", text, least=1)),
    "looptime": ("looptime", lambda n: _within("looptime", n, MIN_LOOPTIME, MAX_LOOPTIME)),
    "fail_threshold": (
        "fail_threshold",
        lambda n: _within("fail_threshold", n, 1, MAX_FAIL_THRESHOLD),
    ),
    "failure_severity": ("severity", _severity),
    "description": ("description", lambda text: text_fields.prose("description", text)),
    "tags": ("tags", lambda tags: _json(text_fields.tags("tags", tags))),
    "alerts": ("alerts", int),
    "maintenance": ("maintenance", lambda given: _json(windows.checked(given))),
}
# What a replacement starts from.
DEFAULTS: dict[str, Any] = {
    "looptime": LOOPTIME,
    "fail_threshold": FAIL_THRESHOLD,
    "severity": Severity.LOW.value,
    "description": "",
    "tags": "[]",
    "alerts": 1,
    "maintenance": "[]",
}


def columns_in(body: MonitorBody) -> dict[str, Any]:
    """The columns that the body sets; Invalid names every field that is wrong."""
    found: dict[str, Any] = {}
    faults: list[Fault] = []
    for field, (column, check) in FIELDS.items():
        given = getattr(body, field)
        if given is None:
            continue
        try:
            found[column] = check(given)
        except Invalid as refused:
            faults += refused.faults
    if faults:
        raise refusal(faults)
    return found


def config_in(type_: Type, body: MonitorBody, old: dict[str, Any]) -> dict[str, Any]:
    """The whole configuration: what the body says over what there was."""
    values = {**old, **(body.config or {})}
    for field in CONFIGS[type_].__struct_fields__:
        given = getattr(body, field, None)
        if given is not UNSET and (given is not None or field in ("json_value", "most")):
            values[field] = given
    if type_ is Type.DSTAT:
        said = {name: getattr(body, name) for name in ("cpu", "mem", "cache", "disk")}
        limits = {name: number for name, number in said.items() if number is not None}
        values["limit"] = {**(_dict(values.get("limit"))), **limits}
    if type_ is Type.SCRAPER:
        _spell(values)
    if type_ is Type.NESTED:
        members = values.get("monitors") or []
        values["monitors"] = [_member(one) for one in members]
    return checked(type_, values)


def _spell(values: dict[str, Any]) -> None:
    """Clients send a status as a number, and compare with values of any kind."""
    if "status_code" in values and isinstance(values["status_code"], int):
        values["status_code"] = str(values["status_code"])
    value = values.get("json_value")
    if value is not None and not isinstance(value, str):
        values["json_value"] = _json(value)
    if isinstance(values.get("method"), str):
        values["method"] = values["method"].upper()


def _member(one: Any) -> Any:
    if isinstance(one, MemberBody):
        return one.id or one.also_id or ""
    return (one.get("id") or one.get("_id") or "") if isinstance(one, dict) else one


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
