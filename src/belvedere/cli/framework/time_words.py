"""Times and durations as users write and read them."""

import re
from datetime import UTC, datetime, timedelta

from belvedere.cli.framework.command import CommandError

UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
UNITS_S = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def duration_ms(text: str) -> int:
    """30s, 10m, 2h, 1d, 500ms; a bare number counts as seconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", text.strip().lower())
    if not match or (match[2] or "s") not in UNITS_MS:
        raise CommandError(f"{text!r} is not a duration; use for example 30s, 10m, 2h or 1d.", 2)
    return round(float(match[1]) * UNITS_MS[match[2] or "s"])


def span(seconds: float) -> str:
    """A duration in its largest fitting unit: 45 s, 12 min, 3 h, 9 d."""
    if 0 < seconds < 1:
        return f"{seconds * 1_000:.0f} ms"
    if seconds < 10:
        return f"{round(seconds, 1):g} s"
    for size, unit in UNITS_S:
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    raise AssertionError("the last step is one second")


def from_now(text: str, *, back: bool = False) -> str:
    """The time after (or before) now by this duration, in ISO 8601."""
    span = timedelta(milliseconds=duration_ms(text))
    now = datetime.now(UTC)
    return (now - span if back else now + span).isoformat(timespec="milliseconds")


def _moment(iso: str) -> datetime:
    moment = datetime.fromisoformat(iso)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def age(iso: str | None, now: datetime | None = None) -> str:
    """How long ago, or how far ahead."""
    if not iso:
        return "never"
    seconds = ((now or datetime.now(UTC)) - _moment(iso)).total_seconds()
    # Clocks of two machines differ a little: a moment just ahead has just happened.
    if abs(seconds) < 1:
        return "now"
    duration = span(float(round(abs(seconds))))
    return f"in {duration}" if seconds < 0 else duration


def local(iso: str | None) -> str:
    """The time in the user's time zone."""
    return _moment(iso).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z") if iso else ""


def when(iso: str | None) -> str:
    """The time with its age, for the page of a record."""
    if not iso:
        return ""
    text = age(iso)
    is_past = text != "now" and not text.startswith("in ")
    return f"{local(iso)} ({text} ago)" if is_past else f"{local(iso)} ({text})"


def pause_end(iso: str | None, ending: str = "resumed") -> str:
    """When a pause ends: at a time, or when a person ends it."""
    return f"until {local(iso)}" if iso else f"until it is {ending}"
