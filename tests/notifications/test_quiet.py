"""Quiet hours, over midnight and over clock changes."""

import pytest

from belvedere.base.clock import iso, parse_iso
from belvedere.base.errors import Invalid
from belvedere.notifications import quiet_hours
from belvedere.notifications.model import QuietHours


def until(start: str, end: str, now: str, zone: str = "UTC") -> str | None:
    hours = QuietHours(
        quiet_hours.parse_minute("from", start), quiet_hours.parse_minute("to", end), zone
    )
    over = quiet_hours.quiet_until(hours, parse_iso(now))
    return None if over is None else iso(over)


@pytest.mark.parametrize(
    ("start", "end", "now", "over"),
    [
        ("22:00", "07:00", "2026-03-01T21:59:59.999Z", None),
        ("22:00", "07:00", "2026-03-01T22:00:00.000Z", "2026-03-02T07:00:00.000Z"),
        ("22:00", "07:00", "2026-03-02T00:00:00.000Z", "2026-03-02T07:00:00.000Z"),
        ("22:00", "07:00", "2026-03-02T06:59:59.999Z", "2026-03-02T07:00:00.000Z"),
        ("22:00", "07:00", "2026-03-02T07:00:00.000Z", None),
        ("12:00", "13:30", "2026-03-02T12:45:00.000Z", "2026-03-02T13:30:00.000Z"),
        ("12:00", "13:30", "2026-03-02T13:30:00.000Z", None),
        ("00:00", "23:59", "2026-12-31T10:00:00.000Z", "2026-12-31T23:59:00.000Z"),
        ("23:00", "00:00", "2026-12-31T23:30:00.000Z", "2027-01-01T00:00:00.000Z"),
    ],
)
def test_quiet_hours_end_at_their_time(start: str, end: str, now: str, over: str | None) -> None:
    assert until(start, end, now) == over


@pytest.mark.parametrize(
    ("now", "over"),
    [
        # Nights of the ordinary length, in winter and summer.
        ("2026-01-10T22:00:00.000Z", "2026-01-11T06:00:00.000Z"),
        ("2026-07-10T22:00:00.000Z", "2026-07-11T05:00:00.000Z"),
        # The nights in which the clocks change: they end at the local time of the rule.
        ("2026-03-28T22:00:00.000Z", "2026-03-29T05:00:00.000Z"),
        ("2026-10-24T22:00:00.000Z", "2026-10-25T06:00:00.000Z"),
    ],
)
def test_the_wall_clock_counts(now: str, over: str) -> None:
    assert until("22:00", "07:00", now, "Europe/Berlin") == over


@pytest.mark.parametrize("text", ["", "7:00", "24:00", "12:60", "12:00:00", "noon", "１２:00"])
def test_an_invalid_time_of_quiet_hours_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="time of day"):
        quiet_hours.parse_minute("quiet.from", text)
