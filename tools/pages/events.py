"""docs/reference/events.md: every kind of event, from the table that the event log uses."""

from itertools import groupby

from belvedere.events.kinds import KINDS
from pages.table import code, heading, table

ABOUT = """
Every change writes its event in the same transaction. `GET /-/events` streams them as server-sent
events: `event` is the kind, `data` is JSON with the object's id and what changed, `id` is the
cursor. A client that reconnects with `Last-Event-ID` misses nothing, or gets `resync` and has to
read everything again. The `reason` in its `data` is `too_old` (the `Last-Event-ID`), `too_slow`
(the client was 10,000 events or 64 MB behind), `permissions_changed` or `restored` (the database).
After the last three the client is disconnected. Members get the events of objects that they may
see. `topics=job,monitor` limits the stream to events of these objects.

## How long events are kept

The events of a job are kept as long as the job. All others are deleted after 30 days, or earlier if
an organization has more than `BELVEDERE_EVENT_BUDGET` events (100,000 by default) of one kind of
object, such as `webhook`: then only the oldest events of that kind of object are deleted. An event
that the server itself still has to process is never deleted. A `Last-Event-ID` from before a
deleted event of the requested topics is too old: the response is `resync`. `kept` in the state log
of a monitor is the time since which its changes are complete.

## The data of an event

`data` is `{"kind", "object", "object_id", "at", "data"}`; the inner `data` is enough to update a
row or to know what to read again, so that many events do not each need a request:
"""
AFTER = """
Ignore an event whose version is not larger than the one that you have. Read new jobs in one
request: `GET /job?sort[id]=1&after=<the newest id that you have>`.
"""
# The inner data of the events of each object.
FIELDS = {
    "job": "`lifecycle`, `state`, `version`, `name`, `type`, `task_id`, `workflow_id`,"
    " `workflow_job_id`, `host_id`, `user_id`, `trigger_name`, `fence`",
    "monitor": "`name`, `type`, `host_id`, `state`, `alerts`; for a check also `failure_severity`"
    " and `message`, and `from` in `monitor.state`; for an edit `enable` and `version`",
    "indicator": "`title`, `type`, `state`, `severity`, `value` (unless it is a long text),"
    " `enable`, `alerts`, `version`",
    "host": "`hostname`; for a change also the fields of the audit entry",
    "task": "`name`, `type`, `host_id`, `enable`, `version`",
    "workflow": "`name`, `enable`, `version`; for a step `workflow_job_id` and `job_id`",
    "webhook": "`name`, `enable`, `version`",
    "schedule": "`name`, `target`, `target_id`, `enable`, `next`, `version`",
    "notification": "nothing: the object is the organization; read your inbox again",
    "view": "`user_id`, `page`, `shared`",
}


def page() -> str:
    fields = table(
        ("Object", "Fields of the inner `data`"), ((code(n), text) for n, text in FIELDS.items())
    )
    parts = [heading("Events", f"{ABOUT}\n{fields}{AFTER}")]
    for name, kinds in groupby(KINDS, key=lambda kind: kind.partition(".")[0]):
        rows = ((code(kind), KINDS[kind]) for kind in kinds)
        parts.append(f"## {name}\n\n{table(('Kind', 'What happened'), rows)}")
    return "\n".join(parts)
