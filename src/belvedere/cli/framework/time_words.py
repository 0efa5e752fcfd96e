"""Times and durations as people write and read them."""

import re
from datetime import UTC, datetime, timedelta

from belvedere.cli.framework.command import Stop

UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
STEPS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def duration_ms(text: str) -> int:
    """30s, 10m, 2h, 1d, 500ms; a bare number counts as seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", text.strip().lower())
    if not found or (found[2] or "s") not in UNITS_MS:
        raise Stop(f"{text!r} is no duration; write it like 30s, 10m, 2h or 1d.", 2)
    return round(float(found[1]) * UNITS_MS[found[2] or "s"])


def span(seconds: float) -> str:
    """A duration in its largest fitting unit: 45 s, 12 min, 3 h, 9 d."""
    if 0 < seconds < 1:
        return f"{seconds * 1_000:.0f} ms"
    if seconds < 10:
        return f"{round(seconds, 1):g} s"
    for size, unit in STEPS:
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    raise AssertionError("the last step is one second")


def from_now(text: str, *, back: bool = False) -> str:
    """The moment that lies so far ahead, or so far back, as the server reads it."""
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
    # Two machines' clocks differ a little; a moment just ahead has just happened.
    if abs(seconds) < 1:
        return "now"
    told = span(float(round(abs(seconds))))
    return f"in {told}" if seconds < 0 else told


def local(iso: str | None) -> str:
    """The moment in the reader's own zone."""
    return _moment(iso).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z") if iso else ""


def when(iso: str | None) -> str:
    """The moment with its age, for one record's page."""
    if not iso:
        return ""
    told = age(iso)
    return f"{local(iso)} ({told if told == 'now' or told.startswith('in ') else f'{told} ago'})"
