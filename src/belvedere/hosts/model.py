"""Hosts: row, state and record."""

import re
from enum import StrEnum
from functools import cached_property
from typing import Any

import msgspec

from belvedere.base.clock import iso, iso_or_none
from belvedere.rest import text_fields

_decode_tags = msgspec.json.Decoder(list[str]).decode
# One segment of a path, because TheEye agents use it in their URLs.
_HOSTNAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")


class State(StrEnum):
    """The state of a host. Offline: its connection ended. Unreachable: it seems connected, but the
    server has not heard from its agent for too long."""

    ONLINE = "online"
    OFFLINE = "offline"
    UNREACHABLE = "unreachable"
    DISABLED = "disabled"
    DRAINING = "draining"


class HostRow(msgspec.Struct):
    """A row of `hosts`, in the order of the select."""

    id: str
    customer_id: str
    hostname: str
    enabled: int
    draining: int
    tags: str
    ip: str
    os_name: str
    os_version: str
    agent_version: str
    info: str
    fingerprint: str
    session: int
    slots: int
    connected_at: int | None
    seen_at: int | None
    gone_at: int | None
    version: int
    created_at: int
    updated_at: int
    disk_full_at: int | None = None
    disk_message: str = ""
    update_failed_at: int | None = None
    update_error: str = ""

    @property
    def is_live(self) -> bool:
        """Whether an agent is connected, as far as the server knows."""
        return self.connected_at is not None and self.gone_at is None

    @property
    def labels(self) -> list[str]:
        return _decode_tags(self.tags)

    @property
    def state(self) -> State:
        # The same rule as SQL is in hosts/store.py, for where[state]=.
        if not self.enabled:
            return State.DISABLED
        if self.connected_at is None:
            return State.OFFLINE
        if self.gone_at is not None:
            return State.UNREACHABLE
        return State.DRAINING if self.draining else State.ONLINE


class AgentHostRow(HostRow):
    """Also what is known of the journal of its agent."""

    journal_id: str = ""
    greeting: int = 0
    saved_greeting: int = 0
    keeper_id: str = ""
    accepted_fence: int = 0
    given_fence: int = 0
    restored_fence: int = 0
    restored_at: int | None = None
    compared_at: int | None = None
    doubted_at: int | None = None
    stale_hello_at: int | None = None


class HostRecord(msgspec.Struct):
    """A host as the interface shows it."""

    id: str
    also_id: str = msgspec.field(name="_id")
    kind: str = msgspec.field(name="_type")
    enable: bool
    disabled: bool
    draining: bool
    hostname: str
    state: str
    ip: str
    os_name: str
    os_version: str
    agent_version: str
    slots: int
    tags: list[str]
    last_seen: str | None
    version: int
    customer_name: str
    customer_id: str
    creation_date: str
    last_update: str
    integrations: dict[str, Any]
    # Since when the host gets no jobs because its disk is full, and the message of the agent.
    disk_full_since: str | None = None
    disk_message: str = ""
    # Since when the agent could not be updated, and why.
    update_failed_since: str | None = None
    update_error: str = ""


def hostname(text: str) -> str:
    """A valid hostname; it must be usable in a path."""
    name = text.strip()
    if not _HOSTNAME.fullmatch(name):
        message = (
            "Must have 1 to 253 letters, digits, '.', '_' or '-', and start with a letter or digit."
        )
        raise text_fields.invalid_field("hostname", message)
    return name


class HostView:
    """A host whose record is built when it is first needed."""

    def __init__(self, row: HostRow, customer_name: str) -> None:
        self.row = row
        self._customer_name = customer_name

    @cached_property
    def record(self) -> HostRecord:
        return to_record(self.row, self._customer_name)


def to_record(row: HostRow, customer_name: str) -> HostRecord:
    return HostRecord(
        id=row.id,
        also_id=row.id,
        kind="Host",
        enable=bool(row.enabled),
        disabled=not row.enabled,
        draining=bool(row.draining),
        hostname=row.hostname,
        state=row.state.value,
        ip=row.ip,
        os_name=row.os_name,
        os_version=row.os_version,
        agent_version=row.agent_version,
        slots=row.slots,
        tags=row.labels,
        last_seen=iso_or_none(row.seen_at),
        version=row.version,
        customer_name=customer_name,
        customer_id=row.customer_id,
        creation_date=iso(row.created_at),
        last_update=iso(row.updated_at),
        integrations={},
        disk_full_since=iso_or_none(row.disk_full_at),
        disk_message=row.disk_message,
        update_failed_since=iso_or_none(row.update_failed_at),
        update_error=row.update_error,
    )
