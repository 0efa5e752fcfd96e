"""Where work runs: enrolment, connection, gone quiet."""

from belvedere.hosts.presence import (
    connect,
    disconnected,
    doubt_journal,
    doubtful_until,
    gone_quiet,
    note_accepted,
    seen,
    silent,
)
from belvedere.hosts.service import change, create_host_enrolment, delete, enrol

__all__ = [
    "change",
    "connect",
    "create_host_enrolment",
    "delete",
    "disconnected",
    "doubt_journal",
    "doubtful_until",
    "enrol",
    "gone_quiet",
    "note_accepted",
    "seen",
    "silent",
]
