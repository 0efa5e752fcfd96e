"""Writes the generated pages of docs/reference from the tables in the code: `make reference`. It
also updates the list of differences in a how-to page, from a page of the reference.

A test fails when a page that is committed differs from what this would write.
"""

from collections.abc import Callable
from pathlib import Path

from pages import commands, differences, errors, events, routes, settings

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
MIGRATION = FOLDER.parent / "howto" / "move-from-theeye.md"
PAGES: dict[str, Callable[[], str]] = {
    "routes.md": routes.page,
    "errors.md": errors.page,
    "events.md": events.page,
    "settings.md": settings.page,
    "cli.md": commands.page,
}


def main() -> None:
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page())
    MIGRATION.write_text(migration_page())


def migration_page() -> str:
    deviations = (FOLDER / "deviations.md").read_text()
    return differences.update(MIGRATION.read_text(), deviations)


if __name__ == "__main__":
    main()
