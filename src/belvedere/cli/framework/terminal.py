"""Prompts, on a terminal or through a pipe, and the progress of long commands: a bar on a terminal,
lines on stderr elsewhere, with units and about how long a step still takes."""

import getpass
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import CommandError

# The current step, how much of it is done, and of how much; a total of 0 is unknown.
ReportProgress = Callable[[str, int, int], None]
# What a step counts, such as rows.
UnitOf = Callable[[str], str]
BYTES = "bytes"


def line(question: str) -> str:
    """A line from the user; from a pipe, the next line without the prompt."""
    if sys.stdin.isatty():
        print(question, end="", file=sys.stderr, flush=True)
    return _require_text(sys.stdin.readline().strip(), question)


def secret(question: str) -> str:
    """The same without echo. Secrets are never command-line arguments, which `ps` shows."""
    if not sys.stdin.isatty():
        return line(question)
    return _require_text(getpass.getpass(question), question)


def new_password(email: str) -> str:
    """Typed twice on a terminal, read once from a pipe."""
    first = secret(f"New password for {email}: ")
    if sys.stdin.isatty() and secret("Repeat the new password: ") != first:
        raise CommandError("The two passwords differ. Nothing was changed.")
    return first


def _require_text(text: str, question: str) -> str:
    if not text:
        raise CommandError(f"{question.strip().rstrip(':')}: no value was entered.")
    return text


def format_size(count: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} bytes"


def format_amount(done: int, total: int, unit: str) -> str:
    if unit == BYTES:
        return f"{format_size(done)} of {format_size(total)}"
    return f"{done} of {total} {unit}" if total else ""


class StepClock:
    """Estimates the rest of a step from its speed up to now."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._step, self._began_at = "", clock()

    def remaining(self, step: str, done: int, total: int) -> str:
        """Empty if nothing is known yet."""
        now = self._clock()
        if step != self._step:
            self._step, self._began_at = step, now
        elapsed = now - self._began_at
        if not 0 < done < total or elapsed < 1:
            return ""
        seconds = round(elapsed * (total - done) / done)
        minutes, rest = divmod(seconds, 60)
        return f"about {f'{minutes} min' if minutes else f'{rest} s'} left"


def print_nothing(step: str, amount: str) -> None:
    """For commands whose progress is only of interest on a terminal."""


@contextmanager
def progress(
    unit_of: UnitOf, print_line: Callable[[str, str], None] = print_nothing
) -> Iterator[ReportProgress]:
    """`print_line` gets a step and its amount where there is no terminal."""
    clock = StepClock()
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":

        def print_step(step: str, done: int, total: int) -> None:
            parts = (format_amount(done, total, unit_of(step)), clock.remaining(step, done, total))
            print_line(step, ", ".join(filter(None, parts)))

        yield print_step
        return
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[amount]}"))
    bar = Progress(*columns, console=rendering.console(on_stderr=True), transient=True)
    row = bar.add_task("", total=None, amount="")

    def update(step: str, done: int, total: int) -> None:
        # Not before: it would erase the prompt of a command that asks for something first.
        bar.start()
        parts = (format_amount(done, total, unit_of(step)), clock.remaining(step, done, total))
        amount = ", ".join(filter(None, parts))
        bar.update(row, description=step, completed=done, total=total or None, amount=amount)

    try:
        yield update
    finally:
        bar.stop()
