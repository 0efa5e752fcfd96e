"""What the hidden marks of how-to pages may contain (tests/e2e/howto_page.py describes them)."""

import re
from pathlib import Path

import pytest

from e2e.howto_page import Page

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {path.stem: path for path in [*(DOCS / "howto").glob("*.md"), DOCS / "quickstart.md"]}
# Waiting, and what belongs to the place where the commands are typed.
PREPARATIONS = ("cat", "cd", "export", "kill", "mkdir", "sed", "until", "wait")
# The server of the page is started, or its state is awaited.
READING = {"up", "server", "login", "job list", "monitor list", "monitor show", "task list"}
HEREDOC = re.compile(r"<<'(\w+)'\n.*?\n\1$", re.DOTALL | re.MULTILINE)


def reader_steps(setup: str) -> list[str]:
    """The commands of a setup block that a reader has to type, too."""
    text = HEREDOC.sub("", setup)
    return [line for line in re.split(r"\n|; (?!do |done)", text) if not _is_preparation(line)]


def _is_preparation(command: str) -> bool:
    calls = re.findall(r"\bbelvedere ([a-z-]+(?: [a-z-]+)?)", command)
    if not all(call in READING or call.split()[0] in READING for call in calls):
        return False
    return command.startswith("belvedere ") or (
        command.split()[0] in PREPARATIONS and ".sh" not in command
    )


@pytest.mark.parametrize("name", PAGES)
def test_a_setup_block_contains_no_step_of_the_reader(name: str) -> None:
    page = Page.read(PAGES[name])
    assert [step for setup in page.setups for step in reader_steps(setup)] == []


@pytest.mark.parametrize(
    "command",
    [
        "belvedere task create build --host web-1 --script build.sh",
        "printf '#!/bin/sh' > build.sh",
        "cat > build.sh <<'END'\necho\nEND",
        "KEY=$(belvedere webhook credentials push)",
        "curl -X POST http://127.0.0.1:8420/job",
        "until belvedere task create x; do sleep 1; done",
        "cd /tmp; belvedere secret set X",
    ],
)
def test_a_step_in_a_setup_block_is_found(command: str) -> None:
    assert reader_steps(command) != []
