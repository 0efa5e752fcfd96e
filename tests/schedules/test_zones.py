"""Clock changes: every time in many zones over years, against an independent implementation."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from belvedere.base.clock import DAY, HOUR, MINUTE, SECOND, iso, parse_iso
from belvedere.schedules.timing import recurrence, time_zones
from belvedere.schedules.timing.recurrence import Recurrence
from belvedere.schedules.timing.time_zones import Change
from schedules import oracle

# Each with the first of its two years. Lord Howe changes by half an hour, Apia skipped a day in
# 2011, Casablanca changes back for Ramadan, Troll by two hours.
ZONES = {
    "Europe/Berlin": 2026,
    "America/New_York": 2026,
    "America/St_Johns": 2026,
    "America/Sao_Paulo": 2016,
    "America/Havana": 2026,
    "Africa/Casablanca": 2024,
    "Africa/Cairo": 2023,
    "Asia/Kathmandu": 2026,
    "Asia/Tehran": 2020,
    "Australia/Lord_Howe": 2026,
    "Pacific/Apia": 2010,
    "Antarctica/Troll": 2026,
}
TEXTS = {
    "30 2 * * *": lambda at: (at.hour, at.minute) == (2, 30),
    "*/15 0-3 * * *": lambda at: at.hour <= 3,
    "0 0 * * *": lambda at: (at.hour, at.minute) == (0, 0),
    "15 23 * * sun": lambda at: (at.isoweekday(), at.hour, at.minute) == (7, 23, 15),
    "45 23 30 12 *": lambda at: (at.month, at.day, at.hour, at.minute) == (12, 30, 23, 45),
}


def of(text: str, zone: str) -> Recurrence:
    return recurrence.read(None, text, time_zones.zone(zone), 0)


def fires(text: str, zone: str, begin: str, count: int) -> list[tuple[str, Change | None]]:
    actual_fires = of(text, zone).fires(parse_iso(begin))
    return [
        (iso(fire.at), fire.change) for fire, _ in zip(actual_fires, range(count), strict=False)
    ]


@pytest.mark.parametrize("name", ZONES)
def test_runs_in_every_zone_equal_those_of_the_oracle(name: str) -> None:
    """Two years of this zone: the same instants as the oracle, none twice, none missing."""
    zone, year = ZoneInfo(name), ZONES[name]
    begin, end = datetime(year, 1, 1), datetime(year + 2, 1, 1)
    walked = list(oracle.walk(zone, begin, end))
    begin_at, end_at = parse_iso(begin.isoformat()), parse_iso(end.isoformat())
    for text, fits in TEXTS.items():
        items = []
        for fire in of(text, name).fires(begin_at):
            if fire.at > end_at:
                break
            items.append(fire.at // SECOND)
        assert items == oracle.fires(walked, fits), text


def test_a_time_in_the_gap_runs_at_the_first_instant_after_it() -> None:
    assert fires("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2) == [
        ("2026-03-29T01:00:00.000Z", Change.MOVED),
        ("2026-03-30T00:30:00.000Z", None),
    ]
    # All of them at once, together with the run that is scheduled for that instant anyway.
    assert fires("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:30:00Z", 3) == [
        ("2026-03-29T01:00:00.000Z", Change.MOVED),
        ("2026-03-29T01:30:00.000Z", None),
        ("2026-03-29T02:00:00.000Z", None),
    ]
    meant = of("30 2 * * *", "Europe/Berlin").after(parse_iso("2026-03-28T12:00:00Z"))
    assert meant is not None and meant.meant == "2026-03-29T02:30:00"


def test_a_repeated_time_runs_once_at_the_first() -> None:
    assert fires("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2) == [
        ("2026-10-25T00:30:00.000Z", Change.REPEATED),
        ("2026-10-26T01:30:00.000Z", None),
    ]
    # Also if it is computed within the second hour.
    assert fires("30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", 1) == [
        ("2026-10-26T01:30:00.000Z", None)
    ]


def test_a_missing_day_runs_at_the_first_instant_of_the_next_day() -> None:
    assert fires("45 23 30 12 *", "Pacific/Apia", "2011-12-29T00:00:00Z", 1) == [
        ("2011-12-30T10:00:00.000Z", Change.MOVED)
    ]


def test_an_interval_ignores_clock_changes() -> None:
    begin = parse_iso("2026-10-24T22:10:00Z")
    actual_fires = recurrence.read(
        None, "every 45 min", time_zones.zone("Europe/Berlin"), begin
    ).fires(begin)
    assert [
        (fire.at - begin) // MINUTE for fire, _ in zip(actual_fires, range(4), strict=False)
    ] == [
        45,
        90,
        135,
        180,
    ]


def test_a_date_runs_first_and_once() -> None:
    date = parse_iso("2026-03-01T09:13:00Z")
    berlin = time_zones.zone("Europe/Berlin")
    assert [fire.at for fire in recurrence.read(date, None, berlin, 0).fires(0)] == [date]
    both = recurrence.read(date, "0 9 * * *", berlin, 0).fires(0)
    first, second = (fire.at for fire, _ in zip(both, range(2), strict=False))
    assert (first, second) == (date, parse_iso("2026-03-02T08:00:00Z"))
    every = recurrence.read(date, "2h", berlin, 0).fires(date - DAY)
    assert [fire.at - date for fire, _ in zip(every, range(3), strict=False)] == [
        0,
        2 * HOUR,
        4 * HOUR,
    ]


@pytest.mark.parametrize(
    "name",
    ["", "Mars/Phobos", "Europe", "../etc/passwd", "/etc/localtime", "localtime", "right/UTC"]
    + ["Europe/Berlin\0", "zone.tab", "a" * 300, "Europe//Berlin", "tzdata.zi"],
)
def test_an_invalid_zone_is_refused(name: str) -> None:
    with pytest.raises(ValueError):
        time_zones.zone(name)


@pytest.mark.parametrize("text", ["0s", "every 367 days", "every 9999999 s", "every", "-5m"])
def test_an_invalid_interval_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        recurrence.read(None, text, time_zones.zone("UTC"), 0)
