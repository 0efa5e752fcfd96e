"""Failures of the last month, from the event log: when they began, and when they were over."""

from collections.abc import Mapping

import msgspec

from belvedere.base.clock import DAY, Millis, iso, iso_or_none
from belvedere.db import Tx
from belvedere.overview.rows.rights import json_list

SPAN = 30 * DAY
MOST = 50
# What is read at most to find them.
MOST_EVENTS = 5_000


class Incident(msgspec.Struct):
    """`ended` is null while it lasts."""

    name: str
    started: str
    ended: str | None


def of(tx: Tx, names: Mapping[str, str]) -> list[Incident]:
    """Of these monitors, by the names that the page gives them; the newest first."""
    rows = tx.rows(
        "select object_id, kind, at from events where object = 'monitor'"
        f" and object_id in {tx.dialect.in_texts} and kind in ('monitor.failure',"
        f" 'monitor.recovered')"
        " and at > ? order by at desc, id desc limit ?",
        *(json_list(list(names)), tx.now - SPAN, MOST_EVENTS),
    )
    found: list[tuple[Millis, Incident]] = []
    ends: dict[str, Millis] = {}
    for monitor_id, kind, at in rows:
        if kind == "monitor.recovered":
            ends[monitor_id] = at
        else:
            ended = ends.pop(monitor_id, None)
            found.append((at, Incident(names[monitor_id], iso(at), iso_or_none(ended))))
    return [one for _, one in sorted(found, key=lambda pair: -pair[0])[:MOST]]
