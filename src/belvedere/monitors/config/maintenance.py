"""Maintenance windows, once or weekly: failed checks inside a window are ignored."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from belvedere.base.clock import MINUTE, Millis, parse_iso
from belvedere.rest import text_fields

MAX_WINDOWS = 20
MAX_MINUTES = 7 * 24 * 60
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class MaintenanceWindow(msgspec.Struct, omit_defaults=True):
    """Either once, from `start` to `end`; or weekly on `days` at the time `at` of `timezone`, for
    this number of `minutes`."""

    start: str = ""
    end: str = ""
    days: list[str] = []
    at: str = ""
    minutes: int = 0
    timezone: str = "UTC"


def validate_windows(windows: Sequence[MaintenanceWindow]) -> list[MaintenanceWindow]:
    if len(windows) > MAX_WINDOWS:
        raise text_fields.invalid_field(
            "maintenance", f"At most {MAX_WINDOWS} windows are allowed."
        )
    for n, window in enumerate(windows):
        fault = _once_fault(window) if window.start or window.end else _weekly_fault(window)
        if fault:
            raise text_fields.invalid_field(f"maintenance[{n}]", fault)
    return list(windows)


def _once_fault(window: MaintenanceWindow) -> str:
    try:
        is_good = parse_iso(window.start) < parse_iso(window.end)
    except (ValueError, OverflowError):
        is_good = False
    if is_good and not window.days and not window.at:
        return ""
    return "start and end must be times, start before end, such as 2026-01-31T08:00:00.000Z."


def _weekly_fault(window: MaintenanceWindow) -> str:
    if not 1 <= len(window.days) <= len(DAYS) or not set(window.days) <= set(DAYS):
        return f"Set days ({', '.join(DAYS)}), or start and end."
    if not re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9]", window.at):
        return "at must be a time of day such as 22:30."
    if not 0 < window.minutes <= MAX_MINUTES:
        return f"Must be 1 to {MAX_MINUTES} minutes."
    try:
        ZoneInfo(window.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return f"Unknown time zone {window.timezone[:40]!r}."
    return ""


def is_open(maintenance: str, at: Millis) -> bool:
    """Whether one of the windows (JSON) is open at that time."""
    if maintenance == "[]":
        return False
    windows = msgspec.json.decode(maintenance, type=list[MaintenanceWindow])
    return any(_covers(window, at) for window in windows)


def _covers(window: MaintenanceWindow, moment: Millis) -> bool:
    if window.start:
        return parse_iso(window.start) <= moment < parse_iso(window.end)
    zone = ZoneInfo(window.timezone)
    now = datetime.fromtimestamp(moment / 1_000, UTC)
    hour, minute = map(int, window.at.split(":"))
    # A window that began up to a week ago may still be open.
    for days_ago in range(window.minutes // (24 * 60) + 2):
        day = now.astimezone(zone) - timedelta(days=days_ago)
        begin = day.replace(hour=hour, minute=minute, second=0, microsecond=0)
        if DAYS[begin.weekday()] not in window.days:
            continue
        begin_ms = round(begin.timestamp() * 1_000)
        if begin_ms <= moment < begin_ms + window.minutes * MINUTE:
            return True
    return False
