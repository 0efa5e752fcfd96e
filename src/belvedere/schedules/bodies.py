"""A schedule as clients send it, and its validation."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.clock import DAY, SECOND, Millis
from belvedere.rest import text_fields
from belvedere.rest.text_fields import invalid_field
from belvedere.schedules.model import GRACE, Missed, Overlap, ScheduleRow
from belvedere.schedules.timing import time_zones

MAX_FUTURE: Millis = 50 * 366 * DAY
MAX_ARGUMENT_BYTES = 1 << 20


class When(msgspec.Struct):
    """TheEye's three fields; `scheduleData` of its clients has the same."""

    runDate: str | int | None | UnsetType = UNSET
    repeatEvery: str | None | UnsetType = UNSET
    timezone: str | None = None


class ScheduleBody(When):
    """A schedule, or any part of it: a date, a cron expression or an interval, in a time zone."""

    name: str | None = None
    task_arguments: list[Any] | None | UnsetType = UNSET
    overlap: Overlap | None = None
    missed: Missed | None = None
    enable: bool | None = None
    scheduleData: When | None = None


class PreviewBody(msgspec.Struct, forbid_unknown_fields=True):
    """When something would run, and how many runs to show."""

    runDate: str | int | None | UnsetType = UNSET
    repeatEvery: str | None | UnsetType = UNSET
    timezone: str | None = None
    count: int = 10


class PauseBody(msgspec.Struct, forbid_unknown_fields=True):
    """Until when (null: until it is resumed), and why."""

    until: str | None = None
    note: str = ""


def write_when(row: ScheduleRow, body: ScheduleBody | PreviewBody, now: Millis) -> None:
    """Set when it runs, from the fields in the body; other fields keep their values."""
    before = (row.run_date, row.repeat_every, row.timezone)
    for source in (getattr(body, "scheduleData", None), body):
        if source is None:
            continue
        if source.timezone is not None:
            row.timezone = _timezone(source.timezone)
        if source.repeatEvery is not UNSET:
            row.repeat_every = (source.repeatEvery or "").strip() or None
        if source.runDate is not UNSET:
            row.run_date = None if source.runDate in (None, "") else _date(row, source.runDate)
    if row.run_date is None and row.repeat_every is None:
        raise invalid_field("repeatEvery", "Set runDate, repeatEvery or both.")
    if (row.run_date, row.repeat_every, row.timezone) != before:
        _check_when(row, before[0], now)


def _check_when(row: ScheduleRow, old_date: Millis | None, now: Millis) -> None:
    if row.run_date is not None and row.run_date != old_date:
        if row.run_date < now - GRACE:
            raise invalid_field("runDate", "This date is in the past.")
        if row.run_date > now + MAX_FUTURE:
            raise invalid_field("runDate", "This date is more than 50 years in the future.")
    row.anchor_at, row.counted_from = now, None
    try:
        first_run = row.recurrence.after(now - 1)
    except ValueError as fault:
        raise invalid_field(
            "repeatEvery", f"This is neither a cron expression nor an interval: {fault}."
        ) from None
    if first_run is None and row.repeat_every is not None:
        raise invalid_field("repeatEvery", "No date matches this.")


def _timezone(name: str) -> str:
    try:
        time_zones.zone(name)
    except ValueError:
        message = "Unknown time zone; use an IANA name such as Europe/Berlin."
        raise invalid_field("timezone", message) from None
    return name


def _date(row: ScheduleRow, text: str | int) -> Millis:
    """ISO 8601, or milliseconds; a time without an offset is in the schedule's time zone."""
    if isinstance(text, int):
        # A value out of range is refused later, with a message of its own.
        return max(0, min(text, 1 << 52))
    if text.isdecimal() and 11 <= len(text) <= 14:
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return time_zones.instant(moment.replace(microsecond=0), time_zones.zone(row.timezone))[
                0
            ]
        return round(moment.timestamp() * SECOND)
    except (ValueError, OverflowError, OSError):
        raise invalid_field("runDate", "Must be a date such as 2026-03-01T09:00:00Z.") from None


def until(text: str | None, now: Millis) -> Millis | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        until_at = round(moment.timestamp() * SECOND) if moment.tzinfo else None
    except (ValueError, OverflowError, OSError):
        until_at = None
    if until_at is None or not now < until_at <= now + MAX_FUTURE:
        raise invalid_field(
            "until", "Must be a time in the future with its offset, such as 2026-03-01T09:00:00Z."
        )
    return until_at


def write_rest(row: ScheduleRow, body: ScheduleBody) -> None:
    """Set everything except when it runs and its arguments."""
    if body.name is not None:
        row.name = text_fields.line("name", body.name, least=1)
    if body.overlap is not None:
        row.overlap = body.overlap.value
    if body.missed is not None:
        row.missed = body.missed.value
    if body.enable is not None:
        row.enabled = int(body.enable)


def arguments(values: list[Any] | None) -> str:
    try:
        text = msgspec.json.encode(values).decode()
    except (UnicodeEncodeError, ValueError, OverflowError):
        raise invalid_field("task_arguments", "The arguments contain invalid characters.") from None
    if len(text) > MAX_ARGUMENT_BYTES:
        raise invalid_field(
            "task_arguments", f"The arguments have more than {MAX_ARGUMENT_BYTES} bytes."
        )
    return text
