"""Incidents of the last 30 days from the event log: start and end of each failure."""

from collections.abc import Mapping

import msgspec

from belvedere.base.clock import DAY, Millis, iso, iso_or_none
from belvedere.db import Tx
from belvedere.overview.rows.queries import json_list

SPAN = 30 * DAY
MAX_INCIDENTS = 50
# Events that are read to find them.
MAX_EVENTS = 5_000


class Incident(msgspec.Struct):
    """`ended` is null while the incident is open."""

    name: str
    started: str
    ended: str | None


def for_monitors(tx: Tx, names: Mapping[str, str]) -> list[Incident]:
    """Incidents of the monitors, with the public names of the page, newest first."""
    rows = tx.rows(
        "select object_id, kind, at from events where object = 'monitor'"
        f" and object_id in {tx.dialect.in_texts} and kind in ('monitor.failure',"
        f" 'monitor.recovered')"
        " and at > ? order by at desc, id desc limit ?",
        *(json_list(list(names)), tx.now - SPAN, MAX_EVENTS),
    )
    incidents: list[tuple[Millis, Incident]] = []
    ends: dict[str, Millis] = {}
    for monitor_id, kind, at in rows:
        if kind == "monitor.recovered":
            ends[monitor_id] = at
        else:
            ended = ends.pop(monitor_id, None)
            incidents.append((at, Incident(names[monitor_id], iso(at), iso_or_none(ended))))
    return [
        incident for _, incident in sorted(incidents, key=lambda pair: -pair[0])[:MAX_INCIDENTS]
    ]
