"""Log lines: UTC, one line per record."""

import contextvars
import json
import logging
from typing import Any

from belvedere.base.log_format import (
    FULL,
    REQUEST,
    Formatter,
    JsonFormatter,
    RequestIds,
    of_trace,
)


def _line(message: str) -> str:
    record = logging.LogRecord("belvedere", logging.INFO, "", 0, message, (), None)
    record.created, record.msecs = 0.0, 7.0
    return Formatter(FULL).format(record)


def test_a_log_line_has_time_level_and_logger() -> None:
    assert _line("agent connected host=web-1") == (
        "1970-01-01T00:00:00.007Z INFO belvedere: agent connected host=web-1"
    )


def test_foreign_text_cannot_forge_a_second_record() -> None:
    line = _line("refused name=x\n1970-01-01T00:00:00.000Z ERROR belvedere: forged\x1b[2J\u2028")
    assert line.splitlines() == [line]
    assert "\\n1970" in line and "\\x1b[2J" in line


def test_a_traceback_keeps_its_lines() -> None:
    try:
        raise ValueError("disk full")
    except ValueError as error:
        caught = (ValueError, error, error.__traceback__)
    record = logging.LogRecord("belvedere", logging.ERROR, "", 0, "failed", (), caught)
    assert len(Formatter(FULL).format(record).splitlines()) > 2


def _json_line(message: str, *arguments: object) -> dict[str, Any]:
    record = logging.LogRecord("belvedere", logging.INFO, "", 0, message, arguments, None)
    record.created, record.msecs = 0.0, 7.0
    text = JsonFormatter().format(record)
    assert len(text.splitlines()) == 1
    line: dict[str, Any] = json.loads(text)
    return line


def test_a_line_as_json_has_the_ids_of_its_message() -> None:
    assert _json_line("job ended job=%s host=%s\n\u2028", "5f" * 12, "web-1") == {
        "time": "1970-01-01T00:00:00.007Z",
        "level": "INFO",
        "logger": "belvedere",
        "message": f"job ended job={'5f' * 12} host=web-1\n\u2028",
        "job": "5f" * 12,
    }


def test_a_traceback_is_a_member() -> None:
    try:
        raise ValueError("disk full")
    except ValueError as error:
        caught = (ValueError, error, error.__traceback__)
    record = logging.LogRecord("belvedere", logging.ERROR, "", 0, "failed", (), caught)
    assert "disk full" in json.loads(JsonFormatter().format(record))["exception"]


def test_lines_of_a_request_have_its_ids_until_its_end() -> None:
    def check() -> None:
        ids = RequestIds("r1", "t1")
        REQUEST.set(ids)
        assert _line("slow").endswith("belvedere: slow request=r1 trace=t1")
        assert _line("slow request=r1").endswith("belvedere: slow request=r1 trace=t1")
        line = _json_line("said request=forged")
        assert (line["request"], line["trace"]) == ("r1", "t1")
        ids.clear()
        assert _line("later").endswith("belvedere: later")

    contextvars.copy_context().run(check)


def test_a_line_about_a_job_has_the_trace_of_the_job() -> None:
    def check() -> None:
        REQUEST.set(RequestIds("r1", "t1"))
        record = logging.makeLogRecord({"msg": "job ended", **(of_trace("t2") or {})})
        assert Formatter(FULL).format(record).endswith("job ended request=r1 trace=t2")
        assert json.loads(JsonFormatter().format(record))["trace"] == "t2"
        assert of_trace("") is None

    contextvars.copy_context().run(check)
