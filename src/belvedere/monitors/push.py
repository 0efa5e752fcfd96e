"""Push monitors: a URL with a secret that the monitored program calls regularly."""

import msgspec

from belvedere.access import Actor
from belvedere.access.credentials import secret_keys
from belvedere.access.crypto.keyring import Keyring
from belvedere.base.errors import Conflict, Fault, Forbidden
from belvedere.db import Tx
from belvedere.files import quota
from belvedere.monitors import store
from belvedere.monitors.config.validation import invalid_fields
from belvedere.monitors.evaluation import samples
from belvedere.monitors.evaluation.observations import Observation
from belvedere.monitors.evaluation.transitions import Outcome
from belvedere.monitors.model import MonitorType
from belvedere.rest import text_fields

STATE_WORDS: dict[str, Outcome] = {
    "": "normal",
    "normal": "normal",
    "success": "normal",
    "ok": "normal",
    "up": "normal",
    "failure": "failure",
    "fail": "failure",
    "error": "failure",
    "down": "failure",
}


class PushResult(msgspec.Struct):
    """The state of the monitor after the call."""

    message: str
    state: str


def push(
    tx: Tx,
    keys: Keyring,
    customer: str | None,
    monitor_id: str,
    secret: str,
    report: tuple[str, str],
) -> PushResult:
    """Record the state and message of a call. A wrong organization, id or secret gives the same
    error, so that callers cannot find out which monitors exist."""
    customer_id = _customer_id(tx, customer, monitor_id)
    if not secret_keys.check(tx, keys, customer_id, "monitor", monitor_id, secret):
        raise _invalid_secret()
    row = store.find(tx, customer_id, monitor_id, lock=True)
    state, message = report[0].lower(), text_fields.prose("message", report[1], most=1_000)
    if state not in STATE_WORDS:
        raise invalid_fields(
            [Fault("state", f"Must be one of {', '.join(word for word in STATE_WORDS if word)}.")]
        )
    if not row.enabled:
        raise Conflict("The monitor is paused.", code="monitor_paused")
    observation = Observation(tx.now, STATE_WORDS[state], "push", message)
    samples.record_observations(
        tx, [(row, observation)], keeps_history=quota.has_room(tx, row.customer_id)
    )
    return PushResult("success", row.state)


def _customer_id(tx: Tx, customer: str | None, monitor_id: str) -> str:
    """The organization of the monitor; empty if it does not exist or belongs to another one."""
    row = tx.row(
        "select c.id, c.name_key from monitors m join customers c on c.id = m.customer_id"
        " where m.id = ? and m.deleted_at is null and c.enabled = 1",
        monitor_id,
    )
    return "" if row is None or customer not in (None, row[1]) else str(row[0])


def _invalid_secret() -> Forbidden:
    return Forbidden("Invalid secret key.", code="wrong_secret")


def reveal(tx: Tx, keys: Keyring, actor: Actor, monitor_id: str) -> str:
    """The secret of the monitor's URL; reading it is audited."""
    _check_type(tx, actor, monitor_id)
    return secret_keys.reveal(tx, keys, actor, "monitor", monitor_id)


def rotate(tx: Tx, keys: Keyring, actor: Actor, monitor_id: str, overlap_s: int) -> str:
    _check_type(tx, actor, monitor_id)
    return secret_keys.rotate(tx, keys, actor, "monitor", monitor_id, overlap_s)


def _check_type(tx: Tx, actor: Actor, monitor_id: str) -> None:
    row = store.find(tx, actor.customer_id, monitor_id)
    if row.type != MonitorType.PUSH:
        raise Conflict("Only monitors of type push have a push URL.", code="no_push_url")
