"""How answers look: tables and records for people, JSON for programs, notes on the side."""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from belvedere.cli.framework import terminal_text

if TYPE_CHECKING:
    from rich.console import Console

# A colour is never alone: each word has its sign too.
LOOKS = {
    "normal": ("✓", "green"),
    "success": ("✓", "green"),
    "online": ("✓", "green"),
    "active": ("✓", "green"),
    "ok": ("✓", "green"),
    "problem": ("✗", "red"),
    "missed": ("✗", "red"),
    "notice": ("-", "yellow"),
    "failure": ("✗", "red"),
    "error": ("✗", "red"),
    "offline": ("✗", "red"),
    "unreachable": ("✗", "red"),
    "timeout": ("⧗", "red"),
    "lost": ("?", "magenta"),
    "canceled": ("-", "yellow"),
    "expired": ("-", "yellow"),
    "disabled": ("-", "yellow"),
    "paused": ("-", "yellow"),
    "unknown": ("?", "magenta"),
    "updates_stopped": ("⧗", "red"),
    "invited": ("○", "yellow"),
    "draining": ("-", "yellow"),
    "stale": ("-", "yellow"),
    "in_progress": ("●", "cyan"),
    "ready": ("○", "cyan"),
    "onhold": ("○", "yellow"),
    "syncing": ("○", "cyan"),
    "assigned": ("●", "cyan"),
    "started": ("●", "cyan"),
}
# What could move the cursor, recolour the terminal or turn the direction of writing has no place
# in a table.
CONTROLS = re.compile("[\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")

GAP, NARROWEST = 2, 6


def as_json(answer: Any) -> None:
    print(json.dumps(answer, indent=2, ensure_ascii=False))


def note(text: str) -> None:
    """Something on the side, which must not mix with the output: on stderr."""
    print(f"belvedere: {terminal_text.clean(text)}", file=sys.stderr, flush=True)


def console(*, on_stderr: bool = False) -> "Console":
    from rich.console import Console

    file = sys.stderr if on_stderr else sys.stdout
    # A pipe has no width: nothing is cut for the program that reads it.
    wide = None if file.isatty() else 10_000
    return Console(file=file, width=wide, highlight=False, markup=False, emoji=False)


def table(
    titles: Sequence[str], rows: Iterable[Sequence[Any]], empty: str = "Nothing here."
) -> None:
    """Columns in the given order. One whose title ends in `*` gives way when space is short."""
    from rich.table import Table

    lines = [[cell(value) for value in row] for row in rows]
    if not lines:
        note(empty)
        return
    screen = console()
    made = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for title, width in zip(titles, _widths(titles, lines, screen.width), strict=True):
        made.add_column(title.rstrip("*").upper(), width=width, no_wrap=True, overflow="ellipsis")
    for line in lines:
        made.add_row(*line)
    _print(screen, made)


def fields(pairs: Iterable[tuple[str, Any]]) -> None:
    """One record: names on the left, whatever is set on the right."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs:
        if value not in (None, "", [], {}):
            made.add_row(name, cell(value))
    _print(console(), made)


def cell(value: Any) -> Any:
    """A value as text: words that have a look get it, lists are joined."""
    from rich.text import Text

    if isinstance(value, Text):
        return value
    if isinstance(value, list | tuple):
        value = ", ".join(str(item) for item in value)
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, dict):
        value = json.dumps(value, ensure_ascii=False)
    text = CONTROLS.sub(" ", "" if value is None else str(value))
    sign, colour = LOOKS.get(text, ("", ""))
    return Text(f"{sign} {text}", style=colour) if sign else Text(text)


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """A spinner on stderr while something takes long; nothing where nobody looks."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    parts = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*parts, console=console(on_stderr=True), transient=True) as progress:
        progress.add_task(text, total=None)
        yield


def _widths(titles: Sequence[str], lines: list[list[Any]], room: int) -> list[int]:
    """As wide as what is in it; then the widest of those that give way, letter by letter."""
    widths = [
        max(len(title.rstrip("*")), *(line[at].cell_len for line in lines))
        for at, title in enumerate(titles)
    ]
    giving = [at for at, title in enumerate(titles) if title.endswith("*")]
    room -= GAP * (len(titles) - 1)
    while sum(widths) > room and giving and max(widths[at] for at in giving) > NARROWEST:
        widths[max(giving, key=widths.__getitem__)] -= 1
    return widths


def _print(screen: "Console", made: Any) -> None:
    # Cells are padded to their column's width, which only leaves blanks at the ends of lines.
    with screen.capture() as captured:
        screen.print(made)
    for line in captured.get().splitlines():
        print(line.rstrip())
