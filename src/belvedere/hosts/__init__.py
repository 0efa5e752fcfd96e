"""Hosts: the machines on which jobs run, their enrolment and their connections.

`service` has the operations, `presence` the connections of agents. `restored` and
`journal_warnings` are about hosts after a restore, `managed_objects` about the objects that
definitions created.
"""

from belvedere.hosts.presence import (
    connect,
    doubt_journal,
    end_session,
    mark_unreachable,
    note_accepted,
    open_session,
    record_heartbeats,
    silent_ids,
)
from belvedere.hosts.service import change, create_host_enrolment, delete, enrol
from belvedere.hosts.store import for_agent

__all__ = [
    "change",
    "connect",
    "create_host_enrolment",
    "delete",
    "end_session",
    "doubt_journal",
    "enrol",
    "for_agent",
    "mark_unreachable",
    "note_accepted",
    "open_session",
    "record_heartbeats",
    "silent_ids",
]
