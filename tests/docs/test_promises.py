"""Every promise names tests, and `make test` runs each of them."""

import re
from pathlib import Path

import pytest

from docs import documented_tests

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = (DOCS / "reference" / "promises.md").read_text()
BROKEN = (DOCS / "contributing" / "promises.md").read_text()


def test_every_promise_names_a_test() -> None:
    rows = re.findall(r"^\| (P\d+) \|(.*)\|$", REFERENCE, re.MULTILINE)
    assert [number for number, _ in rows] == [f"P{n}" for n in range(1, 16)]
    assert [number for number, row in rows if not documented_tests.list_tests(row)] == []


@pytest.mark.parametrize("text", [REFERENCE, BROKEN], ids=["reference", "contributing"])
def test_every_test_of_a_promise_is_run_by_make_test(text: str) -> None:
    tests = documented_tests.list_tests(text)
    assert len(tests) > 40
    problems = [f"{path}::{name} {documented_tests.problem(path, name)}" for path, name in tests]
    assert [line for line in problems if not line.endswith(" ")] == []


def test_every_test_of_a_promise_was_seen_failing() -> None:
    named, broken = map(documented_tests.list_tests, (REFERENCE, BROKEN))
    assert sorted(set(named) - set(broken)) == []


SOURCES = {
    "def test_x():\n    pass": "",
    "@pytest.mark.limit(9)\ndef test_x():\n    pass": "",
    "@pytest.mark.parametrize('n', [1, pytest.param(2, marks=pytest.mark.prove)])\n"
    "def test_x(n):\n    pass": "",
    "def test_y():\n    pass": "does not exist",
    "@pytest.mark.prove\ndef test_x():\n    pass": "leaves it out",
    "@pytest.mark.skip\ndef test_x():\n    pass": "leaves it out",
    "@pytest.mark.skipif(True, reason='')\ndef test_x():\n    pass": "leaves it out",
    "rare = pytest.mark.prove\n@rare\ndef test_x():\n    pass": "leaves it out",
    "pytestmark = pytest.mark.prove\ndef test_x():\n    pass": "leaves it out",
    "pytestmark = [pytest.mark.heavy, pytest.mark.prove]\ndef test_x():\n    pass": "leaves it out",
    "@pytest.mark.parametrize('n', [pytest.param(2, marks=pytest.mark.prove)])\n"
    "def test_x(n):\n    pass": "leaves it out",
    "def test_x():\n    pytest.skip('no root')": "skips itself",
}


@pytest.mark.parametrize(("source", "expected"), SOURCES.items())
def test_a_test_that_make_test_leaves_out_is_refused(
    tmp_path: Path, source: str, expected: str
) -> None:
    path = tmp_path / "test_source.py"
    path.write_text(f"import pytest\n{source}\n")
    problem = documented_tests.problem(path, "test_x")
    assert expected in problem and bool(expected) == bool(problem)
