"""Quiet hours: from one time of the day to another, in some zone of the world. Pure."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from belvedere.base.clock import SECOND, Millis
from belvedere.notifications.model import Quiet
from belvedere.rest import text_fields

_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
DAY_MINUTES = 24 * 60


def minute(field: str, text: str) -> int:
    found = _TIME.fullmatch(text)
    if found is None:
        raise text_fields.bad(field, "Give a time of the day such as 22:00.")
    return int(found[1]) * 60 + int(found[2])


def shown(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def zone(field: str, name: str) -> str:
    try:
        return ZoneInfo(name).key
    except (ValueError, OSError, KeyError):
        raise text_fields.bad(
            field, "Give the name of a time zone such as Europe/Berlin."
        ) from None


def until(quiet: Quiet, now: Millis) -> Millis | None:
    """When the quiet that reigns now is over; None when there is none."""
    local = datetime.fromtimestamp(now / SECOND, ZoneInfo(quiet.zone))
    since = (local.hour * 60 + local.minute - quiet.start) % DAY_MINUTES
    if since >= (quiet.end - quiet.start) % DAY_MINUTES:
        return None
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    end = midnight + timedelta(minutes=quiet.end)
    if quiet.end <= local.hour * 60 + local.minute:
        end += timedelta(days=1)
    # The wall clock says when it is over, however the clocks change in between.
    over = end.replace(tzinfo=ZoneInfo(quiet.zone)).astimezone(UTC)
    return max(now, round(over.timestamp() * SECOND))
