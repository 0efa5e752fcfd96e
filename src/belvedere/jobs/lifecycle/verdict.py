"""The verdict on a script: lifecycle, state, trigger name and output. Pure."""

import json
from typing import Any, NoReturn

import msgspec

from belvedere.base.text import json_text
from belvedere.jobs.model import JobState, Lifecycle
from belvedere.protocol import Report

# Words that a script may print as its last line, and their states.
STATES_BY_WORD = {
    "success": JobState.SUCCESS,
    "normal": JobState.NORMAL,
    "ok": JobState.SUCCESS,
    "failure": JobState.FAILURE,
    "fail": JobState.FAILURE,
    "error": JobState.FAILURE,
}


# Keys of the object in the last line that are not part of its content.
CONTROL_KEYS = frozenset({"state", "event_name", "next", "components"})
# An order that was canceled before its script started.
NOT_STARTED = "not_started"
# An order that the agent did not start because its disk is full (agent/disk_space.py).
DISK_FULL = "disk_full"


class Verdict(msgspec.Struct):
    """The end of an attempt as its record shows it."""

    lifecycle: Lifecycle
    state: JobState
    trigger_name: str
    output: list[str] | None


class ParsedLastLine(msgspec.Struct):
    """The result in the last line of the output."""

    state: JobState | None = None
    event_name: str | None = None
    output: list[str] | None = None
    # The line is JSON, so that it says everything about the output.
    is_json: bool = False


def parse_last_line(lastline: str) -> ParsedLastLine:
    """Parse the last line: a JSON object, array or string, or one of the words."""
    line = lastline.strip()
    if line[:1] not in ("{", "[", '"'):
        return ParsedLastLine(state=STATES_BY_WORD.get(line))
    try:
        return _from_json(
            json.loads(
                line,
                parse_float=json_text.Number,
                parse_int=json_text.Number,
                parse_constant=_refuse_constant,
            )
        )
    except (ValueError, RecursionError):
        # A script may print anything; a line that is not JSON, or is nested too deeply to be
        # encoded again, is ignored.
        return ParsedLastLine()


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _from_json(value: list[Any] | dict[str, Any] | str) -> ParsedLastLine:
    if isinstance(value, list):
        return ParsedLastLine(output=strings(value), is_json=True)
    if isinstance(value, str):
        return ParsedLastLine(state=STATES_BY_WORD.get(value), is_json=True)
    word, event = value.get("state"), value.get("event_name")
    output = _output_in(value)
    return ParsedLastLine(
        is_json=True,
        state=STATES_BY_WORD.get(word) if isinstance(word, str) else None,
        event_name=json_text.clean(event) if type(event) is str and event else None,
        output=None
        if output is None
        else strings(output if isinstance(output, list) else [output]),
    )


def _output_in(value: dict[str, Any]) -> object:
    """`output`, else `data`, else the object itself if it has any other content."""
    if "output" in value or "data" in value:
        return value["output"] if value.get("output") is not None else value.get("data")
    return value if value.keys() - CONTROL_KEYS else None


def strings(values: list[Any]) -> list[str]:
    """Strings stay; other values become compact JSON."""
    return [
        json_text.clean(value if type(value) is str else json_text.compact(value))
        for value in values
    ]


def decide(
    report: Report,
    *,
    ignore_exit_code: bool,
    default_state: str | None,
    last_line: ParsedLastLine | None = None,
) -> Verdict:
    """The verdict on a reported attempt, except `unknown` endings. `last_line`: if the agent has
    parsed it."""
    match report.ending:
        case "timeout":
            return Verdict(Lifecycle.TERMINATED, JobState.TIMEOUT, "timeout", None)
        case "canceled":
            return Verdict(Lifecycle.TERMINATED, JobState.CANCELED, "canceled", None)
        case "error":
            return Verdict(Lifecycle.FINISHED, JobState.ERROR, "failure", None)
        case "unknown":
            raise AssertionError("an unknown end has no verdict")
    last_line = parse_last_line(report.lastline) if last_line is None else last_line
    has_failed = (report.code != 0 or report.signal is not None) and not ignore_exit_code
    state = (
        JobState.FAILURE
        if has_failed
        else last_line.state or STATES_BY_WORD.get(default_state or "") or JobState.NORMAL
    )
    trigger = last_line.event_name or ("failure" if state is JobState.FAILURE else "success")
    return Verdict(Lifecycle.FINISHED, state, trigger, last_line.output)


def has_run(report: Report) -> bool:
    """Whether the script may have started; only these two endings exclude it."""
    return report.ending != "error" and report.reason != NOT_STARTED


def is_returned(report: Report) -> bool:
    """Whether the agent did not accept the order, so that the job becomes ready again."""
    return report.ending == "error" and report.reason == DISK_FULL


def is_failure(verdict: Verdict) -> bool:
    """Whether a retry may follow."""
    return verdict.state in (JobState.FAILURE, JobState.TIMEOUT, JobState.ERROR)


def result_of(report: Report) -> dict[str, Any]:
    """The record's `result`, without the log."""
    seconds, nanoseconds = divmod(report.elapsed_ns, 1_000_000_000)
    result: dict[str, Any] = {
        "code": report.code,
        "lastline": report.lastline,
        "signal": report.signal,
        "killed": report.ending in ("timeout", "canceled"),
        "times": {"seconds": seconds, "nanoseconds": nanoseconds},
        "log_bytes": report.bytes_total,
        "log_lines": report.lines_total,
        "log_sha256": report.sha256,
    }
    if report.reason:
        result["reason"] = report.reason
        result["message"] = report.message
    if report.survivors:
        result["kill_incomplete"] = report.survivors
    if report.files:
        result["files"] = len(report.files)
    if report.files_skipped:
        result["files_skipped"] = [
            {"name": json_text.clean(name), "reason": reason}
            for name, reason in report.files_skipped
        ]
    return result
