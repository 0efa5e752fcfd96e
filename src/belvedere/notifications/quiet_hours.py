"""Quiet hours: from one time of the day to another, in a time zone. Pure."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from belvedere.base.clock import SECOND, Millis
from belvedere.notifications.model import QuietHours
from belvedere.rest import text_fields

_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
DAY_MINUTES = 24 * 60


def parse_minute(field: str, text: str) -> int:
    match = _TIME.fullmatch(text)
    if match is None:
        raise text_fields.invalid_field(field, "Enter a time of day such as 22:00.")
    return int(match[1]) * 60 + int(match[2])


def format_minute(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def parse_zone(field: str, name: str) -> str:
    try:
        return ZoneInfo(name).key
    except (ValueError, OSError, KeyError):
        raise text_fields.invalid_field(
            field, "Enter the name of a time zone such as Europe/Berlin."
        ) from None


def quiet_until(quiet: QuietHours, now: Millis) -> Millis | None:
    """The end of the quiet hours that `now` falls into; None outside quiet hours."""
    local = datetime.fromtimestamp(now / SECOND, ZoneInfo(quiet.zone))
    since = (local.hour * 60 + local.minute - quiet.start) % DAY_MINUTES
    if since >= (quiet.end - quiet.start) % DAY_MINUTES:
        return None
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    end = midnight + timedelta(minutes=quiet.end)
    if quiet.end <= local.hour * 60 + local.minute:
        end += timedelta(days=1)
    # The end is a wall-clock time, even if the offset from UTC changes in between.
    over = end.replace(tzinfo=ZoneInfo(quiet.zone)).astimezone(UTC)
    return max(now, round(over.timestamp() * SECOND))
