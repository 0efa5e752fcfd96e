"""Monitors as the API returns them: definition and status in one record."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.access import Acl, Actor
from belvedere.base.clock import iso, iso_or_none
from belvedere.monitors.config.redaction import may_hold_credentials, redact
from belvedere.monitors.model import KIND_NAMES
from belvedere.monitors.store import MonitorView
from belvedere.triggers.store import Trigger


class ResourceInMonitor(msgspec.Struct):
    """The status of the monitor."""

    id: str
    state: str
    last_event: dict[str, Any]
    fails_count: int


class MonitorInMonitor(msgspec.Struct):
    """The definition of the monitor, where clients of TheEye expect it."""

    id: str
    also_id: str = msgspec.field(name="_id")
    name: str
    type: str
    looptime: int
    host_id: str | None
    config: dict[str, Any]


class StartedByMonitor(msgspec.Struct, omit_defaults=True):
    """A task or workflow that an event of the monitor starts."""

    event_name: str
    task_id: str | UnsetType = UNSET
    workflow_id: str | UnsetType = UNSET


class MonitorRecord(msgspec.Struct, kw_only=True):
    """A monitor; fields that only some types have are left out for other types."""

    id: str
    also_id: str = msgspec.field(name="_id")
    kind: str = msgspec.field(name="_type")
    name: str
    type: str
    description: str
    host_id: str | None
    hostname: str
    looptime: int
    fail_threshold: int
    failure_severity: str
    config: dict[str, Any]
    enable: bool
    paused_until: str | None
    alerts: bool
    muted_until: str | None
    maintenance: list[dict[str, Any]]
    state: str
    state_since: str
    flapping: bool
    fails_count: int
    recovery_count: int
    last_event: dict[str, Any]
    last_check: str | None
    resource: ResourceInMonitor
    monitor: MonitorInMonitor
    resource_id: str
    monitor_id: str
    acl: list[str]
    # E-mail addresses in the ACL that no member has yet.
    acl_pending: list[str]
    # For managers and above.
    triggers: list[StartedByMonitor]
    tags: list[str]
    version: int
    user_id: str
    customer_id: str
    customer_name: str
    creation_date: str
    last_update: str
    timeout: int | UnsetType = UNSET
    url: str | UnsetType = UNSET
    status_code: str | UnsetType = UNSET
    pattern: str | UnsetType = UNSET
    method: str | UnsetType = UNSET
    monitors: list[str] | UnsetType = UNSET


class _TopFields(msgspec.Struct):
    """Configuration fields that are repeated at the top level of the record."""

    timeout: int | UnsetType = UNSET
    url: str | UnsetType = UNSET
    status_code: str | UnsetType = UNSET
    pattern: str | UnsetType = UNSET
    method: str | UnsetType = UNSET
    monitors: list[str] | UnsetType = UNSET


_KINDS = {type_.value: name for type_, name in KIND_NAMES.items()}
_decode_top_fields = msgspec.json.Decoder(_TopFields).decode


# Stands for a value of any type of JSON.
def _raw(text: str) -> Any:
    """JSON from the database is passed on unparsed: parsing costs too much in long lists."""
    return msgspec.Raw(text.encode())


def _redacted(text: str) -> tuple[Any, _TopFields]:
    """The configuration without credentials, and its fields for the top level of the record."""
    if not may_hold_credentials(text):
        return _raw(text), _decode_top_fields(text)
    config = redact(msgspec.json.decode(text))
    return config, msgspec.convert(config, _TopFields)


def to_record(row: MonitorView, acl: Acl, triggers: list[Trigger], actor: Actor) -> MonitorRecord:
    config, top = _redacted(row.config)
    last_event = _raw(row.last_event)
    return MonitorRecord(
        id=row.id,
        also_id=row.id,
        kind=_KINDS[row.type],
        name=row.name,
        type=row.type,
        description=row.description,
        host_id=row.host_id,
        hostname=row.hostname or "",
        looptime=row.looptime,
        fail_threshold=row.fail_threshold,
        failure_severity=row.severity,
        config=config,
        enable=bool(row.enabled),
        paused_until=iso_or_none(row.paused_until),
        alerts=bool(row.alerts),
        muted_until=iso_or_none(row.muted_until),
        maintenance=_raw(row.maintenance),
        state=row.state,
        state_since=iso(row.state_at),
        flapping=bool(row.is_flapping),
        fails_count=row.fails_count,
        recovery_count=row.recovery_count,
        last_event=last_event,
        last_check=iso_or_none(row.checked_at),
        resource=ResourceInMonitor(row.id, row.state, last_event, row.fails_count),
        monitor=MonitorInMonitor(
            row.id, row.id, row.name, row.type, row.looptime, row.host_id, config
        ),
        resource_id=row.id,
        monitor_id=row.id,
        # Others see only the entries that name themselves: addresses are for managers.
        acl=acl.entries
        if actor.sees_all
        else [entry for entry in acl.entries if entry in actor.entries],
        acl_pending=acl.pending if actor.sees_all else [],
        triggers=[_trigger_record(trigger) for trigger in triggers]
        if triggers and actor.sees_all
        else [],
        tags=_raw(row.tags),
        version=row.version,
        user_id=row.user_id,
        customer_id=row.customer_id,
        customer_name=actor.customer_name,
        creation_date=iso(row.created_at),
        last_update=iso(row.updated_at),
        timeout=top.timeout,
        url=top.url,
        status_code=top.status_code,
        pattern=top.pattern,
        method=top.method,
        monitors=top.monitors,
    )


def _trigger_record(trigger: Trigger) -> StartedByMonitor:
    if trigger.target == "task":
        return StartedByMonitor(trigger.event_name, task_id=trigger.target_id)
    return StartedByMonitor(trigger.event_name, workflow_id=trigger.target_id)
