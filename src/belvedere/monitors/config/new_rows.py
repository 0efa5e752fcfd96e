"""The row of a monitor that has no result yet."""

from belvedere.base.clock import Millis
from belvedere.base.ids import new_id
from belvedere.monitors.config import bodies
from belvedere.monitors.model import MonitorRow, MonitorState, MonitorType


def new_row(customer_id: str, type_: MonitorType, host_id: str | None, now: Millis) -> MonitorRow:
    """A monitor without a result so far."""
    row = MonitorRow(
        id=new_id(),
        customer_id=customer_id,
        name="",
        type=type_.value,
        host_id=host_id,
        config="{}",
        config_version=1,
        enabled=1,
        paused_until=None,
        muted_until=None,
        state=MonitorState.UNKNOWN.value,
        state_at=now,
        fails_count=0,
        recovery_count=0,
        is_failing=0,
        flips="[]",
        is_flapping=0,
        last_event="{}",
        checked_at=None,
        due_at=None,
        user_id="",
        version=1,
        created_at=now,
        updated_at=now,
        **bodies.defaults(type_),
    )
    if type_ is MonitorType.NESTED:
        # Its members have already waited for their own thresholds.
        row.fail_threshold = 1
    return row
