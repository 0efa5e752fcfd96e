"""Results of checks that TheEye agents report, one request each."""

from typing import Any

from belvedere.access import Actor, Level, require
from belvedere.base.errors import Forbidden
from belvedere.db import Tx
from belvedere.files import quota
from belvedere.monitors import service, store
from belvedere.monitors.api.agent_reports import ReportBody
from belvedere.monitors.evaluation import samples
from belvedere.monitors.evaluation.observations import Observation
from belvedere.monitors.evaluation.transitions import Outcome
from belvedere.monitors.model import MonitorRow, MonitorType
from belvedere.protocol import Sample

# Any other state is a failure.
GOOD_WORDS: dict[str, Outcome] = {
    "success": "normal",
    "ok": "normal",
    "normal": "normal",
    "changed": "changed",
}
BAD_WORDS = frozenset({"failure", "fail", "error", "killed"})
METRICS = ("cpu", "mem", "cache")


def report(tx: Tx, actor: Actor, monitor_id: str, body: ReportBody) -> service.MonitorDetails:
    """Record a result; only the agent of the monitor's host may report it."""
    require(actor, Level.AGENT)
    row = store.find(tx, actor.customer_id, monitor_id, lock=True)
    if row.host_id != actor.host_id:
        raise Forbidden("The monitor is checked by another host.", code="other_host")
    if row.enabled:
        has_room = quota.has_room(tx, row.customer_id)
        samples.record_observations(
            tx, [(row, _observation(body, row, tx.now))], keeps_history=has_room
        )
    return service.load_details(tx, actor, monitor_id)


def _observation(body: ReportBody, row: MonitorRow, now: int) -> Observation:
    data = body.data if isinstance(body.data, dict) else {"output": body.data}
    if row.type == MonitorType.DSTAT and not data.keys().isdisjoint(METRICS):
        data = {**data, "cache": _swap(data.get("cache"))}
    message = data.get("message", data.get("lastline", ""))
    word = body.state.strip().lower() if isinstance(body.state, str) else ""
    sample = Sample(
        row.id,
        0,
        0,
        _script_outcome(word, data)
        if row.type == MonitorType.SCRIPT
        else GOOD_WORDS.get(word, "failure"),
        body.event if isinstance(body.event, str) else "",
        message if isinstance(message, str) else "",
        data,
        _metrics(data),
    )
    return samples.observation_from_sample(sample, now)


def _swap(value: object) -> int | float:
    """In percent. The agent divides by zero on a host without swap, and sends null."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if isinstance(value, int | float) and is_number else 0


def _script_outcome(word: str, data: dict[str, Any]) -> Outcome:
    """By the rules of Belvedere's agent: the exit code first, then the state; no state is good."""
    code = data.get("code")
    if word in BAD_WORDS or data.get("killed") is True or not isinstance(code, int) or code != 0:
        return "failure"
    return GOOD_WORDS.get(word, "normal")


def _metrics(data: dict[str, Any]) -> dict[str, float]:
    """The metrics of host statistics; the meaning of other numbers is unknown."""
    disks = data.get("disk")
    pairs = [(name, data.get(name)) for name in METRICS]
    pairs += [
        (f"disk {disk.get('name')}", disk.get("value"))
        for disk in (disks if isinstance(disks, list) else [])
        if isinstance(disk, dict)
    ]
    return {
        name: float(value)
        for name, value in pairs
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
