"""The tables of fields in interface.md: which fields a record must have, and of which type."""

import re
from collections.abc import Callable
from typing import Any

Kind = Callable[[Any], bool]


def string(value: Any) -> bool:
    return isinstance(value, str)


def boolean(value: Any) -> bool:
    return isinstance(value, bool)


def integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def array(value: Any) -> bool:
    return isinstance(value, list)


def anything(value: Any) -> bool:
    return True


def identifier(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{24}", value) is not None


def moment(value: Any) -> bool:
    """ISO 8601 UTC timestamp with milliseconds."""
    shape = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
    return isinstance(value, str) and re.fullmatch(shape, value) is not None


def of(table: "dict[str, Kind]") -> Kind:
    return lambda value: isinstance(value, dict) and missing(value, table) == []


def null_or(kind: Kind) -> Kind:
    return lambda value: value is None or kind(value)


def missing(record: dict[str, Any], table: "dict[str, Kind]") -> list[str]:
    """The fields that are missing, or not of the type in the table."""
    return [name for name, kind in table.items() if name not in record or not kind(record[name])]


TASK: dict[str, Kind] = {
    "id": identifier,
    "name": string,
    "hostname": string,
    "timeout": null_or(integer),
    "task_arguments": array,
    "output_parameters": array,
}
USER: dict[str, Kind] = {"id": string, "username": string, "email": string}
HOST: dict[str, Kind] = {
    **dict.fromkeys(("id", "_id", "customer_id"), identifier),
    **dict.fromkeys(("hostname", "ip", "os_name", "os_version", "agent_version"), string),
    "customer_name": string,
    "enable": boolean,
    "creation_date": moment,
    "last_update": moment,
    "integrations": of({}),
}
JOB: dict[str, Kind] = {
    **dict.fromkeys(
        ("id", "task_id", "host_id", "script_id", "customer_id", "user_id"), identifier
    ),
    **dict.fromkeys(("_type", "name", "script_runas", "lifecycle", "state", "origin"), string),
    "task": of({"id": identifier, "task_arguments": array, "output_parameters": array}),
    "task_arguments_values": array,
    "output": anything,
    "notify": boolean,
    "customer_name": string,
    "user": of(USER),
    "creation_date": moment,
    "last_update": moment,
}
CREATED: dict[str, Kind] = {**JOB, "host": of(HOST)}
RESULT: dict[str, Kind] = {
    "code": integer,
    "log": string,
    "lastline": string,
    "signal": null_or(string),
    "killed": boolean,
    "times": of({"seconds": integer, "nanoseconds": integer}),
}
ENDED: dict[str, Kind] = {**JOB, "host": identifier, "result": of(RESULT), "trigger_name": string}

MONITOR: dict[str, Kind] = {
    "id": identifier,
    "name": string,
    "type": string,
    "_type": string,
    "host_id": identifier,
    "url": string,
    "timeout": integer,
    "looptime": integer,
    "status_code": string,
    "resource": of({"state": string, "last_event": lambda value: isinstance(value, dict)}),
}
