"""An indicator as the interface shows it."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.access import Actor
from belvedere.base.clock import Millis, iso
from belvedere.indicators.history import Point
from belvedere.indicators.model import KIND_NAMES, LARGE
from belvedere.indicators.queries import Shown
from belvedere.indicators.values.chart import Chart
from belvedere.triggers.store import Trigger

_tags = msgspec.json.Decoder(list[str]).decode


class TriggerRecord(msgspec.Struct):
    """What one of its events starts."""

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
    value: str | int | float | Chart
    # The value in one line.
    gist: str | int | float
    severity: str
    acl: list[str]
    read_only: bool
    description: str
    enable: bool
    alerts: bool
    sticky: bool
    tags: list[str]
    order: int
    width: int
    height: int
    # Milliseconds of silence after which it is stale.
    ttl: Millis | None
    stale: bool
    last_push: str
    # A link shows it to anybody.
    public: bool
    triggers: list[TriggerRecord]
    version: int
    customer_id: str
    customer_name: str
    user_id: str
    creation_date: str
    last_update: str


class PointRecord(msgspec.Struct):
    """A value at a moment."""

    date: str
    value: str | int | float
    state: str


def record(shown: Shown, actor: Actor) -> IndicatorRecord:
    return _record(shown, actor.customer_name, sees_all=actor.sees_all)


def records(found: Sequence[Shown], actor: Actor) -> list[IndicatorRecord]:
    # Who asks is looked at once: a dashboard reads thousands.
    name, sees_all = actor.customer_name, actor.sees_all
    return [_record(shown, name, sees_all=sees_all) for shown in found]


def _record(shown: Shown, customer_name: str, *, sees_all: bool) -> IndicatorRecord:
    row = shown.row
    updated, value = iso(row.updated_at), row.value
    return IndicatorRecord(
        row.id,
        row.title,
        row.title,
        row.type,
        KIND_NAMES[row.type],
        row.state,
        value,
        value if not isinstance(value, Chart) and row.type not in LARGE else row.gist,
        row.severity,
        shown.acl if sees_all else [],
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
        row.is_stale(shown.now),
        updated if row.pushed_at == row.updated_at else iso(row.pushed_at),
        row.public_digest is not None,
        [_trigger(one) for one in shown.triggers] if sees_all else [],
        row.version,
        row.customer_id,
        customer_name,
        row.user_id,
        iso(row.created_at),
        updated,
    )


def _trigger(one: Trigger) -> TriggerRecord:
    if one.target == "task":
        return TriggerRecord(one.event_name, task_id=one.target_id)
    return TriggerRecord(one.event_name, workflow_id=one.target_id)


def point(found: Point) -> PointRecord:
    return PointRecord(iso(found.at), found.value, found.state)
