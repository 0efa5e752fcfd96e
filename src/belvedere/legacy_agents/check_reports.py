"""What the agents of the original say of a check: one request each, instead of a stream."""

from typing import Any

import msgspec

from belvedere.access import Actor, Level, require
from belvedere.base.errors import Forbidden
from belvedere.db import Tx
from belvedere.files import quota
from belvedere.monitors import service, store
from belvedere.monitors.evaluation import samples
from belvedere.monitors.evaluation.samples import Look
from belvedere.monitors.evaluation.transitions import Outcome
from belvedere.monitors.model import MonitorRow, Type
from belvedere.protocol import Sample

# Any other word is a failure.
GOOD: dict[str, Outcome] = {
    "success": "normal",
    "ok": "normal",
    "normal": "normal",
    "changed": "changed",
}
BAD = frozenset({"failure", "fail", "error", "killed"})
NUMBERS = ("cpu", "mem", "cache")


class ReportBody(msgspec.Struct):
    """The state of a check, a word for what happened, and whatever was seen."""

    state: Any = None
    event: Any = None
    data: Any = None


def report(tx: Tx, actor: Actor, monitor_id: str, body: ReportBody) -> service.Shown:
    """Only by the agent of the monitor's own host."""
    require(actor, Level.AGENT)
    row = store.find(tx, actor.customer_id, monitor_id, hold=True)
    if row.host_id != actor.host_id:
        raise Forbidden("The monitor is checked by another host.", code="other_host")
    if row.enabled:
        has_room = quota.has_room(tx, row.customer_id)
        samples.look_at(tx, [(row, _look(body, row, tx.now))], keeps_history=has_room)
    return service.shown(tx, actor, monitor_id)


def _look(body: ReportBody, row: MonitorRow, now: int) -> Look:
    data = body.data if isinstance(body.data, dict) else {"output": body.data}
    message = data.get("message", data.get("lastline", ""))
    word = body.state.strip().lower() if isinstance(body.state, str) else ""
    said = Sample(
        row.id,
        0,
        0,
        _of_script(word, data) if row.type == Type.SCRIPT else GOOD.get(word, "failure"),
        body.event if isinstance(body.event, str) else "",
        message if isinstance(message, str) else "",
        data,
        _measured(data),
    )
    return samples.look_of(said, now)


def _of_script(word: str, data: dict[str, Any]) -> Outcome:
    """By the rules of our own agent: the exit code first, then the word; silence is good."""
    code = data.get("code")
    if word in BAD or data.get("killed") is True or not isinstance(code, int) or code != 0:
        return "failure"
    return GOOD.get(word, "normal")


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
