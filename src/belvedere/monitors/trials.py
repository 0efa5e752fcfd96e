"""Trials: what a check would report, before a monitor is created or changed."""

import msgspec

from belvedere.access import Actor, Level, audit, require
from belvedere.base.errors import Conflict, Fault, NotFound
from belvedere.base.ids import new_id
from belvedere.db import Tx
from belvedere.hosts import store as host_store
from belvedere.hosts.model import State
from belvedere.monitors import bindings, trial_store
from belvedere.monitors.config import bodies, redaction
from belvedere.monitors.config.bodies import MonitorBody
from belvedere.monitors.config.validation import invalid_fields
from belvedere.monitors.model import MonitorType
from belvedere.monitors.trial_store import TrialRow

# Open trials of one organization at the same time.
MAX_OPEN = 5
# Timeout of the check, in milliseconds: a person waits for it.
MAX_TIMEOUT = 20_000


class TrialResult(msgspec.Struct):
    """What the agent reported."""

    state: str
    event: str = ""
    message: str = ""
    measured: dict[str, float] = {}


_result = msgspec.json.Decoder(TrialResult).decode


class TrialRecord(msgspec.Struct):
    """A check that runs once. `state` is waiting, normal, failure, changed, or expired if the agent
    did not report in time."""

    id: str
    host_id: str
    type: str
    state: str
    event: str = ""
    message: str = ""
    measured: dict[str, float] = {}


def create(tx: Tx, actor: Actor, body: MonitorBody, host_id: str | None) -> TrialRecord:
    """Let the agent of the host make this check once, under the rules for stored monitors."""
    require(actor, Level.ADMIN)
    type_ = bodies.type_of(body)
    if not type_.is_run_by_agent:
        raise invalid_fields([Fault("type", f"A check of the type {type_.value} cannot be tried.")])
    config = bodies.config_in(type_, body, {})
    redaction.reject_masks(config)
    host = bindings.resolve_host(tx, actor, body, host_id)
    bindings.check(tx, actor.customer_id, type_, config)
    _require_online(tx, actor, host)
    if trial_store.count_open(tx, actor.customer_id) >= MAX_OPEN:
        raise Conflict(
            f"{MAX_OPEN} trial checks are already running. Wait for their results.",
            code="too_many_trials",
        )
    if type_ is MonitorType.FILE:
        # A trial changes nothing on the host.
        config["restores"] = False
    config["timeout"] = min(config.get("timeout") or MAX_TIMEOUT, MAX_TIMEOUT)
    text = msgspec.json.encode(config).decode()
    row = TrialRow(
        new_id(), actor.customer_id, host, type_.value, text, tx.now, tx.now + trial_store.LIFE
    )
    trial_store.insert(tx, row)
    fields = {"type": row.type, "host_id": host, "config": redaction.redact(config)}
    audit.record(tx, actor, "monitor.try", "monitor", row.id, None, fields)
    return _record(tx, row)


def _require_online(tx: Tx, actor: Actor, host_id: str) -> None:
    host = host_store.find(tx, actor.customer_id, host_id)
    if host.state not in (State.ONLINE, State.DRAINING):
        raise Conflict(
            f"The host {host.hostname} is {host.state.value}, so its agent cannot run a "
            "check now. Start its agent, or choose another host.",
            code="host_offline",
        )


def show(tx: Tx, actor: Actor, trial_id: str) -> TrialRecord:
    require(actor, Level.ADMIN)
    row = trial_store.find(tx, actor.customer_id, trial_id)
    if row is None:
        raise NotFound("There is no such trial; results are kept 10 minutes.", code="no_trial")
    return _record(tx, row)


def _record(tx: Tx, row: TrialRow) -> TrialRecord:
    if row.result is None:
        state = "waiting" if tx.now < row.expires_at else "expired"
        return TrialRecord(row.id, row.host_id, row.type, state)
    result = _result(row.result)
    return TrialRecord(
        *(row.id, row.host_id, row.type, result.state),
        event=result.event,
        message=result.message,
        measured=result.measured,
    )
