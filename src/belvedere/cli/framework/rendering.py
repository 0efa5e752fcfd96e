"""Output: tables and records for people, JSON for programs, notes on stderr."""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from belvedere.base.ids import is_id, short_id
from belvedere.cli.framework import terminal_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

# Every colour comes with a sign, for people who cannot see it.
STATE_STYLES = {
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
# Characters that could move the cursor, change colours or reverse the direction of the text.
CONTROL_CHARACTERS = re.compile("[\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")

COLUMN_GAP, MIN_MARKED_WIDTH, MIN_COLUMN_WIDTH = 2, 10, 4


def print_json(result: object) -> None:
    print(json.dumps(result, indent=2, ensure_ascii=False))


def note(text: str) -> None:
    """A remark that must not mix with the output: on stderr."""
    print(f"belvedere: {terminal_text.clean(text)}", file=sys.stderr, flush=True)


def console(*, on_stderr: bool = False) -> "Console":
    from rich.console import Console

    file = sys.stderr if on_stderr else sys.stdout
    # A pipe has no width: nothing is truncated for the program that reads it.
    width = None if file.isatty() else 10_000
    return Console(file=file, width=width, highlight=False, markup=False, emoji=False)


def table(
    titles: Sequence[str], rows: Iterable[Sequence[object]], empty: str = "No entries."
) -> None:
    """A table. On a terminal, ids are short and the table fits: columns whose title ends in `*` are
    truncated first. A pipe gets every value complete."""
    from rich.table import Table

    screen = console()
    lines = [[_table_cell(value, screen) for value in row] for row in rows]
    if not lines:
        note(empty)
        return
    grid = Table(box=None, pad_edge=False, padding=(0, COLUMN_GAP, 0, 0), header_style="bold")
    for title, width in zip(titles, _widths(titles, lines, screen.width), strict=True):
        grid.add_column(title.rstrip("*").upper(), width=width, no_wrap=True, overflow="ellipsis")
    for line in lines:
        grid.add_row(*line)
    _print(screen, grid)


def _table_cell(value: object, screen: "Console") -> "Text":
    if isinstance(value, str) and screen.is_terminal and is_id(value):
        value = short_id(value)
    return cell(value)


def fields(pairs: Iterable[tuple[str, object]]) -> None:
    """A record: names on the left, values on the right; empty values are left out."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in pairs:
        if value not in (None, "", [], {}):
            grid.add_row(name, cell(value))
    _print(console(), grid)


def cell(value: object) -> "Text":
    """A value as text: states get their sign and colour, lists are joined."""
    from rich.text import Text

    if isinstance(value, Text):
        return value
    if isinstance(value, list | tuple):
        value = ", ".join(str(item) for item in value)
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, dict):
        value = json.dumps(value, ensure_ascii=False)
    text = CONTROL_CHARACTERS.sub(" ", "" if value is None else str(value))
    return state_cell(text, text)


def state_cell(state: str, word: str) -> "Text":
    """The word for a state, with the sign and the colour of the state."""
    from rich.text import Text

    sign, colour = STATE_STYLES.get(state, ("", ""))
    return Text(f"{sign} {word}", style=colour) if sign else Text(word)


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """A spinner on stderr while something takes long; nothing if stderr is not a terminal."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    parts = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*parts, console=console(on_stderr=True), transient=True) as progress:
        progress.add_task(text, total=None)
        yield


def _widths(titles: Sequence[str], lines: list[list["Text"]], available: int) -> list[int]:
    """As wide as the content. If that is too wide, columns marked with `*` shrink first, then the
    others, the first column last: it identifies the row."""
    widths = [
        max(len(title.rstrip("*")), *(line[column].cell_len for line in lines))
        for column, title in enumerate(titles)
    ]
    available -= COLUMN_GAP * (len(titles) - 1)
    marked = [column for column, title in enumerate(titles) if title.endswith("*")]
    _shrink(widths, marked, available, MIN_MARKED_WIDTH)
    _shrink(widths, range(1, len(titles)), available, MIN_COLUMN_WIDTH)
    _shrink(widths, range(1, len(titles)), available, 1)
    _shrink(widths, [0], available, 1)
    return widths


def _shrink(widths: list[int], columns: Sequence[int], available: int, least: int) -> None:
    """The widest of the columns gives up a character at a time."""
    while sum(widths) > available and columns:
        widest = max(columns, key=widths.__getitem__)
        if widths[widest] <= least:
            return
        widths[widest] -= 1


def _print(screen: "Console", grid: "Table") -> None:
    # Cells are padded to the width of their column, which leaves blanks at the ends of lines.
    with screen.capture() as captured:
        screen.print(grid)
    for line in captured.get().splitlines():
        print(line.rstrip())
