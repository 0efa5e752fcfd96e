"""Rules for the next state of a monitor after a result, or without one. Pure functions.

Missing data is never a success: only a successful check makes a monitor normal, and only a
successful check after an alerted failure makes it recovered.
"""

from typing import Literal

import msgspec

from belvedere.base.clock import MINUTE, Millis
from belvedere.monitors.model import MonitorState

Outcome = Literal["normal", "failure", "changed"]
FAILURE, RECOVERED = "failure", "recovered"
STOPPED, STARTED = "updates_stopped", "updates_started"
CHANGED, FLAPPING = "changed", "flapping"
FILE_CHANGED, FILE_RESTORED = "file:changed", "file:restored"

# A monitor is flapping after this number of changes between normal and failure in this period ...
FLAPPING_FLIPS = 6
FLAPPING_PERIOD: Millis = 30 * MINUTE
# ... until it has not changed for this time.
FLAPPING_CALM_TIME: Millis = 10 * MINUTE


class MonitorStatus(msgspec.Struct, frozen=True):
    """The status of a monitor. `is_failing`: a failure was alerted, its recovery was not."""

    state: MonitorState = MonitorState.UNKNOWN
    fails: int = 0
    is_failing: bool = False
    flips: tuple[Millis, ...] = ()
    is_flapping: bool = False


Transition = tuple[MonitorStatus, tuple[str, ...]]
replace = msgspec.structs.replace


def after_sample(status: MonitorStatus, outcome: Outcome, threshold: int, at: Millis) -> Transition:
    """The transition after a check with this outcome."""
    restart_names = (STARTED,) if status.state is MonitorState.UPDATES_STOPPED else ()
    if outcome == "failure":
        after = _after_failure(status, threshold)
    else:
        after = replace(status, state=MonitorState.NORMAL, fails=0)
    after, alert_names = _alert(_record_flip(status, after, at), threshold, at)
    return after, (*restart_names, *alert_names, *((CHANGED,) if outcome == "changed" else ()))


def _after_failure(status: MonitorStatus, threshold: int) -> MonitorStatus:
    fails = status.fails + 1
    # Only what worked at its last check stays normal below the threshold. What is new, was resumed
    # or had no results is down from its first failed check on; the alert waits for the threshold.
    is_up = status.state is MonitorState.NORMAL and fails < threshold and not status.is_failing
    state = MonitorState.NORMAL if is_up else MonitorState.FAILURE
    return replace(status, state=state, fails=fails)


def _record_flip(before: MonitorStatus, after: MonitorStatus, at: Millis) -> MonitorStatus:
    recent = tuple(flip_at for flip_at in after.flips if at - flip_at < FLAPPING_PERIOD)
    if {before.state, after.state} == {MonitorState.NORMAL, MonitorState.FAILURE}:
        recent = (*recent, at)[-FLAPPING_FLIPS:]
    return replace(after, flips=recent)


def _alert(status: MonitorStatus, threshold: int, at: Millis) -> Transition:
    """Add the names of events to alert; while a monitor is flapping, only that it is."""
    if status.is_flapping and (not status.flips or at - status.flips[-1] >= FLAPPING_CALM_TIME):
        status = replace(status, is_flapping=False, flips=())
    elif not status.is_flapping and len(status.flips) >= FLAPPING_FLIPS:
        return replace(status, is_flapping=True), (FLAPPING,)
    if status.is_flapping:
        return status, ()
    is_confirmed = status.state is MonitorState.FAILURE and status.fails >= threshold
    if is_confirmed and not status.is_failing:
        return replace(status, is_failing=True), (FAILURE,)
    if status.state is MonitorState.NORMAL and status.is_failing:
        return replace(status, is_failing=False), (RECOVERED,)
    return status, ()


def after_silence(status: MonitorStatus) -> Transition:
    """The transition if the agent is connected but the check reports nothing."""
    if status.state in (MonitorState.UPDATES_STOPPED, MonitorState.PAUSED):
        return status, ()
    return replace(status, state=MonitorState.UPDATES_STOPPED, fails=0), (STOPPED,)


def to_unknown(status: MonitorStatus) -> MonitorStatus:
    """The host is down, or the check was changed: the state is unknown, without an alert."""
    return (
        status
        if status.state is MonitorState.PAUSED
        else replace(status, state=MonitorState.UNKNOWN, fails=0)
    )


def after_excused_failure(status: MonitorStatus) -> MonitorStatus:
    """A failure during maintenance is ignored, but does not count as a success either."""
    return (
        replace(status, state=MonitorState.UNKNOWN, fails=0)
        if status.state is not MonitorState.FAILURE
        else status
    )


def to_paused(status: MonitorStatus) -> MonitorStatus:
    return replace(status, state=MonitorState.PAUSED, fails=0)


def to_resumed(status: MonitorStatus) -> MonitorStatus:
    return replace(status, state=MonitorState.UNKNOWN, fails=0)
