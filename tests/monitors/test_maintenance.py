"""Maintenance windows: once and every week, in a time zone."""

import pytest

from belvedere.base.clock import parse_iso
from belvedere.base.errors import Invalid
from belvedere.monitors.config import maintenance
from belvedere.monitors.config.maintenance import MaintenanceWindow

ONCE = '[{"start":"2026-02-01T20:00:00Z","end":"2026-02-01T22:00:00Z"}]'
# Saturday 23:30 for two hours, in Berlin.
WEEKLY = '[{"days":["sat"],"at":"23:30","minutes":120,"timezone":"Europe/Berlin"}]'


@pytest.mark.parametrize(
    ("window", "at", "is_open"),
    [
        (ONCE, "2026-02-01T19:59:59Z", False),
        (ONCE, "2026-02-01T20:00:00Z", True),
        (ONCE, "2026-02-01T22:00:00Z", False),
        (WEEKLY, "2026-01-31T22:29:59Z", False),
        (WEEKLY, "2026-01-31T22:30:00Z", True),
        (WEEKLY, "2026-02-01T00:29:00Z", True),
        (WEEKLY, "2026-02-01T00:30:00Z", False),
        # In summer Berlin is two hours ahead.
        (WEEKLY, "2026-07-04T21:30:00Z", True),
        (WEEKLY, "2026-07-03T21:30:00Z", False),
        ("[]", "2026-07-03T21:30:00Z", False),
    ],
)
def test_a_maintenance_window_is_open_at_its_times(window: str, at: str, is_open: bool) -> None:
    assert maintenance.is_open(window, parse_iso(at)) is is_open


def test_a_long_maintenance_window_extends_over_days() -> None:
    long = '[{"days":["fri"],"at":"18:00","minutes":3600}]'
    assert maintenance.is_open(long, parse_iso("2026-02-01T23:00:00Z"))
    assert not maintenance.is_open(long, parse_iso("2026-02-02T07:00:00Z"))


@pytest.mark.parametrize(
    "window",
    [
        MaintenanceWindow(),
        MaintenanceWindow(start="2026-02-01T20:00:00Z"),
        MaintenanceWindow(start="2026-02-01T20:00:00Z", end="2026-02-01T20:00:00Z"),
        MaintenanceWindow(start="yesterday", end="today"),
        MaintenanceWindow(days=["sat"], at="24:00", minutes=5),
        MaintenanceWindow(days=["sat"], at="12:00"),
        MaintenanceWindow(days=["sat"], at="12:00", minutes=20_000),
        MaintenanceWindow(days=["sat"], at="12:00", minutes=5, timezone="Moon/Sea"),
        MaintenanceWindow(days=["sat"], at="12:00", minutes=5, timezone="../etc/passwd"),
        MaintenanceWindow(days=["day"], at="12:00", minutes=5),
        MaintenanceWindow(start="2026-02-01T20:00:00Z", end="2026-02-01T22:00:00Z", days=["sat"]),
    ],
)
def test_an_invalid_maintenance_window_is_refused(window: MaintenanceWindow) -> None:
    with pytest.raises(Invalid):
        maintenance.validate_windows([window])
