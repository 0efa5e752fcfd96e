"""Hosts: the machines on which jobs run, their enrolment and their connections.

`service` has the operations, `presence` the connections of agents. `restored` and
`journal_warnings` are about hosts after a restore, `managed_objects` about the objects that
definitions created.
"""

from belvedere.hosts.presence import (
    connect,
    doubt_journal,
    doubtful_until,
    end_session,
    mark_unreachable,
    note_accepted,
    record_heartbeats,
    silent_ids,
)
from belvedere.hosts.service import change, create_host_enrolment, delete, enrol

__all__ = [
    "change",
    "connect",
    "create_host_enrolment",
    "delete",
    "end_session",
    "doubt_journal",
    "doubtful_until",
    "enrol",
    "mark_unreachable",
    "note_accepted",
    "record_heartbeats",
    "silent_ids",
]
