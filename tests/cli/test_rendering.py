"""Tables: on a terminal of 80 columns, in a pipe, and without colour."""

import io
import sys
from collections.abc import Callable
from typing import Any

import pytest
from rich.text import Text

from belvedere.cli.framework import rendering
from belvedere.cli.jobs import job_rendering


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


Drawn = Callable[..., str]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """What is drawn on a terminal of 80 columns."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm-256color")

    def draw_text(draw: Callable[..., None], *given: Any) -> str:
        screen = Terminal()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", screen)
            draw(*given)
        return screen.getvalue()

    return draw_text


LONG = "a-name-that-nobody-would-ever-give-to-a-task-but-somebody-always-does"
JOB = {
    "id": "65a0000000000000000000b1",
    "lifecycle": "finished",
    "state": "failure",
    "name": LONG,
    "hostname": LONG,
    "creation_date": "2026-03-01T10:00:00.000Z",
    "user": {"email": "ada@acme.example", "username": "ada"},
    "origin": "user",
}


def test_a_table_has_aligned_columns(capsys: pytest.CaptureFixture[str]) -> None:
    rendering.table(("id", "state"), [("1", "normal"), ("22", "failure")])
    assert capsys.readouterr().out == "ID  STATE\n1   ✓ normal\n22  ✗ failure\n"


def test_a_pipe_gets_everything_without_colour(capsys: pytest.CaptureFixture[str]) -> None:
    job_rendering.show_jobs({"jobs": [JOB], "removed": None})
    out = capsys.readouterr().out
    assert LONG in out and str(JOB["id"]) in out
    assert "\x1b" not in out


def test_a_terminal_gets_80_columns_and_short_ids(terminal: Drawn) -> None:
    output = terminal(job_rendering.show_jobs, {"jobs": [JOB], "removed": None})
    lines = [Text.from_ansi(line) for line in output.splitlines()]
    assert max(line.cell_len for line in lines) <= 80
    assert lines[1].plain.startswith(f"{str(JOB['id'])[-6:]} ")
    assert "✗ Failed" in lines[1].plain
    assert "…" in lines[1].plain


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_a_table_fits_every_terminal(
    terminal: Drawn, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    titles = ("id", "state", "monitor*", "type", "host", "every", "last check", "message*")
    row = (JOB["id"], "failure", LONG, "http", LONG, "60 s", "12 min", LONG)
    lines = [Text.from_ansi(line) for line in terminal(rendering.table, titles, [row]).splitlines()]
    assert len(lines) == 2 and max(line.cell_len for line in lines) <= columns
    assert lines[1].plain.startswith(str(JOB["id"])[-6:]) and "…" in lines[1].plain


def test_a_state_has_a_colour_beside_its_word(terminal: Drawn) -> None:
    assert "\x1b[31m✗ failure" in terminal(rendering.fields, [("state", "failure")])


def test_no_color_is_obeyed(terminal: Drawn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    drawn = terminal(rendering.fields, [("state", "failure")])
    assert "✗ failure" in drawn
    assert "[31m" not in drawn


def test_a_name_cannot_control_the_terminal(terminal: Drawn) -> None:
    drawn = terminal(rendering.table, ("task",), [("evil\x1b[2J\rname [red]x[/red] :smile:",)])
    assert "evil [2J name [red]x[/red] :smile:" in drawn


def test_an_empty_list_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    job_rendering.show_jobs({"jobs": [], "removed": None})
    pair = capsys.readouterr()
    assert pair.out == ""
    assert "belvedere run" in pair.err


def test_empty_fields_are_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    rendering.fields([("a", None), ("b", ""), ("c", 0), ("d", ["x", "y"]), ("e", False)])
    assert capsys.readouterr().out == "c  0\nd  x, y\ne  no\n"


def test_there_is_no_progress_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with rendering.waiting("job 1"):
        pass
    assert capsys.readouterr().err == ""
