"""Where work runs: enrolment, connection, gone quiet."""

from belvedere.hosts.presence import connect, disconnected, gone_quiet, seen, silent
from belvedere.hosts.service import change, create_host_enrolment, delete, enrol

__all__ = [
    "change",
    "connect",
    "create_host_enrolment",
    "delete",
    "disconnected",
    "enrol",
    "gone_quiet",
    "seen",
    "silent",
]
