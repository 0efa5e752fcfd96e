"""Scripts that parse, scripts that do not, and hostile scripts."""

from pathlib import Path

import pytest

from belvedere.files.syntax_check import check, language_of


def test_a_syntax_error_has_its_place() -> None:
    checked = check("def f(:\n  pass\n", "a.py")
    assert (checked.checked, checked.language) == (True, "python")
    (fault,) = checked.faults
    assert (fault.line, fault.column > 0, bool(fault.message)) == (1, True, True)
    assert check("def f():\n  pass\n", "a.py").faults == []


@pytest.mark.parametrize(
    ("source", "filename", "runas", "language"),
    [
        ("x", "a.py", "", "python"),
        ("#!/usr/bin/env python3\n", "a", "", "python"),
        ("#!/bin/bash\n", "a.py", "", "bash"),
        ("#!/bin/bash\n", "a.py", "python3 %script%", "python"),
        ("", "a.sh", "", "sh"),
        ("", "", "sh %script%", "sh"),
        ("#!/bin/sh -e\n", "", "", "sh"),
        ("", "a.json", "", "json"),
        ("", "a.ps1", "", ""),
        ("# /bin/sh", "", "", ""),
        ("", "", "", ""),
    ],
)
def test_the_language_follows_from_the_command(
    source: str, filename: str, runas: str, language: str
) -> None:
    assert language_of(source, filename, runas) == language


def test_a_script_of_an_unknown_language_is_not_checked() -> None:
    checked = check("if (", "a.ps1")
    assert (checked.checked, checked.faults) == (False, [])


def test_a_shell_script_is_read() -> None:
    (fault, *_) = check("#!/bin/sh\necho a\nif true; then\n").faults
    assert fault.line >= 3
    assert check("#!/bin/sh\necho a\n").faults == []


def test_bash_syntax_is_checked_by_bash() -> None:
    assert check("#!/bin/bash\na=(1 2)\n[[ -n $a ]] && echo ${a[1]}\n").faults == []
    (fault,) = check("#!/bin/bash\necho a\nfi\n").faults
    assert fault.line == 3


def test_json_is_parsed() -> None:
    (fault,) = check('{"a": 1,\n"b" 2}', "a.json").faults
    assert (fault.line, fault.column) == (2, 5)
    assert check('{"a": 1}', "a.json").faults == []


@pytest.mark.parametrize("runas", ["python3", "sh", "bash"])
def test_nothing_is_run(runas: str, tmp_path: Path) -> None:
    mark = tmp_path / "was-run"
    if runas == "python3":
        source = f"open({str(mark)!r}, 'w')"
    else:
        source = f"touch {mark}\n$(touch {mark})\n: > {mark}\n"
    check(source, "", runas)
    assert not mark.exists()


@pytest.mark.parametrize(
    "source",
    [
        "(" * 100_000,
        "x = " + "-" * 200_000 + "1",
        "[" * 90 + "]" * 90 + "+1" * 100_000,
        "x = 9 ** " * 20_000 + "9",
        "a" + ".b" * 200_000,
        "\0",
        "\ud800",
        "# coding: no-such-thing\n",
    ],
)
def test_a_malicious_source_does_no_harm(source: str) -> None:
    checked = check(source, "a.py")
    assert checked.checked
    assert all(fault.line >= 1 and fault.column >= 1 for fault in checked.faults)


def test_deeply_nested_json_does_no_harm() -> None:
    assert len(check("[" * 200_000, "a.json").faults) == 1
