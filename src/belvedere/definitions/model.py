"""Definitions, and their records."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from belvedere.base.clock import Millis, iso
from belvedere.hosts.managed_objects import Instance


class DefinitionKind(StrEnum):
    TASK = "task"
    MONITOR = "monitor"


class DefinitionRow(msgspec.Struct):
    """A row of `definitions`, in the order of the select."""

    id: str
    customer_id: str
    kind: str
    host_tag: str
    name: str
    # The body as JSON; it refers to a script by id.
    body: str
    version: int
    created_at: Millis
    updated_at: Millis

    @property
    def definition(self) -> dict[str, Any]:
        fields: dict[str, Any] = msgspec.json.decode(self.body)
        return fields


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


class DefinitionView(msgspec.Struct):
    """A definition with what it has created, and the names of those hosts."""

    row: DefinitionRow
    body: dict[str, Any]
    instances: Mapping[str, Instance]
    hostnames: Mapping[str, str]


def to_record(view: DefinitionView, customer_name: str) -> DefinitionRecord:
    row = view.row
    return DefinitionRecord(
        id=row.id,
        type_="Definition",
        kind=row.kind,
        host_tag=row.host_tag,
        name=row.name,
        definition=view.body,
        instances=[
            InstanceRecord(instance.object_id, host_id, view.hostnames.get(host_id, ""))
            for host_id, instance in view.instances.items()
        ],
        version=row.version,
        customer_id=row.customer_id,
        customer_name=customer_name,
        creation_date=iso(row.created_at),
        last_update=iso(row.updated_at),
    )
