"""Writes the generated pages of docs/reference from the tables in the code: `make reference`.

A test fails when a page that is committed differs from what this would write.
"""

from collections.abc import Callable
from pathlib import Path

from belvedere.cli.reference import write_reference
from pages import errors, events, routes, settings

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
PAGES: dict[str, Callable[[], str]] = {
    "routes.md": routes.page,
    "errors.md": errors.page,
    "events.md": events.page,
    "settings.md": settings.page,
    "cli.md": write_reference,
}


def main() -> None:
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page())


if __name__ == "__main__":
    main()
