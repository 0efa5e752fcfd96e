"""The form of a log line in every program: UTC time, level, logger, message."""

import logging
import sys
import time

FULL = "%(asctime)s %(levelname)s %(name)s: %(message)s"
SHORT = "%(asctime)s %(levelname)s %(message)s"


class Formatter(logging.Formatter):
    """One record is one line: a message that quotes foreign text cannot forge a second record."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the library's name)
        return _one_line(super().formatMessage(record))


def configure(level: str = "INFO", form: str = FULL) -> None:
    """Write log lines to standard error from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Formatter(form))
    logging.basicConfig(level=level, handlers=[handler])


def _one_line(text: str) -> str:
    """Control characters as escapes; a traceback is appended later and keeps its lines."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
