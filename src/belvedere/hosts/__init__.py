"""Where work runs: enrolment, connection, gone quiet."""

from belvedere.hosts.presence import any_silent, connect, disconnected, gone_quiet, seen
from belvedere.hosts.service import change, delete, enrol

__all__ = [
    "any_silent",
    "change",
    "connect",
    "delete",
    "disconnected",
    "enrol",
    "gone_quiet",
    "seen",
]
