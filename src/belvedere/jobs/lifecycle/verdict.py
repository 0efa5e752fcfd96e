"""How the end of a script becomes lifecycle, state, trigger name and output. Pure."""

import json
from typing import Any

import msgspec

from belvedere.base.text import json_text
from belvedere.jobs.model import Lifecycle, State
from belvedere.protocol import Report

# What a script may say in its last line, and what we understand.
WORDS = {
    "success": State.SUCCESS,
    "normal": State.NORMAL,
    "ok": State.SUCCESS,
    "failure": State.FAILURE,
    "fail": State.FAILURE,
    "error": State.FAILURE,
}


# An order that was cancelled before its script began.
NOT_STARTED = "not_started"
# An order that the agent did not start because its disk is full; agent/disk_space.py says it.
DISK_FULL = "disk_full"


class Verdict(msgspec.Struct):
    """The end of an attempt as the record will show it."""

    lifecycle: Lifecycle
    state: State
    trigger_name: str
    output: list[str] | None


class Said(msgspec.Struct):
    """What the last line of the output says."""

    state: State | None = None
    event_name: str | None = None
    output: list[str] | None = None


def listen(lastline: str) -> Said:
    """Read the last line: a JSON object, a JSON array, or one of the words."""
    line = lastline.strip()
    if line[:1] not in ("{", "["):
        return Said(state=WORDS.get(line))
    try:
        return _read(
            json.loads(
                line,
                parse_float=json_text.Number,
                parse_int=json_text.Number,
                parse_constant=_refuse_constant,
            )
        )
    except (ValueError, RecursionError):
        # Whatever a script prints, its end must be written down: a line that is not JSON, or is
        # nested too deeply to be written again, says nothing.
        return Said()


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _read(value: Any) -> Said:
    if isinstance(value, list):
        return Said(output=strings(value))
    word, event = value.get("state"), value.get("event_name")
    given = value["output"] if value.get("output") is not None else value.get("data")
    return Said(
        state=WORDS.get(word) if isinstance(word, str) else None,
        event_name=json_text.clean(event) if type(event) is str and event else None,
        output=None if given is None else strings(given if isinstance(given, list) else [given]),
    )


def strings(values: list[Any]) -> list[str]:
    """Strings stay, anything else becomes compact JSON text."""
    return [
        json_text.clean(value if type(value) is str else json_text.compact(value))
        for value in values
    ]


def decide(
    report: Report, *, ignore_exit_code: bool, default_state: str | None, said: Said | None = None
) -> Verdict:
    """The verdict on an attempt that its agent reported; `unknown` endings are not for here.
    `said` where the agent has read the last line itself."""
    match report.ending:
        case "timeout":
            return Verdict(Lifecycle.TERMINATED, State.TIMEOUT, "timeout", None)
        case "canceled":
            return Verdict(Lifecycle.TERMINATED, State.CANCELED, "canceled", None)
        case "error":
            return Verdict(Lifecycle.FINISHED, State.ERROR, "failure", None)
        case "unknown":
            raise AssertionError("an unknown end is no verdict")
    said = listen(report.lastline) if said is None else said
    bad = (report.code != 0 or report.signal is not None) and not ignore_exit_code
    state = State.FAILURE if bad else said.state or WORDS.get(default_state or "") or State.NORMAL
    trigger = said.event_name or ("failure" if state is State.FAILURE else "success")
    return Verdict(Lifecycle.FINISHED, state, trigger, said.output)


def has_run(report: Report) -> bool:
    """Whether the script may have done anything: only these two endings say for certain not."""
    return report.ending != "error" and report.reason != NOT_STARTED


def is_returned(report: Report) -> bool:
    """Whether the order was not taken, and the job goes back to its queue."""
    return report.ending == "error" and report.reason == DISK_FULL


def is_bad(verdict: Verdict) -> bool:
    """Whether a retry may follow."""
    return verdict.state in (State.FAILURE, State.TIMEOUT, State.ERROR)


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
