"""Times and durations."""

from datetime import UTC, datetime

import pytest

from belvedere.cli.framework import time_words
from belvedere.cli.framework.command import CommandError

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "millis"),
    [("30s", 30_000), ("1.5h", 5_400_000), ("10", 10_000), ("250ms", 250), ("2 d", 172_800_000)],
)
def test_a_duration_is_parsed(text: str, millis: int) -> None:
    assert time_words.duration_ms(text) == millis


@pytest.mark.parametrize("text", ["", "soon", "10x", "-5s", "s"])
def test_an_invalid_duration_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="not a duration") as caught:
        time_words.duration_ms(text)
    assert caught.value.status == 2


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        ("2026-03-01T11:59:59.600Z", "now"),
        ("2026-03-01T11:59:18.000Z", "42 s"),
        ("2026-03-01T11:48:00.000Z", "12 min"),
        ("2026-02-20T12:00:00.000Z", "9 d"),
        ("2026-03-01T14:00:00.000Z", "in 2 h"),
        (None, "never"),
    ],
)
def test_an_age_is_formatted(moment: str | None, told: str) -> None:
    assert time_words.age(moment, NOW) == told


def test_a_time_is_formatted_in_the_zone_of_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    assert time_words.local("2026-03-01T22:00:00.000Z") == "2026-03-02 07:00:00 JST"
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.0, "0 s"), (0.25, "250 ms"), (1.52, "1.5 s"), (59.4, "59 s"), (7_300.0, "2 h")],
)
def test_a_duration_is_formatted(seconds: float, told: str) -> None:
    assert time_words.span(seconds) == told
