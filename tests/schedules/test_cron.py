"""Cron expressions."""

from datetime import datetime, timedelta

import pytest

from belvedere.schedules.timing import cron
from belvedere.schedules.timing.cron import BadCron

START = datetime(2026, 3, 1)


def first_times(text: str, count: int = 3, start: datetime = START) -> list[str]:
    items, at = [], start
    read = cron.parse(text)
    for _ in range(count):
        after = read.after(at)
        assert after is not None
        at = after
        items.append(at.isoformat(sep=" "))
    return items


def test_a_daily_expression_runs_every_day() -> None:
    assert first_times("30 2 * * *") == [
        "2026-03-01 02:30:00",
        "2026-03-02 02:30:00",
        "2026-03-03 02:30:00",
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("*/20 * * * *", ["2026-03-01 00:20:00", "2026-03-01 00:40:00", "2026-03-01 01:00:00"]),
        ("*/30 * * * * *", ["2026-03-01 00:00:30", "2026-03-01 00:01:00", "2026-03-01 00:01:30"]),
        ("15,45 8-9 * * *", ["2026-03-01 08:15:00", "2026-03-01 08:45:00", "2026-03-01 09:15:00"]),
        ("0 0 29 feb *", ["2028-02-29 00:00:00", "2032-02-29 00:00:00", "2036-02-29 00:00:00"]),
        ("0 12 * * MON-Fri", ["2026-03-02 12:00:00", "2026-03-03 12:00:00", "2026-03-04 12:00:00"]),
        ("0 0 * * 7", ["2026-03-08 00:00:00", "2026-03-15 00:00:00", "2026-03-22 00:00:00"]),
        # Either kind of day is enough when both are given: the 2nd is a Monday, the 3rd is a 3rd.
        ("0 0 3 * 1", ["2026-03-02 00:00:00", "2026-03-03 00:00:00", "2026-03-09 00:00:00"]),
        # A star restricts nothing, also with a step: the 9th is the first Monday with an odd day.
        ("0 0 */2 * 1", ["2026-03-09 00:00:00", "2026-03-23 00:00:00", "2026-04-13 00:00:00"]),
        ("5/25 0 1 * ?", ["2026-03-01 00:05:00", "2026-03-01 00:30:00", "2026-03-01 00:55:00"]),
        ("@weekly", ["2026-03-08 00:00:00", "2026-03-15 00:00:00", "2026-03-22 00:00:00"]),
    ],
)
def test_texts(text: str, wanted: list[str]) -> None:
    assert first_times(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "* * * *",
        "* * * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "*/0 * * * *",
        "5-1 * * * *",
        "a * * * *",
        "1, * * * *",
        "-1 * * * *",
        "1-2-3 * * * *",
        "٣ * * * *",
        "* * * * mon#2",
        "* * L * *",
        "@reboot",
        "*/99999999999999999999 * * * *",
        "1,2 " * 200,
    ],
)
def test_invalid_input_is_refused(text: str) -> None:
    with pytest.raises(BadCron):
        cron.parse(text)


def test_an_expression_that_never_matches_is_detected() -> None:
    assert cron.parse("0 0 30 feb *").after(START) is None


@pytest.mark.parametrize(
    "text", ["7 3 * * *", "*/7 */5 */9 * 2", "11 1,13 31 * *", "* 5 1-7 */3 0"]
)
def test_the_next_run_is_the_first_matching_minute(text: str) -> None:
    minute, hour, day, month, weekday = text.split()

    def fits(at: datetime) -> bool:
        days = field_matches(day, at.day, 1), field_matches(weekday, at.isoweekday() % 7, 0)
        both = "*" not in (day[0], weekday[0])
        return (
            field_matches(minute, at.minute, 0)
            and field_matches(hour, at.hour, 0)
            and field_matches(month, at.month, 1)
            and (any(days) if both else all(days))
        )

    def field_matches(field: str, value: int, low: int) -> bool:
        span, _, step = field.partition("/")
        if span == "*":
            return (value - low) % int(step or 1) == 0
        for part in span.split(","):
            begin, _, end = part.partition("-")
            if int(begin) <= value <= int(end or begin):
                return True
        return False

    minutes = (START + timedelta(minutes=n) for n in range(1, 60 * 24 * 120))
    tried = [at.isoformat(sep=" ") for at in minutes if fits(at)]
    assert len(tried) > 2
    assert first_times(text, len(tried)) == tried
