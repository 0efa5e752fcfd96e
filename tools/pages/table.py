"""Markdown, as far as the generated pages need it."""

from collections.abc import Iterable, Sequence


def heading(title: str, about: str) -> str:
    return f"# {title}\n\n{about.strip()}\n\nWritten by `make reference`; do not edit.\n"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [_row(titles), "|" + "---|" * len(titles), *(_row(row) for row in rows)]
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    return f"`{text}`"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
