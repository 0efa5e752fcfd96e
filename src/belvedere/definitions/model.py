"""What a definition is, and how it is shown."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from belvedere.base.clock import Millis, iso
from belvedere.hosts.managed_objects import Instance


class Kind(StrEnum):
    TASK = "task"
    MONITOR = "monitor"


class DefinitionRow(msgspec.Struct):
    """A row of `definitions`, in the order of the select."""

    id: str
    customer_id: str
    kind: str
    host_tag: str
    name: str
    # What was given, as JSON; a script stands in it by its id.
    body: str
    version: int
    created_at: Millis
    updated_at: Millis

    @property
    def given(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(self.body)
        return found


class InstanceRecord(msgspec.Struct):
    """The task or monitor on one host."""

    id: str
    host_id: str
    hostname: str


class DefinitionRecord(msgspec.Struct):
    id: str
    type_: str = msgspec.field(name="_type")
    kind: str
    host_tag: str
    name: str
    definition: dict[str, Any]
    instances: list[InstanceRecord]
    version: int
    customer_id: str
    customer_name: str
    creation_date: str
    last_update: str


class Shown(msgspec.Struct):
    """A definition with what it has made, and the names of those hosts."""

    row: DefinitionRow
    body: dict[str, Any]
    instances: Mapping[str, Instance]
    hostnames: Mapping[str, str]


def record(shown: Shown, customer_name: str) -> DefinitionRecord:
    row = shown.row
    return DefinitionRecord(
        id=row.id,
        type_="Definition",
        kind=row.kind,
        host_tag=row.host_tag,
        name=row.name,
        definition=shown.body,
        instances=[
            InstanceRecord(one.object_id, host_id, shown.hostnames.get(host_id, ""))
            for host_id, one in shown.instances.items()
        ],
        version=row.version,
        customer_id=row.customer_id,
        customer_name=customer_name,
        creation_date=iso(row.created_at),
        last_update=iso(row.updated_at),
    )
