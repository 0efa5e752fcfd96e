"""What the notification library logs about a failure, as one text."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

MAIL_PLUGIN = "/plugins/email/"
CAUSE = "Socket Exception: "
CONNECTION = re.compile(r'Connection error while submitting email to "(.*)"')


@dataclass
class LibraryLog:
    """Warnings, of which the first is the cause of the others, and errors of mail servers."""

    warnings: list[str] = field(default_factory=list)
    mail_errors: list[str] = field(default_factory=list)

    def fault(self) -> str:
        if not self.mail_errors:
            return self.warnings[0] if self.warnings else ""
        summary = self.warnings[0] if self.warnings else "Sending email failed"
        summary = CONNECTION.sub(r'Sending email over "\1" failed', summary).rstrip(".")
        return f"{summary}: {self.mail_errors[0]}"

    def add(self, record: logging.LogRecord) -> None:
        text = " ".join(record.getMessage().split())
        if record.levelno >= logging.WARNING:
            self.warnings.append(text)
        # Only of mail: the errors of other services contain addresses with keys.
        elif text.startswith(CAUSE) and MAIL_PLUGIN in record.pathname:
            self.mail_errors.append(_plain(text.removeprefix(CAUSE)))


def _plain(text: str) -> str:
    """`(535, b'5.7.8 wrong')`, as Python prints the reply of a mail server, without the Python."""
    return re.sub(r"\(?(\d{3}), b(['\"])(.*?)\2\)?", r"\1 \3", text)


@contextmanager
def capture() -> Iterator[LibraryLog]:
    library_log = LibraryLog()
    handler = logging.Handler(logging.DEBUG)
    handler.emit = library_log.add  # type: ignore[method-assign]
    log = logging.getLogger("apprise")
    level = log.level
    log.addHandler(handler)
    # The library logs the cause of a failed mail only as a debug message.
    log.setLevel(logging.DEBUG)
    try:
        yield library_log
    finally:
        log.setLevel(level)
        log.removeHandler(handler)
