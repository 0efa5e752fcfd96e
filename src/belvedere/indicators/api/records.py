"""Indicators as the API returns them."""

from collections.abc import Sequence
from typing import Any, cast

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.access import Actor
from belvedere.base.clock import Millis, iso
from belvedere.indicators.history import ValuePoint
from belvedere.indicators.model import KIND_NAMES, LARGE_TYPES
from belvedere.indicators.queries import IndicatorView
from belvedere.triggers.store import Trigger

_tags = msgspec.json.Decoder(list[str]).decode


class TriggerRecord(msgspec.Struct):
    """A task or workflow that an event of the indicator starts."""

    event_name: str
    task_id: str | UnsetType = UNSET
    workflow_id: str | UnsetType = UNSET


class IndicatorRecord(msgspec.Struct, gc=False):
    id: str
    title: str
    name: str
    type: str
    kind: str = msgspec.field(name="_type")
    state: str
    # An object is a chart: ours has series, others are in Plotly's format.
    value: str | int | float | dict[str, Any]
    # The value in one line.
    gist: str | int | float
    severity: str
    acl: list[str]
    # E-mail addresses in the ACL that no member has yet.
    acl_pending: list[str]
    read_only: bool
    description: str
    enable: bool
    alerts: bool
    sticky: bool
    tags: list[str]
    order: int
    width: int
    height: int
    # Milliseconds without a push after which the indicator is stale.
    ttl: Millis | None
    stale: bool
    last_push: str
    # There is a public link to its badge.
    public: bool
    triggers: list[TriggerRecord]
    version: int
    customer_id: str
    customer_name: str
    user_id: str
    creation_date: str
    last_update: str


class PointRecord(msgspec.Struct):
    """A value with its time."""

    date: str
    value: str | int | float
    state: str


def to_record(view: IndicatorView, actor: Actor) -> IndicatorRecord:
    return _record(view, actor.customer_name, sees_all=actor.sees_all)


def to_records(views: Sequence[IndicatorView], actor: Actor) -> list[IndicatorRecord]:
    # The actor is evaluated once: a dashboard reads thousands of records.
    name, sees_all = actor.customer_name, actor.sees_all
    return [_record(view, name, sees_all=sees_all) for view in views]


def _record(view: IndicatorView, customer_name: str, *, sees_all: bool) -> IndicatorRecord:
    row = view.row
    updated, value = iso(row.updated_at), row.value
    return IndicatorRecord(
        row.id,
        row.title,
        row.title,
        row.type,
        KIND_NAMES[row.type],
        row.state,
        cast(Any, value),
        row.summary if isinstance(value, msgspec.Raw) or row.type in LARGE_TYPES else value,
        row.severity,
        view.acl.entries if sees_all else [],
        view.acl.pending if sees_all else [],
        bool(row.read_only),
        row.description,
        bool(row.enabled),
        bool(row.alerts),
        bool(row.sticky),
        [] if row.tags == "[]" else _tags(row.tags),
        row.place,
        row.width,
        row.height,
        row.ttl,
        row.is_stale(view.now),
        updated if row.pushed_at == row.updated_at else iso(row.pushed_at),
        row.public_digest is not None,
        [_trigger(trigger) for trigger in view.triggers] if sees_all else [],
        row.version,
        row.customer_id,
        customer_name,
        row.user_id,
        iso(row.created_at),
        updated,
    )


def _trigger(trigger: Trigger) -> TriggerRecord:
    if trigger.target == "task":
        return TriggerRecord(trigger.event_name, task_id=trigger.target_id)
    return TriggerRecord(trigger.event_name, workflow_id=trigger.target_id)


def to_point_record(point: ValuePoint) -> PointRecord:
    return PointRecord(iso(point.at), point.value, point.state)
