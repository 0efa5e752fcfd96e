"""docs/reference/asvs.md: no empty cell, every requirement once, every named test exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "reference" / "asvs.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if re.match(r"\| \d", line)
]
# Requirements of levels 1 and 2 per chapter of ASVS 5.0.0.
REQUIREMENTS = dict(
    zip(range(1, 18), [27, 11, 19, 10, 9, 35, 18, 7, 7, 29, 14, 9, 13, 9, 13, 16, 7], strict=True)
)
STATUSES = {"met", "partly", "gap", "operator", "n/a"}


def test_every_requirement_has_one_row() -> None:
    numbers = [row[0] for row in ROWS]
    assert len(set(numbers)) == len(numbers)
    chapters = [int(number.partition(".")[0]) for number in numbers]
    assert {chapter: chapters.count(chapter) for chapter in REQUIREMENTS} == REQUIREMENTS


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_row_is_complete_and_names_what_exists(row: list[str]) -> None:
    _, requirement, status, reason = row
    assert requirement and reason and status in STATUSES
    missing = [path for path in re.findall(r"`(tests/[\w/.]+)`", reason) if not _exists(path)]
    assert missing == []


def _exists(path: str) -> bool:
    return (ROOT / path).exists()
