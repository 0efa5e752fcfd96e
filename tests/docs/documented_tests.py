"""Tests that a page names: whether they exist and whether `make test` runs them."""

import inspect
import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
# Marks of tests that `make test` leaves out, always or on some machines.
LEFT_OUT = frozenset({"prove", "skip", "skipif"})


def list_tests(text: str) -> list[tuple[Path, str]]:
    """(file, function) of every test in this text, named from the root or from `tests`."""
    names = re.findall(r"`(?:tests/)?([\w/]+\.py)::(\w+)`", text)
    return [(TESTS / path, name) for path, name in names]


def problem(path: Path, name: str) -> str:
    """Why this is not a test that `make test` runs; empty: it is one."""
    function = _module(path).get(name) if path.exists() else None
    if function is None:
        return "does not exist"
    marks = [*_as_list(_module(path).get("pytestmark", [])), *getattr(function, "pytestmark", [])]
    if LEFT_OUT & {mark.name for mark in marks} or any(map(_has_only_left_out_values, marks)):
        return "has a mark by which make test leaves it out"
    return "skips itself" if "pytest.skip(" in inspect.getsource(function) else ""


@cache
def _module(path: Path) -> dict[str, Any]:
    # Within its folder, from which some tests import.
    return runpy.run_path(str(path), run_name=f"{path.parent.name}.documented_{path.stem}")


def _as_list(marks: Any) -> list[Any]:
    return marks if isinstance(marks, list) else [marks]


def _has_only_left_out_values(mark: Any) -> bool:
    if mark.name != "parametrize":
        return False
    values = mark.args[1] if len(mark.args) > 1 else mark.kwargs["argvalues"]
    return all(LEFT_OUT & {mark.name for mark in getattr(value, "marks", ())} for value in values)
