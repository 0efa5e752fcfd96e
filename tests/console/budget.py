"""What a browser loads of the built console, from the manifest of the build."""

import gzip
import json
from pathlib import Path
from typing import Any

from belvedere.server.console.assets import STATIC

KB = 1_000
# Everyone who opens the console sees the dashboard first.
FIRST = ("index.html", "src/pages/dashboard/DashboardPage.tsx")


def manifest() -> dict[str, Any]:
    record: dict[str, Any] = json.loads((STATIC / ".vite" / "manifest.json").read_text())
    return record


def first_files(notes: dict[str, Any]) -> tuple[set[str], set[str]]:
    """Scripts and styles that the first page needs, with everything that they import."""
    return imported_files(notes, *FIRST)


def imported_files(notes: dict[str, Any], *names: str) -> tuple[set[str], set[str]]:
    """Scripts and styles that are loaded together with these, and everything that they import."""
    scripts: set[str] = set()
    styles: set[str] = set()
    waiting = [*names]
    texts: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in texts:
            texts.add(name)
            note = notes[name]
            scripts.add(note["file"])
            styles.update(note.get("css", ()))
            waiting += note.get("imports", ())
    return scripts, styles


def added_sizes(notes: dict[str, Any], name: str, *to: str) -> dict[str, int]:
    """The scripts that a part adds to those that are loaded already: the first ones, and those of
    `to`."""
    there = imported_files(notes, *FIRST, *to)[0]
    return {file: packed_size(file) for file in imported_files(notes, name)[0] - there}


def packed_size(name: str) -> int:
    """How many bytes are transferred."""
    copy = STATIC / f"{name}.gz"
    return (
        copy.stat().st_size if copy.exists() else len(gzip.compress((STATIC / name).read_bytes()))
    )


def all_sizes() -> dict[Path, int]:
    """Every file that is served, as it is transferred."""
    return {
        path: path.stat().st_size
        for path in STATIC.rglob("*")
        if path.is_file() and path.suffix != ".br" and not _is_note(path)
    }


def _is_note(path: Path) -> bool:
    return path.relative_to(STATIC).as_posix().startswith(".")
