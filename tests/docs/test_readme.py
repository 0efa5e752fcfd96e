"""The README: what a visitor reads first, and where its pictures come from."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
FIRST_SCREEN, _, REST = README.partition("\n## ")
SYSTEMS = (
    *("Belvedere", "xyOps", "Rundeck", "AWX", "Windmill", "Kestra"),
    *("Dagu", "n8n", "Cronicle", "Uptime Kuma", "TheEye"),
)
# Drawn by hand: it explains and shows no output of the product.
DRAWINGS = {"story.svg"}


def test_the_first_screen_has_a_sentence_a_recording_and_two_commands() -> None:
    title, sentence, image, *_ = FIRST_SCREEN.split("\n\n")
    assert title == "# Belvedere"
    assert sentence.count(".") == 1 and sentence.endswith(".")
    assert image.startswith("![") and image.endswith("](docs/img/kill.svg)")
    [block] = re.findall(r"```\n(.*?)```", FIRST_SCREEN, re.DOTALL)
    assert [line.split("#")[0].strip() for line in block.splitlines()] == ["make run", "make test"]
    assert FIRST_SCREEN.index("](docs/img/kill.svg)") < FIRST_SCREEN.index("make run")


def test_the_first_screen_gives_three_reasons_with_figures_and_evidence() -> None:
    reasons = re.findall(r"^- \*\*(.*?)\*\*(.*?)(?=^- |\Z)", FIRST_SCREEN, re.DOTALL | re.MULTILINE)
    assert [title for title, _ in reasons] == [
        "No job lost, none run twice.",
        "Fast and small.",
        "Everything is free.",
    ]
    assert [title for title, text in reasons if not re.search(r"\d|\bfour\b", text)] == []
    assert "docs/reference/promises.md" in reasons[0][1]
    assert "docs/explanation/performance.md" in reasons[1][1]
    for word in ("OpenID Connect", "audit", "approvals", "no paid edition"):
        assert word in reasons[2][1]


def test_the_comparison_comes_next_with_every_system_and_says_where_they_win() -> None:
    section = REST.partition("\n## ")[0]
    assert section.startswith("Compared with other systems\n")
    head, _, *rows = [
        line.strip("|").split("|") for line in section.splitlines() if line[:1] == "|"
    ]
    assert tuple(cell.strip() for cell in head[1:]) == SYSTEMS
    assert {len(row) for row in rows} == {len(head)}
    assert sum("**yes**" in cell for row in rows for cell in row[2:]) >= 10
    assert all("**" not in row[1] for row in rows)
    assert "docs/explanation/compare.md" in section


def test_every_picture_is_written_by_a_test() -> None:
    """`make pictures` writes them; the names are those that the tests write."""
    screenshots = (ROOT / "web/tests/browser/pictures.test.ts").read_text()
    names = re.findall(r"^  \['(\w+)', \(\) =>", screenshots, re.MULTILINE)
    written = {f"console-{name}{theme}.png" for name in names for theme in ("", "-dark")}
    recording = (ROOT / "tests/e2e/test_recording.py").read_text()
    written |= set(re.findall(r'^NAME = "(.*)"', recording, re.MULTILINE))
    pictures = {path.name for path in (ROOT / "docs/img").iterdir()}
    assert pictures - DRAWINGS == written
