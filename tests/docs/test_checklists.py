"""The checklists for contributors name files, tables and commands that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "contributing"
PAGES = [ROOT / "CONTRIBUTING.md", *sorted(FOLDER.glob("*.md"))]
CHECKLISTS = sorted(FOLDER.glob("add-*.md"))
FOLDERS = "src|web|tests|docs|tools|deploy"
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
every_checklist = pytest.mark.parametrize("page", CHECKLISTS, ids=lambda page: page.name)


def _code(page: Path) -> list[str]:
    """What the page shows as code: spans and blocks."""
    text = page.read_text()
    return [*re.findall(r"```\n(.*?)```", text, re.DOTALL), *re.findall(r"`([^`]+)`", text)]


@every_page
def test_every_path_exists(page: Path) -> None:
    words = [word for span in _code(page) for word in span.split()]
    paths = [word for word in words if re.match(f"({FOLDERS})/[^<>…]*$", word)]
    assert [path for path in paths if not (ROOT / path.partition("::")[0]).exists()] == []


@every_page
def test_every_make_command_is_a_target(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = {
        name for line in re.findall(r"^\.PHONY:(.*)$", makefile, re.M) for name in line.split()
    }
    named = {name for span in _code(page) for name in re.findall(r"\bmake ([a-z]+)", span)}
    assert sorted(named - targets) == []


@every_checklist
def test_a_table_is_in_the_file_that_the_page_names(page: Path) -> None:
    rows = re.findall(rf"`(\w+)` (?:in|of)\s+`((?:{FOLDERS})/[^`<>]+)`", page.read_text())
    assert [row for row in rows if not re.search(rf"\b{row[0]}\b", _text(row[1]))] == []


def _text(path: str) -> str:
    files = [ROOT / path] if (ROOT / path).is_file() else sorted((ROOT / path).rglob("*.*"))
    return "".join(file.read_text() for file in files)


@every_checklist
def test_a_checklist_ends_with_what_to_run(page: Path) -> None:
    assert re.search(r"^Run: `(pytest tests|make )", page.read_text(), re.MULTILINE)


def test_every_checklist_is_linked() -> None:
    """From the list of its folder, and from the page that GitHub shows to contributors."""
    for page, folder in ((FOLDER / "index.md", ""), (PAGES[0], "docs/contributing/")):
        text = page.read_text()
        assert [item.name for item in CHECKLISTS if f"({folder}{item.name})" not in text] == []
