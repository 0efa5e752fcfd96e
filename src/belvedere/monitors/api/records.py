"""A monitor as the interface shows it: what is checked and what was seen, in one record."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.access import Actor
from belvedere.base.clock import iso, iso_or_none
from belvedere.monitors.config.secrecy import may_hide, shown_config
from belvedere.monitors.model import KIND_NAMES
from belvedere.monitors.store import MonitorView
from belvedere.triggers.store import Trigger


class ResourceInMonitor(msgspec.Struct):
    """What was seen."""

    id: str
    state: str
    last_event: dict[str, Any]
    fails_count: int


class MonitorInMonitor(msgspec.Struct):
    """What is checked, where clients of the original look for it."""

    id: str
    also_id: str = msgspec.field(name="_id")
    name: str
    type: str
    looptime: int
    host_id: str | None
    config: dict[str, Any]


class StartedByMonitor(msgspec.Struct, omit_defaults=True):
    """What an event of the monitor starts."""

    event_name: str
    task_id: str | UnsetType = UNSET
    workflow_id: str | UnsetType = UNSET


class MonitorRecord(msgspec.Struct, kw_only=True):
    """A monitor; the fields of a web check only for one."""

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


class _AtTop(msgspec.Struct):
    """What of a configuration stands in the record itself too."""

    timeout: int | UnsetType = UNSET
    url: str | UnsetType = UNSET
    status_code: str | UnsetType = UNSET
    pattern: str | UnsetType = UNSET
    method: str | UnsetType = UNSET
    monitors: list[str] | UnsetType = UNSET


_KINDS = {type_.value: name for type_, name in KIND_NAMES.items()}
_at_top = msgspec.json.Decoder(_AtTop).decode


def _raw(text: str) -> Any:
    """JSON from the database goes on as it is: a list of thousands must not read it all."""
    return msgspec.Raw(text.encode())


def _shown(text: str) -> tuple[Any, _AtTop]:
    """The configuration without credentials, and what of it stands at the top."""
    if not may_hide(text):
        return _raw(text), _at_top(text)
    config = shown_config(msgspec.json.decode(text))
    return config, msgspec.convert(config, _AtTop)


def record(
    row: MonitorView, acl: list[str], triggers: list[Trigger], actor: Actor
) -> MonitorRecord:
    config, top = _shown(row.config)
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
        acl=acl,
        triggers=[_started(one) for one in triggers] if triggers and actor.sees_all else [],
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


def _started(one: Trigger) -> StartedByMonitor:
    if one.target == "task":
        return StartedByMonitor(one.event_name, task_id=one.target_id)
    return StartedByMonitor(one.event_name, workflow_id=one.target_id)
