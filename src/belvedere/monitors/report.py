"""What the agents of the original say of a check: one request each, instead of a stream."""

from typing import Any

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.base.errors import Forbidden
from belvedere.db import Tx
from belvedere.monitors import samples, service, store
from belvedere.monitors.moves import Outcome
from belvedere.monitors.samples import Look
from belvedere.protocol import Sample

# Any other word is a failure.
GOOD: dict[str, Outcome] = {
    "success": "normal",
    "ok": "normal",
    "normal": "normal",
    "changed": "changed",
}
NUMBERS = ("cpu", "mem", "cache")


class ReportBody(msgspec.Struct):
    """The state of a check, a word for what happened, and whatever was seen."""

    state: str = ""
    event: str | None = None
    data: Any = None


def report(tx: Tx, actor: Actor, monitor_id: str, body: ReportBody) -> service.Shown:
    """Only by the agent of the monitor's own host."""
    require(actor, Level.AGENT)
    row = store.find(tx, actor.customer_id, monitor_id, hold=True)
    if row.host_id != actor.host_id:
        raise Forbidden("The monitor is checked by another host.", code="other_host")
    if row.enabled:
        samples.look_at(tx, [(row, _look(body, row.id, tx.now))])
    return service.shown(tx, actor, monitor_id)


def _look(body: ReportBody, monitor_id: str, now: int) -> Look:
    data = body.data if isinstance(body.data, dict) else {"output": body.data}
    message = data.get("message", "")
    said = Sample(
        monitor_id,
        0,
        0,
        GOOD.get(body.state.strip().lower(), "failure"),
        body.event or "",
        message if isinstance(message, str) else "",
        data,
        _measured(data),
    )
    return samples.look_of(said, now)


def _measured(data: dict[str, Any]) -> dict[str, float]:
    """The numbers of a host's statistics, which are the only ones that can be told from others."""
    disks = data.get("disk")
    pairs = [(name, data.get(name)) for name in NUMBERS]
    pairs += [
        (f"disk {one.get('name')}", one.get("value"))
        for one in (disks if isinstance(disks, list) else [])
        if isinstance(one, dict)
    ]
    return {
        name: float(value)
        for name, value in pairs
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
