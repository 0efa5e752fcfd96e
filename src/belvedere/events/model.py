"""What happened: one row per change, written in the transaction that made it."""

import msgspec

from belvedere.base.clock import DAY, Millis

# Of monitors, hosts, members and the like; those of a job go with the job.
LIFE: Millis = 30 * DAY


class Event(msgspec.Struct, frozen=True):
    """A row of the event log."""

    id: int
    xid: int
    at: int
    customer_id: str
    # job.created, job.assigned, … : `<object>.<what>`; docs/reference/events.md lists them all
    kind: str
    object: str
    object_id: str
    data: str
