"""The form of a log line in every program: UTC time, level, logger, message; as text or as JSON."""

import json
import logging
import re
import sys
import time
from contextvars import ContextVar

FULL = "%(asctime)s %(levelname)s %(name)s: %(message)s"
SHORT = "%(asctime)s %(levelname)s %(message)s"
VARIABLE = "BELVEDERE_LOG_FORMAT"
# Ids in messages that become members of a JSON line.
_ID = re.compile(r"(?<![^ ])(request|job|host|customer|user)=([0-9A-Za-z]{1,64})(?![^ ])")


class RequestIds:
    """The ids of the request that is being processed, empty after its end: tasks that it started
    have the same object, and their later lines are not about the request."""

    __slots__ = ("request_id", "trace_id")

    def __init__(self, request_id: str = "", trace_id: str = "") -> None:
        self.request_id = request_id
        self.trace_id = trace_id

    def clear(self) -> None:
        self.request_id = self.trace_id = ""


NO_REQUEST = RequestIds()
REQUEST: ContextVar[RequestIds] = ContextVar("request", default=NO_REQUEST)


class Formatter(logging.Formatter):
    """One record is one line: a message that quotes foreign text cannot forge a second record."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the library's name)
        ids, trace_id = REQUEST.get(), _trace_id(record)
        text = super().formatMessage(record)
        if ids.request_id and ids.request_id not in text:
            text = f"{text} request={ids.request_id}"
        return _one_line(f"{text} trace={trace_id}" if trace_id else text)


class JsonFormatter(Formatter):
    """One JSON object per line: time, level, logger, message, and the ids of request, trace, job,
    host, organization and user where they are known."""

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        ids, trace_id = REQUEST.get(), _trace_id(record)
        line = {
            "time": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "message": message,
            # Those of the record and of the context are certain: they come last.
            **dict(_ID.findall(message)),
            **({"request": ids.request_id} if ids.request_id else {}),
            **({"trace": trace_id} if trace_id else {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def configure(level: str = "INFO", form: str = FULL, *, as_json: bool = False) -> None:
    """Write log lines to standard error from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if as_json else Formatter(form))
    logging.basicConfig(level=level, handlers=[handler])


def environment() -> dict[str, str]:
    """The variable for a process that writes to the same log."""
    formatters = [handler.formatter for handler in logging.getLogger().handlers]
    is_json = any(isinstance(formatter, JsonFormatter) for formatter in formatters)
    return {VARIABLE: "json"} if is_json else {}


def of_trace(trace_id: str) -> dict[str, str] | None:
    """The argument `extra` of a log call about something that has a trace of its own."""
    return {"trace_id": trace_id} if trace_id else None


def _trace_id(record: logging.LogRecord) -> str:
    return str(getattr(record, "trace_id", "")) or REQUEST.get().trace_id


def _one_line(text: str) -> str:
    """Control characters as escapes; a traceback is appended later and keeps its lines."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
