"""State of an ended script: the rules of decisions.md, section 4, in their order."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belvedere.jobs.lifecycle.verdict import (
    Verdict,
    decide,
    has_run,
    is_failure,
    parse_last_line,
    result_of,
)
from belvedere.protocol import Report
from jobs.last_lines import LAST_LINES


def verdict(
    lastline: str = "",
    code: int = 0,
    *,
    ending: Any = "exit",
    signal: str | None = None,
    ignore: bool = False,
    default: str | None = None,
) -> Verdict:
    report = Report(ending, code=code, signal=signal, lastline=lastline)
    return decide(report, ignore_exit_code=ignore, default_state=default)


def test_the_last_line_sets_the_verdict() -> None:
    actual_verdict = verdict('{"state": "success", "output": ["a", "b"]}')
    assert actual_verdict == Verdict("finished", "success", "success", ["a", "b"])  # type: ignore[arg-type]


# (1) The exit code.


@pytest.mark.parametrize("line", ["", "success", '{"state": "success"}', "[1]"])
def test_a_nonzero_exit_code_overrides_the_state_word(line: str) -> None:
    assert verdict(line, 1).state == "failure"
    assert verdict(line, 255).state == "failure"


def test_a_signal_is_a_failure_whatever_its_code() -> None:
    assert verdict("success", 0, signal="SIGSEGV").state == "failure"
    assert verdict("success", 139, signal="SIGSEGV").state == "failure"


def test_a_migrated_script_may_ignore_its_exit_code() -> None:
    assert verdict("", 3, ignore=True).state == "normal"
    assert verdict("success", 3, ignore=True).state == "success"
    assert verdict("failure", 0, ignore=True).state == "failure"


def test_a_bad_exit_keeps_event_and_output_of_the_last_line() -> None:
    actual_verdict = verdict('{"event_name": "red", "data": ["x"]}', 1)
    assert (actual_verdict.state, actual_verdict.trigger_name, actual_verdict.output) == (
        "failure",
        "red",
        ["x"],
    )


# (2) The last line.


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("success", "success"),
        ("normal", "normal"),
        ("ok", "success"),
        ("failure", "failure"),
        ("fail", "failure"),
        ("error", "failure"),
    ],
)
def test_the_six_words_count_bare_and_in_an_object(word: str, state: str) -> None:
    assert verdict(word).state == state
    assert verdict(f"  {word}\t").state == state
    assert verdict(json.dumps({"state": word})).state == state


@pytest.mark.parametrize(
    "line",
    [
        "OK",
        "Success",
        "success!",
        "all ok",
        "true",
        "0",
        "unknown",
        "timeout",
        "canceled",
        "lost",
        "in_progress",
        '{"state": "timeout"}',
        '{"state": "SUCCESS"}',
        '{"state": 1}',
        '{"state": null}',
        '{"state": ["success"]}',
        '{"State": "success"}',
        "{}",
        '["success"]',
        "{success}",
        '{"state": "failure"',
        '{"state": "failure"} trailing',
    ],
)
def test_other_lines_do_not_set_the_state(line: str) -> None:
    assert verdict(line).state == "normal"


# (3) The task's default.


@pytest.mark.parametrize(
    ("default", "state"),
    [(None, "normal"), ("", "normal"), ("success", "success"), ("failure", "failure")],
)
def test_a_silent_script_gets_the_tasks_default(default: str | None, state: str) -> None:
    assert verdict("hello", default=default).state == state


def test_a_state_word_overrides_the_default_of_the_task() -> None:
    assert verdict("normal", default="failure").state == "normal"


# The trigger name.


@pytest.mark.parametrize(
    ("line", "code", "name"),
    [
        ("", 0, "success"),
        ("normal", 0, "success"),
        ("success", 0, "success"),
        ("failure", 0, "failure"),
        ("", 2, "failure"),
        ('{"event_name": "disk_full"}', 0, "disk_full"),
        ('{"event_name": ""}', 0, "success"),
        ('{"event_name": 7}', 0, "success"),
        ('{"state": "failure", "event_name": "red"}', 0, "red"),
    ],
)
def test_the_trigger_is_the_event_name_or_follows_the_state(
    line: str, code: int, name: str
) -> None:
    assert verdict(line, code).trigger_name == name


# The output.


@pytest.mark.parametrize(("line", "state", "output"), LAST_LINES)
def test_the_last_line_sets_state_and_output(
    line: str, state: str, output: list[str] | None
) -> None:
    decision = verdict(line)
    assert (decision.state, decision.output) == (state, output)


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("", None),
        ("ok", None),
        ("{}", None),
        ('{"output": null}', None),
        ('{"data": null}', None),
        ("[]", []),
        ('{"output": []}', []),
        ('["a", "b"]', ["a", "b"]),
        ('{"output": "a"}', ["a"]),
        ('{"data": "a"}', ["a"]),
        ('{"output": "a", "data": "b"}', ["a"]),
        ('{"output": null, "data": ["b"]}', ["b"]),
        ('{"output": false, "data": "b"}', ["false"]),
        ('["quoted \\"text\\""]', ['quoted "text"']),
        ("[1, 1.0, 1e5, -0, 10000000000000000000000]", ["1", "1.0", "1e5", "-0", "1" + "0" * 22]),
        ("[true, false, null]", ["true", "false", "null"]),
        ('[{"a": [1, "x"]}, ["y", 2]]', ['{"a":[1,"x"]}', '["y",2]']),
        ('["ü", {"ü": "é"}]', ["ü", '{"ü":"é"}']),
        ('["a\\u0000b"]', ["a\ufffdb"]),
        ('["\\ud800"]', ["\ufffd"]),
        ('[["\\ud800"]]', ['["\ufffd"]']),
    ],
)
def test_the_output_keeps_strings_and_writes_the_rest_as_json(
    line: str, output: list[str] | None
) -> None:
    verdicts = verdict(line).output
    if output is not None and any("\ufffd" in text for text in output):
        assert verdicts is not None
        assert "".join(verdicts).encode() and "\0" not in "".join(verdicts)
    else:
        assert verdicts == output


@pytest.mark.parametrize(
    "line",
    ["[NaN]", "[Infinity]", "[-Infinity]", '{"output": [NaN]}', "[" * 5_000, '{"a":' * 3_000],
)
def test_a_line_that_is_not_json_is_no_output_and_no_error(line: str) -> None:
    assert verdict(line) == verdict("")


@pytest.mark.parametrize("depth", [100, 400, 800, 3_000])
def test_however_deeply_a_line_is_nested_there_is_a_verdict(depth: int) -> None:
    assert verdict("[" * depth + "]" * depth).state == "normal"
    assert verdict('{"output":' * depth + "1" + "}" * depth).state == "normal"


@given(st.text())
def test_every_line_has_a_verdict_that_both_databases_can_store(line: str) -> None:
    actual_verdict = verdict(line)
    for text in [actual_verdict.trigger_name, *(actual_verdict.output or [])]:
        assert "\0" not in text
        text.encode()


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(
    _values | st.dictionaries(st.sampled_from(["state", "event_name", "output", "data"]), _values)
)
def test_every_json_line_has_a_verdict(value: Any) -> None:
    actual_verdict = verdict(json.dumps(value))
    assert actual_verdict.lifecycle == "finished"
    assert all("\0" not in text for text in actual_verdict.output or [])


# Ends without an exit code.


@pytest.mark.parametrize(
    ("ending", "lifecycle", "state", "trigger"),
    [
        ("timeout", "terminated", "timeout", "timeout"),
        ("canceled", "terminated", "canceled", "canceled"),
        ("error", "finished", "error", "failure"),
    ],
)
def test_the_last_line_of_a_stopped_script_is_ignored(
    ending: str, lifecycle: str, state: str, trigger: str
) -> None:
    actual_verdict = verdict(
        '{"state": "success", "event_name": "x", "output": [1]}', ending=ending
    )
    assert actual_verdict == Verdict(lifecycle, state, trigger, None)  # type: ignore[arg-type]


def test_an_unknown_end_is_no_verdict() -> None:
    with pytest.raises(AssertionError):
        verdict(ending="unknown")


def test_a_retry_may_follow_a_bad_end_only() -> None:
    assert [is_failure(verdict(line)) for line in ("failure", "normal", "success")] == [
        True,
        False,
        False,
    ]
    assert is_failure(verdict(ending="timeout"))
    assert is_failure(verdict(ending="error"))
    assert not is_failure(verdict(ending="canceled"))


@pytest.mark.parametrize(
    ("report", "ran"),
    [
        (Report("exit"), True),
        (Report("timeout"), True),
        (Report("canceled"), True),
        (Report("unknown"), True),
        (Report("error", reason="no_interpreter"), False),
        (Report("canceled", reason="not_started"), False),
    ],
)
def test_only_certain_endings_mean_that_nothing_ran(report: Report, ran: bool) -> None:
    assert has_run(report) is ran


# The result in the record.


def test_the_result_shows_how_it_ended() -> None:
    report = Report(
        "timeout",
        code=137,
        signal="SIGKILL",
        elapsed_ns=2_500_000_001,
        lastline="x",
        bytes_total=7,
        lines_total=1,
        sha256="ab",
        survivors=[42],
    )
    assert result_of(report) == {
        "code": 137,
        "lastline": "x",
        "signal": "SIGKILL",
        "killed": True,
        "times": {"seconds": 2, "nanoseconds": 500_000_001},
        "log_bytes": 7,
        "log_lines": 1,
        "log_sha256": "ab",
        "kill_incomplete": [42],
    }


def test_the_result_of_a_failed_start_has_the_reason() -> None:
    result = result_of(Report("error", reason="no_interpreter", message="There is no perl."))
    assert (result["reason"], result["message"]) == ("no_interpreter", "There is no perl.")
    assert not result["killed"]


def test_a_line_is_read_without_its_blanks() -> None:
    assert parse_last_line("  \t ok \r").state == "success"
    assert parse_last_line(' {"state": "ok"} ').state == "success"
