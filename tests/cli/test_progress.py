"""The progress of long commands: amounts with units, and the remaining time."""

import io

import pytest

from belvedere.cli.framework import terminal
from belvedere.cli.framework.terminal import BYTES, StepClock


def test_amounts_have_units() -> None:
    assert terminal.format_amount(1_500, 3_000_000, BYTES) == "1.5 kB of 3.0 MB"
    assert terminal.format_amount(5, 10, "rows") == "5 of 10 rows"


def test_the_remaining_time_is_that_of_the_step() -> None:
    now = 100.0
    clock = StepClock(lambda: now)
    assert clock.remaining("copy jobs", 0, 1_000) == ""
    now += 10
    assert clock.remaining("copy jobs", 250, 1_000) == "about 30 s left"
    assert clock.remaining("copy jobs", 10, 1_000) == "about 16 min left"
    assert clock.remaining("copy jobs", 1_000, 1_000) == ""
    # The next step has its own speed.
    assert clock.remaining("copy logs", 1, 1_000) == ""
    now += 2
    assert clock.remaining("copy logs", 500, 1_000) == "about 2 s left"


def test_lines_have_the_amount_and_the_remaining_time() -> None:
    lines: list[tuple[str, str]] = []
    with terminal.progress(lambda _: "rows", lambda *line: lines.append(line)) as report:
        report("copy jobs", 5, 10)
    assert lines == [("copy jobs", "5 of 10 rows")]


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_begins_with_the_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A restore asks for the passphrase before; the bar would erase the prompt."""
    screen = FakeTerminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with terminal.progress(lambda _: "rows") as report:
        assert screen.getvalue() == ""
        report("copy jobs", 5, 10)
    assert "copy jobs" in screen.getvalue() and "5 of 10 rows" in screen.getvalue()
