"""A schedule as it is sent, and what is refused about it."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from belvedere.base.clock import DAY, SECOND, Millis
from belvedere.rest import text_fields
from belvedere.rest.text_fields import bad
from belvedere.schedules.model import GRACE, Missed, Overlap, ScheduleRow
from belvedere.schedules.timing import time_zones

FAR: Millis = 50 * 366 * DAY
MAX_ARGUMENTS = 1 << 20


class When(msgspec.Struct):
    """The original's three words for it; `scheduleData` of old clients holds the same."""

    runDate: str | int | None | UnsetType = UNSET
    repeatEvery: str | None | UnsetType = UNSET
    timezone: str | None = None


class ScheduleBody(When):
    """A schedule, or any part of it: a date, a cron text or an interval, in a time zone."""

    name: str | None = None
    task_arguments: list[Any] | None | UnsetType = UNSET
    overlap: Overlap | None = None
    missed: Missed | None = None
    enable: bool | None = None
    scheduleData: When | None = None


class PreviewBody(msgspec.Struct, forbid_unknown_fields=True):
    """When something would run; how many of its instants are wanted."""

    runDate: str | int | None | UnsetType = UNSET
    repeatEvery: str | None | UnsetType = UNSET
    timezone: str | None = None
    count: int = 10


class PauseBody(msgspec.Struct, forbid_unknown_fields=True):
    """Until when (null: until somebody resumes it), and why."""

    until: str | None = None
    note: str = ""


def write_when(row: ScheduleRow, body: Any, now: Millis) -> None:
    """When it runs, as far as the body says it; what is not said stays."""
    before = (row.run_date, row.repeat_every, row.timezone)
    for said in (getattr(body, "scheduleData", None), body):
        if said is None:
            continue
        if said.timezone is not None:
            row.timezone = _timezone(said.timezone)
        if said.repeatEvery is not UNSET:
            row.repeat_every = (said.repeatEvery or "").strip() or None
        if said.runDate is not UNSET:
            row.run_date = None if said.runDate in (None, "") else _date(row, said.runDate)
    if row.run_date is None and row.repeat_every is None:
        raise bad("repeatEvery", "Give a runDate, or a repeatEvery, or both.")
    if (row.run_date, row.repeat_every, row.timezone) != before:
        _check_when(row, before[0], now)


def _check_when(row: ScheduleRow, old_date: Millis | None, now: Millis) -> None:
    if row.run_date is not None and row.run_date != old_date:
        if row.run_date < now - GRACE:
            raise bad("runDate", "This lies in the past.")
        if row.run_date > now + FAR:
            raise bad("runDate", "This lies more than 50 years ahead.")
    row.anchor_at, row.counted_from = now, None
    try:
        found = row.rhythm.after(now - 1)
    except ValueError as fault:
        raise bad("repeatEvery", f"This is neither a cron text nor an interval: {fault}.") from None
    if found is None and row.repeat_every is not None:
        raise bad("repeatEvery", "This never happens.")


def _timezone(name: str) -> str:
    try:
        time_zones.zone(name)
    except ValueError:
        message = "There is no such time zone; give an IANA name such as Europe/Berlin."
        raise bad("timezone", message) from None
    return name


def _date(row: ScheduleRow, said: str | int) -> Millis:
    """ISO 8601, or milliseconds; a time without a zone is one of the schedule's own."""
    if isinstance(said, int):
        # Whatever cannot be a date is refused with its own words a little later.
        return max(0, min(said, 1 << 52))
    if said.isdecimal() and 11 <= len(said) <= 14:
        return int(said)
    try:
        moment = datetime.fromisoformat(said)
        if moment.tzinfo is None:
            return time_zones.instant(moment.replace(microsecond=0), time_zones.zone(row.timezone))[
                0
            ]
        return round(moment.timestamp() * SECOND)
    except (ValueError, OverflowError, OSError):
        raise bad("runDate", "Give a date such as 2026-03-01T09:00:00Z.") from None


def until(said: str | None, now: Millis) -> Millis | None:
    if said is None:
        return None
    try:
        moment = datetime.fromisoformat(said)
        found = round(moment.timestamp() * SECOND) if moment.tzinfo else None
    except (ValueError, OverflowError, OSError):
        found = None
    if found is None or not now < found <= now + FAR:
        raise bad("until", "Give a moment ahead, with its zone, such as 2026-03-01T09:00:00Z.")
    return found


def write_rest(row: ScheduleRow, body: ScheduleBody) -> None:
    """Everything but when it runs and with what."""
    if body.name is not None:
        row.name = text_fields.line("name", body.name, least=1)
    if body.overlap is not None:
        row.overlap = body.overlap.value
    if body.missed is not None:
        row.missed = body.missed.value
    if body.enable is not None:
        row.enabled = int(body.enable)


def arguments(given: list[Any] | None) -> str:
    try:
        found = msgspec.json.encode(given).decode()
    except (UnicodeEncodeError, ValueError, OverflowError):
        raise bad("task_arguments", "They hold what is no text.") from None
    if len(found) > MAX_ARGUMENTS:
        raise bad("task_arguments", f"They have more than {MAX_ARGUMENTS} bytes.")
    return found
