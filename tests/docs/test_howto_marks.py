"""What the hidden marks of how-to pages may contain (tests/e2e/howto_page.py describes them)."""

import re
from pathlib import Path

import pytest

from e2e.howto_page import Page

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    path.stem: path for path in [*sorted((DOCS / "howto").glob("*.md")), DOCS / "quickstart.md"]
}
PREPARATIONS = [
    # Waiting, and commands that depend on the place where they are run.
    *("cat", "cd", "export", "hostname", "kill", "ln", "mkdir", "openssl", "rm", "sed", "until"),
    # Steps that other pages describe and this one requires: the service, the database, the
    # password.
    *("echo", "install", "psql", "systemctl", "useradd", "wait"),
]
# The server of the page is started, or its state is awaited.
READING = {"up", "server", "login", "host list", "job list", "task list"}
READING |= {"monitor list", "monitor show"}
TEST = re.compile(r"(tests/[\w/]+\.py)::(\w+)")
HEREDOC = re.compile(r"<<'(\w+)'\n.*?\n\1$", re.DOTALL | re.MULTILINE)


def reader_steps(setup: str) -> list[str]:
    """The commands of a setup block that a reader has to type, too."""
    text = HEREDOC.sub("", setup)
    return [line for line in re.split(r"\n|; (?!do |done)", text) if not _is_preparation(line)]


def _is_preparation(command: str) -> bool:
    calls = re.findall(r"(?:^|until|[|(&]) *belvedere ([a-z-]+(?: [a-z-]+)?)", command)
    if not all(call in READING or call.split()[0] in READING for call in calls):
        return False
    return command.startswith("belvedere ") or (
        command.split()[0] in PREPARATIONS and ".sh" not in command
    )


@pytest.mark.parametrize("name", PAGES)
def test_a_setup_block_contains_no_step_of_the_reader(name: str) -> None:
    page = Page.read(PAGES[name])
    assert [step for setup in page.setups for step in reader_steps(setup)] == []


def missing_tests(reason: str) -> list[str]:
    """The named tests that do not exist; the reason itself if it names none."""
    names = TEST.findall(reason)
    if not names:
        return [reason]
    return [f"{path}::{name}" for path, name in names if not _has_test(DOCS.parent / path, name)]


def _has_test(path: Path, name: str) -> bool:
    pattern = rf"^(async )?def {name}\("
    return path.exists() and re.search(pattern, path.read_text(), re.MULTILINE) is not None


@pytest.mark.parametrize("name", PAGES)
def test_a_block_that_is_not_run_names_a_test_that_does_the_same(name: str) -> None:
    page = Page.read(PAGES[name])
    assert [text for reason in page.displayed_only for text in missing_tests(reason)] == []


@pytest.mark.parametrize("name", sorted(PAGES.keys() - {"index"}))
def test_every_page_is_executed_or_names_tests(name: str) -> None:
    page = Page.read(PAGES[name])
    assert page.steps or page.displayed_only


def test_a_test_that_does_not_exist_is_found() -> None:
    here = f"tests/docs/{Path(__file__).name}"
    assert missing_tests(f"{here}::test_a_test_that_does_not_exist_is_found") == []
    for reason in ("needs docker", f"{here}::test_x", "tests/docs/test_x.py::test_x"):
        assert missing_tests(reason) == [reason]


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
