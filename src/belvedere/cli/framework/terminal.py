"""Prompts, on a terminal or through a pipe, and the progress bar of long commands."""

import getpass
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from belvedere.cli.framework import rendering
from belvedere.cli.framework.command import CommandError

# The current step, how much of it is done, and of how much; a total of 0 is unknown.
ReportProgress = Callable[[str, int, int], None]


def line(question: str) -> str:
    """A line from the user; from a pipe, the next line without the prompt."""
    if sys.stdin.isatty():
        print(question, end="", file=sys.stderr, flush=True)
    return _require_text(sys.stdin.readline().strip())


def secret(question: str) -> str:
    """The same without echo. Secrets are never command-line arguments, which `ps` shows."""
    return _require_text(getpass.getpass(question)) if sys.stdin.isatty() else line(question)


def new_password(email: str) -> str:
    """Typed twice on a terminal, read once from a pipe."""
    first = secret(f"New password for {email}: ")
    if sys.stdin.isatty() and secret("Repeat the new password: ") != first:
        raise CommandError("The two passwords differ. Nothing was changed.")
    return first


def _require_text(text: str) -> str:
    if not text:
        raise CommandError("No value was entered.")
    return text


@contextmanager
def progress() -> Iterator[ReportProgress]:
    """A progress bar on stderr; nothing if stderr is not a terminal."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda step, done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=rendering.console(on_stderr=True), transient=True) as bar:
        row = bar.add_task("", total=None)
        yield lambda step, done, total: bar.update(
            row, description=step, completed=done, total=total or None
        )
