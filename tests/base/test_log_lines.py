"""Log lines: UTC, one line per record."""

import logging

from belvedere.base.log_format import FULL, Formatter


def _line(message: str) -> str:
    record = logging.LogRecord("belvedere", logging.INFO, "", 0, message, (), None)
    record.created, record.msecs = 0.0, 7.0
    return Formatter(FULL).format(record)


def test_it_works() -> None:
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
