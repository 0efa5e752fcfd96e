"""How far a long command is: a bar on stderr, and nothing where nobody looks."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from belvedere.cli.framework import rendering

# What is being done, how much of it is done, and of how much; 0 of 0 is unknown.
Tell = Callable[[str, int, int], None]


@contextmanager
def progress() -> Iterator[Tell]:
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda what, done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=rendering.console(on_stderr=True), transient=True) as bar:
        row = bar.add_task("", total=None)
        yield lambda what, done, total: bar.update(
            row, description=what, completed=done, total=total or None
        )
