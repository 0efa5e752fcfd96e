"""Cron expressions and the local times that match them. `time_zones` handles the zones."""

import re
from bisect import bisect_left
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

MAX_TEXT_LENGTH = 256
# A 29 February on a certain weekday recurs after at most 40 years.
MAX_SEARCH = timedelta(days=41 * 366)
ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    low: int
    high: int
    words: Sequence[str] = ()


_SECOND = _Field("second", 0, 59)
_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    # Sunday is 0 and 7.
    _Field("day of the week", 0, 7, _WEEKDAYS),
)


class BadCron(ValueError):
    """Names the invalid field."""


@dataclass(frozen=True, slots=True)
class Cron:
    """The values that match, each list sorted."""

    seconds: list[int]
    minutes: list[int]
    hours: list[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    # If both kinds of days are restricted, one match is enough, as in every cron.
    either: bool

    def fits(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        of_month, of_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return of_month or of_week if self.either else of_month and of_week

    def after(self, label: datetime) -> datetime | None:
        """The first matching local time after this one, None if there is none."""
        start = label.replace(microsecond=0) + timedelta(seconds=1)
        if self.fits(start.date()):
            first_time = self._time_from(start.hour, start.minute, start.second)
            if first_time is not None:
                return datetime.combine(start.date(), first_time)
        first = time(self.hours[0], self.minutes[0], self.seconds[0])
        later = next(self._days_after(start.date()), None)
        return None if later is None else datetime.combine(later, first)

    def _days_after(self, day: date) -> Iterator[date]:
        """Days that match. Other months and days are skipped without a check, so that a date that
        occurs every 28 years is found in a few hundred steps."""
        months = sorted(self.months)
        days = range(1, 32) if self.either else sorted(self.days)
        last = day + MAX_SEARCH
        for year in range(day.year, last.year + 1):
            for month in months:
                for number in days if (year, month) >= (day.year, day.month) else ():
                    if number > monthrange(year, month)[1]:
                        break
                    candidate = date(year, month, number)
                    if day < candidate <= last and self.fits(candidate):
                        yield candidate

    def _time_from(self, hour: int, minute: int, second: int) -> time | None:
        """The first matching time of a day that is not before this one."""
        if hour in self.hours:
            if minute in self.minutes and second <= self.seconds[-1]:
                at = bisect_left(self.seconds, second)
                return time(hour, minute, self.seconds[at])
            if minute < self.minutes[-1]:
                at = bisect_left(self.minutes, minute + 1)
                return time(hour, self.minutes[at], self.seconds[0])
        if hour < self.hours[-1]:
            at = bisect_left(self.hours, hour + 1)
            return time(self.hours[at], self.minutes[0], self.seconds[0])
        return None


def parse(text: str) -> Cron:
    """Five fields, or six with the seconds first; names, lists, ranges and steps."""
    words = ALIASES.get(text.strip().lower(), text).split()
    if len(text) > MAX_TEXT_LENGTH or len(words) not in (5, 6):
        raise BadCron("it has five fields, or six with the seconds first, such as 30 2 * * mon-fri")
    second = words.pop(0) if len(words) == 6 else "0"
    minute, hour, day, month, weekday = words
    return Cron(
        seconds=sorted(_values(second, _SECOND)),
        minutes=sorted(_values(minute, _FIELDS[0])),
        hours=sorted(_values(hour, _FIELDS[1])),
        days=frozenset(_values(day, _FIELDS[2])),
        months=frozenset(_values(month, _FIELDS[3])),
        weekdays=frozenset(value % 7 for value in _values(weekday, _FIELDS[4])),
        either=day[0] not in "*?" and weekday[0] not in "*?",
    )


def _values(text: str, field: _Field) -> set[int]:
    values: set[int] = set()
    for part in text.lower().split(","):
        values |= set(_range(part, field))
    return values


def _range(part: str, field: _Field) -> range:
    span, slash, step = part.partition("/")
    low, dash, high = span.partition("-")
    if span in ("*", "?"):
        first, last = field.low, field.high
    else:
        first = _number(low, field, part)
        # `5/10` means every ten, starting at five.
        last = _number(high, field, part) if dash else field.high if slash else first
    every = int(step) if re.fullmatch("[0-9]{1,4}", step) else 0 if slash else 1
    if first > last or every < 1:
        raise _invalid(part, field)
    return range(first, last + 1, every)


def _number(word: str, field: _Field, part: str) -> int:
    if word in field.words:
        return list(field.words).index(word) + field.low
    number = int(word) if re.fullmatch("[0-9]{1,4}", word) else -1
    if not field.low <= number <= field.high:
        raise _invalid(part, field)
    return number


def _invalid(part: str, field: _Field) -> BadCron:
    return BadCron(f"{part!r} is not a valid {field.name} ({field.low} to {field.high})")
