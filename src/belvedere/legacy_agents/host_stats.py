"""What agents of the original say of their machines: the last of each type."""

from typing import Any

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.base.clock import iso
from belvedere.base.errors import Invalid
from belvedere.base.text import json_text
from belvedere.db import Tx
from belvedere.hosts import store

MAX_STATS = 512 * 1024
TYPES = ("dstat", "psaux")


class StatsRecord(msgspec.Struct):
    """The last word of a host about one thing."""

    host_id: str
    customer_name: str
    type: str
    stats: Any
    last_update: str
    last_update_timestamp: int


def keep(tx: Tx, host_id: str, type_: str, stats: Any) -> None:
    assert type_ in TYPES
    written = json_text.clean(msgspec.json.encode(stats).decode())
    if len(written) > MAX_STATS:
        written = msgspec.json.encode({"cut": len(written)}).decode()
    tx.run(
        "insert into host_stats (host_id, type, stats, at) values (?, ?, ?, ?)"
        " on conflict (host_id, type) do update set stats = excluded.stats, at = excluded.at",
        host_id,
        type_,
        written,
        tx.now,
    )


def of_host(tx: Tx, actor: Actor, host_id: str, type_: str | None) -> list[StatsRecord]:
    """What is known. Command lines hold what was given as arguments: those are for admins."""
    require(actor, Level.VIEWER)
    if type_ is not None and type_ not in TYPES:
        raise Invalid(f"type is one of {', '.join(TYPES)}.", code="invalid_query")
    store.find(tx, actor.customer_id, host_id)
    rows = tx.rows(
        "select type, stats, at from host_stats where host_id = ? order by type", host_id
    )
    return [
        StatsRecord(host_id, actor.customer_name, name, msgspec.json.decode(stats), iso(at), at)
        for name, stats, at in rows
        if type_ in (None, name) and (name != "psaux" or actor.runs_all)
    ]
