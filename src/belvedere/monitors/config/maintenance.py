"""Maintenance: times in which misses count for nothing. Once, or every week."""

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


class Window(msgspec.Struct, omit_defaults=True):
    """Either once, `start` to `end`; or on these `days` at `at` for so many `minutes`, by the
    clock of `timezone`."""

    start: str = ""
    end: str = ""
    days: list[str] = []
    at: str = ""
    minutes: int = 0
    timezone: str = "UTC"


def checked(given: Sequence[Window]) -> list[Window]:
    if len(given) > MAX_WINDOWS:
        raise text_fields.bad("maintenance", f"Give at most {MAX_WINDOWS}.")
    for n, window in enumerate(given):
        fault = _once_fault(window) if window.start or window.end else _weekly_fault(window)
        if fault:
            raise text_fields.bad(f"maintenance[{n}]", fault)
    return list(given)


def _once_fault(window: Window) -> str:
    try:
        is_good = parse_iso(window.start) < parse_iso(window.end)
    except (ValueError, OverflowError):
        is_good = False
    if is_good and not window.days and not window.at:
        return ""
    return "Give start and end as times such as 2026-01-31T08:00:00.000Z, the end later."


def _weekly_fault(window: Window) -> str:
    if not 1 <= len(window.days) <= len(DAYS) or not set(window.days) <= set(DAYS):
        return f"Give days out of {', '.join(DAYS)}, or a start and an end."
    if not re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9]", window.at):
        return "Give at as a time of day such as 22:30."
    if not 0 < window.minutes <= MAX_MINUTES:
        return f"Give 1 to {MAX_MINUTES} minutes."
    try:
        ZoneInfo(window.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return f"There is no time zone {window.timezone[:40]!r}."
    return ""


def is_open(maintenance: str, at: Millis) -> bool:
    """Whether one of these windows (as JSON) is open at that moment."""
    if maintenance == "[]":
        return False
    found = msgspec.json.decode(maintenance, type=list[Window])
    return any(_holds(window, at) for window in found)


def _holds(window: Window, at: Millis) -> bool:
    if window.start:
        return parse_iso(window.start) <= at < parse_iso(window.end)
    zone = ZoneInfo(window.timezone)
    now = datetime.fromtimestamp(at / 1_000, UTC)
    hour, minute = map(int, window.at.split(":"))
    # One that began up to a week ago may still be open.
    for back in range(window.minutes // (24 * 60) + 2):
        day = now.astimezone(zone) - timedelta(days=back)
        begin = day.replace(hour=hour, minute=minute, second=0, microsecond=0)
        if DAYS[begin.weekday()] not in window.days:
            continue
        begun = round(begin.timestamp() * 1_000)
        if begun <= at < begun + window.minutes * MINUTE:
            return True
    return False
